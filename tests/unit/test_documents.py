"""Documents as people have them: their lines, titles and places; and quotations of a hard-wrapped original."""

import gzip
import json
import re
import textwrap
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.core.errors import SecateurError
from secateur.datasets.containment import Quotable
from secateur.datasets.documents.lines import JOINED, Document, unwrapped
from secateur.datasets.documents.markdown import markdown
from secateur.datasets.documents.pages import html
from secateur.datasets.documents.read import read_document
from secateur.datasets.texts import sentence_rows, text_files
from secateur.planning.sources import folder_files

ROOT = Path(__file__).parents[2]
QUOTES = 28
MARKDOWN = """---
title: Notes
---
# The Finch mill

The mill was built in 1890 by Thomas
Finch, who was *rich*. It burned in
1921. Then it stood.

## Sale

> Alder Ltd bought it for an
> undisclosed sum.

- The roof was repaired by the Hallam
  brothers.
- [x] The wheel turns[^1].

| part | year |
|------|-----:|
| roof | 2022 |

```python
mill = 1
```

[^1]: Measured in
    2020.

[register]: http://a.b/c

Setext
======
<div>

***
See <!-- not this --> the [register].
"""


def passages(document: Document) -> list[tuple[str | None, str]]:
    rows, _ = sentence_rows({"doc": document}, "g")
    return [(row["title"], row["text"]) for row in rows]


def test_markdown_is_read_by_its_blocks():
    top, sale = "The Finch mill", "The Finch mill / Sale"
    assert passages(markdown(MARKDOWN)) == [
        (top, "The mill was built in 1890 by Thomas Finch, who was *rich*."),
        (top, "It burned in 1921."),
        (top, "Then it stood."),
        (sale, "Alder Ltd bought it for an undisclosed sum."),
        (sale, "The roof was repaired by the Hallam brothers."),
        (sale, "The wheel turns[^1]."),
        (sale, "| part | year |"),
        (sale, "| roof | 2022 |"),
        (sale, "mill = 1"),
        (sale, "[^1]: Measured in 2020."),
        ("Setext", "See <!-- not this --> the [register]."),
    ]


@given(
    st.lists(st.sampled_from([*MARKDOWN.splitlines(keepends=True), "\n", "a b\n", "1. x\n", "> > y\n", "\t\n"])).map(
        "".join
    )
)
def test_no_character_of_markdown_moves(text):
    document = markdown(text)
    assert len(document.text) == len(text)
    assert all(new in (old, " ", JOINED) for old, new in zip(text, document.text, strict=True))
    assert [place for place, _ in document.titles] == sorted(place for place, _ in document.titles)
    for row in sentence_rows({"doc": document}, "g")[0]:
        assert row["text"].split() == document.text[row["start"] : row["end"]].replace(JOINED, "").split()


@given(st.lists(st.text("ab. \n-1", max_size=9)).map("\n".join))
def test_no_character_of_a_text_moves_and_only_breaks_change(text):
    found = unwrapped(text)
    assert len(found) == len(text)
    assert all(new == old or (old, new) == ("\n", " ") for old, new in zip(text, found, strict=True))


def test_line_breaks_of_other_systems_are_one_character_in_its_place(tmp_path):
    texts = {"a.md": MARKDOWN, "b.txt": "The mill at the river Aire in Leeds was\nbuilt by Thomas.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
        (tmp_path / f"unix_{name}").write_bytes(text.encode())
        document = read_document(tmp_path / name)
        assert len(document.text) == len(text) + text.count("\n")
        assert passages(document) == passages(read_document(tmp_path / f"unix_{name}"))


KEPT = [  # Markdown, and its passages: nothing that says something is lost
    ("# Title\n", [("Title", "Title")]),
    ("## Fixed\n\n## 1.1\n\nIt runs.\n", [("Fixed", "Fixed"), ("1.1", "It runs.")]),
    ("# A\n\n## B\n\nIt runs.\n", [("A / B", "It runs.")]),
    ("The mill was sold in 2021.\n---\nIt burned.\n", [(None, "The mill was sold in 2021."), (None, "It burned.")]),
    ("# Top\n\n> # Quoted\n> text\n\nAfter.\n", [("Top", "Quoted"), ("Top", "text"), ("Top", "After.")]),
    ("---\n# Slide\n\nIt was built.\n\n---\n\nIt burned.\n", [("Slide", "It was built."), ("Slide", "It burned.")]),
    ("Text.\n[Alice]: Hello\n[Bob]: Goodbye\n", [(None, "Text."), (None, "[Alice]: Hello [Bob]: Goodbye")]),
    ("```\n[section]: value/1\n```\n\n[a]: http://b.c\n", [(None, "[section]: value/1")]),
    ("[Bob]: 1890\n", [(None, "[Bob]: 1890")]),
    ("北京的大\n学读书。\n", [(None, "北京的大学读书。")]),
    ("- a\n  - b one\n    goes on\n\n      x = 1\n", [(None, "a"), (None, "b one goes on"), (None, "x = 1")]),
]


@pytest.mark.parametrize(("text", "found"), KEPT)
def test_no_word_of_markdown_is_lost_where_its_marks_are_rare(text, found):
    assert passages(markdown(text)) == found


LOG = "error: disk failed.\nwarning: fan slow.\nerror: mill burned in 1890.\n"


@pytest.mark.parametrize("text", [LOG, "name: Alder\nowner: finch\n", "a\nb\nc\n"])
def test_lines_that_are_no_wrapped_paragraph_stay_lines(text):
    assert unwrapped(text) == text


def test_a_page_is_read_without_what_stands_around_it():
    text = """<html><head><title>Mill</title><style>p{}</style></head><body><nav>Home</nav><h1>Mill</h1>
    <p>It was built by <b>Thomas</b>\n Finch<sup>1</sup>.</p><h2>Sale</h2><ul><li>Alder bought it.<li>It rained.</ul>
    <table><tr><th>part<th>year<tr><td>roof<td>2022</table><pre>a = 1\n  b</pre>1<br>2<script>x()</script></body></html>"""
    sale = ("Alder bought it.", "It rained.", "part | year", "roof | 2022", "a = 1", "b", "1", "2")
    found = [("Mill", "It was built by Thomas Finch1."), *(("Mill / Sale", text) for text in sale)]
    assert passages(html(text)) == found


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("", []),
        ("<table><tr><td><p>roof</p></td><td><p>2022</p></td></tr></table>", [(None, "roof | 2022")]),
        ("<header>Intro.</header>after<h1>A<br>B</h1><p>x", [(None, "Intro."), (None, "after"), ("A B", "x")]),
        ("<div>" * 3000 + "deep", [(None, "deep")]),
    ],
)
def test_a_page_of_any_form_keeps_its_words(page, found):
    assert passages(html(page)) == found


def test_all_texts_of_a_mail_are_read_under_its_subject_whatever_its_parts_and_breaks(tmp_path):
    from email.message import EmailMessage

    forwarded, made = EmailMessage(), EmailMessage()
    forwarded["Subject"] = "Earlier"
    forwarded.set_content("<p>Plain text comes first.</p>", subtype="html")
    forwarded.add_alternative("It was forwarded.\n")
    made["Subject"] = "The mill"
    made.set_content("The mill at the river Aire was sold to people who\nrestore it.\n")
    made.add_attachment(b"x", maintype="image", subtype="png")
    made.add_attachment("Kind regards.\n", disposition="inline")
    made.add_attachment(forwarded)
    (tmp_path / "a.eml").write_bytes(made.as_bytes(policy=made.policy.clone(linesep="\r\n")))
    said = ["The mill at the river Aire was sold to people who restore it.", "Kind regards.", "It was forwarded."]
    assert passages(read_document(tmp_path / "a.eml")) == [("The mill", text) for text in said]
    both = EmailMessage()
    both.set_content(" \n")
    both.add_alternative("<p>In HTML alone.</p>", subtype="html")
    (tmp_path / "b.eml").write_bytes(both.as_bytes())
    assert passages(read_document(tmp_path / "b.eml")) == [(None, "In HTML alone.")]
    (tmp_path / "c.eml").write_text("Content-Type: text/plain; charset=unknown-8bit\n\nIt is read.\n")
    assert passages(read_document(tmp_path / "c.eml")) == [(None, "It is read.")]


def test_a_word_document_has_its_headings_rows_insertions_controls_and_equal_cells(tmp_path):
    import docx
    from docx.oxml import parse_xml

    made = docx.Document()
    made.add_heading("Mill", 1)
    made.add_paragraph("It was built in 1890. It burned.\nOnce.")
    made.add_heading("Sale", 2)
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>".format
    gone = "<w:del><w:r><w:delText>nobody</w:delText></w:r></w:del>"
    sentence = f"{run('Sold to ')}{gone}<w:ins>{run('Alder')}</w:ins>{run('.')}"
    made.element.body.insert(0, parse_xml(f"<w:sdt {space}><w:sdtContent><w:p>{sentence}</w:p></w:sdtContent></w:sdt>"))
    table = made.add_table(1, 3)
    for cell, text in zip(table.rows[0].cells, ("roof", "5", "5"), strict=True):
        cell.text = text
    table.rows[0].cells[2].add_table(1, 1).cell(0, 0).text = "inner"
    made.save(tmp_path / "a.docx")
    found = [(None, "Sold to Alder."), ("Mill", "It was built in 1890."), ("Mill", "It burned."), ("Mill", "Once.")]
    assert passages(read_document(tmp_path / "a.docx")) == [*found, ("Mill / Sale", "roof | 5 | 5 inner")]


@pytest.mark.parametrize(("name", "said"), [("a.pdf", "no readable PDF"), ("a.docx", "no readable Word document")])
def test_what_cannot_be_read_is_refused_by_name(tmp_path, name, said):
    (tmp_path / name).write_bytes(b"no such thing")
    with pytest.raises(SecateurError, match=rf"{name}: {said}"):
        read_document(tmp_path / name)


def test_a_kind_whose_package_is_missing_is_refused_with_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("<p>x</p>")
    monkeypatch.setitem(__import__("sys").modules, "selectolax.lexbor", None)
    with pytest.raises(SecateurError, match=r"pip install 'secateur\[documents\]'"):
        read_document(tmp_path / "a.html")


def test_documents_of_a_folder_are_those_that_its_user_wrote(tmp_path):
    own = ["a.md", "b.TXT", "c.txt.gz", "g/h.htm"]
    others = ["~$d.docx", ".e/f.md", "work/.secateur.json", "work/data/README.md", "i.pdf.gz", "j.csv"]
    for name in own + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(b"It rained.") if name.endswith(".txt.gz") else b"It rained.")
    assert list(text_files(tmp_path)) == own
    read = folder_files({"kind": "texts", "root": str(tmp_path)}, str(tmp_path), "corpus", "x")
    assert read == [str(tmp_path / name) for name in text_files(tmp_path)]
    assert read_document(tmp_path / "c.txt.gz").text == "It rained."


# --- quotations ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written() -> tuple[list[str], str]:
    """(sentences to quote, the articles that they stand in as Markdown of 60 characters a line)."""
    rows = map(json.loads, (ROOT / "data/toy/articles/passages.jsonl").read_text().splitlines())
    articles: dict[str, list[str]] = {}
    for row in rows:
        articles.setdefault(row["doc"], []).append(row["text"])
    chosen = dict(islice(articles.items(), QUOTES))
    filled = {name: textwrap.fill(" ".join(said), 60, break_on_hyphens=False) for name, said in chosen.items()}
    text = "\n\n".join(f"## {name}\n\n{said}" for name, said in filled.items())
    return [sentences[-1] for sentences in chosen.values()], text


def resolved(quotes: list[str], document: Document) -> int:
    rows, _ = sentence_rows({"doc": document}, "g")
    held = Quotable([row["passage_id"] for row in rows], [row["text"] for row in rows])
    return sum(held.only_holder(quote) is not None for quote in quotes)


def test_every_quotation_of_hard_wrapped_markdown_and_text_resolves(written):
    quotes, text = written
    assert resolved(quotes, markdown(text)) == len(quotes) == QUOTES
    assert resolved(quotes, Document(unwrapped(re.sub("## .*\n\n", "", text)))) == QUOTES
    assert resolved(quotes, Document(text)) < QUOTES // 2  # what line breaks cost


def test_quotations_of_a_pdf_resolve_without_its_page_numbers_and_over_divided_words(written, tmp_path):
    quotes, text = written
    lines = re.sub("## .*\n", "", text).splitlines()
    pages = [lines[n : n + 18] for n in range(0, len(lines), 18)]
    headed = [[f"The mill, {n} of {len(pages)}", *page] for n, page in enumerate(pages, 1)]
    document = read_document(pdf(tmp_path / "a.pdf", headed))
    assert resolved(quotes, document) >= 26
    assert f"of {len(pages)}" not in document.text
    rows = [[f"Statement, page {n}", *(f"2021-0{n}-0{k} 12.{k}0" for k in range(1, 8)), str(n)] for n in range(1, 6)]
    numbers = read_document(pdf(tmp_path / "c.pdf", rows)).text
    assert len(re.findall(r"2021-", numbers)) == 35
    assert "Statement" not in numbers
    divided = pdf(tmp_path / "b.pdf", [["The owner restored the water\u2010", "wheel of Leeds, an un-", "usual one."]])
    assert read_document(divided).text == "The owner restored the waterwheel of Leeds, an unusual one."


def pdf(path: Path, pages: list[list[str]]) -> Path:
    """A PDF of lines of text."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    with PdfPages(path) as made:
        for lines in pages:
            page = Figure(figsize=(8.3, 11.7))
            page.text(0.05, 0.95, "\n".join(lines), family="monospace", size=8, va="top", parse_math=False)
            made.savefig(page)
    return path


@given(
    st.lists(st.sampled_from(["mill", "1921.", "in", "*rich*,", "Leeds", "(2)", "a_b"]), min_size=1, max_size=40),
    st.integers(8, 60),
)
def test_no_word_of_a_wrapped_paragraph_is_lost(words, width):
    text = textwrap.fill(" ".join(words), width, break_on_hyphens=False, break_long_words=False)
    for document in (markdown(f"# Head\n\n{text}\n"), markdown(f"> {text}\n"), Document(unwrapped(text))):
        assert " ".join(text for _, text in passages(document)).split() == words
