"""Documents as people have them: their lines, titles and places; and quotations of a hard-wrapped original."""

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
from secateur.datasets.documents import Document, html, markdown, read_document, unwrapped
from secateur.datasets.texts import sentence_rows

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
    assert all(new in (old, " ") for old, new in zip(text, document.text, strict=True))
    assert [place for place, _ in document.titles] == sorted(place for place, _ in document.titles)
    for row in sentence_rows({"doc": document}, "g")[0]:
        assert row["text"].split() == document.text[row["start"] : row["end"]].split()


@given(st.lists(st.text("ab. \n-1", max_size=9)).map("\n".join))
def test_no_character_of_a_text_moves_and_only_breaks_change(text):
    found = unwrapped(text)
    assert len(found) == len(text)
    assert all(new == old or (old, new) == ("\n", " ") for old, new in zip(text, found, strict=True))


def test_line_breaks_of_other_systems_are_one_character_in_its_place(tmp_path):
    for name, text in {"a.md": MARKDOWN, "b.txt": "The mill was\nbuilt by\nThomas.\n"}.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
        (tmp_path / f"unix_{name}").write_bytes(text.encode())
        document = read_document(tmp_path / name)
        assert len(document.text) == len(text) + text.count("\n")
        assert passages(document) == passages(read_document(tmp_path / f"unix_{name}"))


def test_a_page_is_read_without_what_stands_around_it():
    text = """<html><head><title>Mill</title><style>p{}</style></head><body><nav>Home</nav><h1>Mill</h1>
    <p>It was built by <b>Thomas</b>\n Finch<sup>1</sup>.</p><h2>Sale</h2><ul><li>Alder bought it.<li>It rained.</ul>
    <table><tr><th>part<th>year<tr><td>roof<td>2022</table><pre>a = 1\n  b</pre>1<br>2<script>x()</script></body></html>"""
    found = [
        ("Mill", "It was built by Thomas Finch1."),
        ("Mill / Sale", "Alder bought it."),
        ("Mill / Sale", "It rained."),
    ]
    found += [("Mill / Sale", text) for text in ("part | year", "roof | 2022", "a = 1", "b", "1", "2")]
    assert passages(html(text)) == found
    assert passages(html("")) == []


def test_a_word_document_has_its_paragraphs_rows_and_headings(tmp_path):
    import docx

    made = docx.Document()
    made.add_heading("Mill", 1)
    made.add_paragraph("It was built in 1890. It burned.\nOnce.")
    made.add_heading("Sale", 2)
    table = made.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "roof", "2022"
    made.save(tmp_path / "a.docx")
    assert passages(read_document(tmp_path / "a.docx")) == [
        ("Mill", "It was built in 1890."),
        ("Mill", "It burned."),
        ("Mill", "Once."),
        ("Mill / Sale", "roof | 2022"),
    ]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("plain", "The mill was sold to people who\nrestore it."),
        ("html", "<p>The mill was sold to people who\nrestore it.</p>"),
    ],
)
def test_a_mail_is_read_under_its_subject(tmp_path, kind, body):
    (tmp_path / "a.eml").write_text(f"Subject: The mill\nContent-Type: text/{kind}; charset=utf-8\n\n{body}\n")
    assert passages(read_document(tmp_path / "a.eml")) == [("The mill", "The mill was sold to people who restore it.")]


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


# --- quotations ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written() -> tuple[list[str], str]:
    """(sentences to quote, the articles that they stand in as Markdown of 60 characters a line)."""
    rows = map(json.loads, (ROOT / "data/toy/articles/passages.jsonl").read_text().splitlines())
    articles: dict[str, list[str]] = {}
    for row in rows:
        articles.setdefault(row["doc"], []).append(row["text"])
    chosen = dict(islice(articles.items(), QUOTES))
    text = "\n\n".join(
        f"## {name}\n\n" + textwrap.fill(" ".join(sentences), 60, break_on_hyphens=False)
        for name, sentences in chosen.items()
    )
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
    (tmp_path / "a.pdf").write_bytes(
        pdf([[f"The mill, {n} of {len(pages)}", *page] for n, page in enumerate(pages, 1)])
    )
    document = read_document(tmp_path / "a.pdf")
    assert resolved(quotes, document) >= 26
    assert f"of {len(pages)}" not in document.text
    (tmp_path / "b.pdf").write_bytes(pdf([["The owner restored the water-", "wheel of Leeds, an un-", "usual one."]]))
    assert read_document(tmp_path / "b.pdf").text == "The owner restored the waterwheel of Leeds, an unusual one."


def pdf(pages: list[list[str]]) -> bytes:
    """A PDF of lines, written by hand: one font, one text object a page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"]
    kids = []
    for lines in pages:
        shown = "".join("(" + re.sub(r"([()\\])", r"\\\1", line) + ") Tj T*\n" for line in lines)
        stream = f"BT /F1 10 Tf 12 TL 40 800 Td\n{shown}ET"
        objects.append(f"<< /Length {len(stream.encode('latin-1', 'replace'))} >>\nstream\n{stream}\nendstream")
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 842] /Contents {len(objects)} 0 R "
        objects.append(page + "/Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, places = b"%PDF-1.4\n", []
    for n, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{n} 0 obj\n{text}\nendobj\n".encode("latin-1", "replace")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    )
    return body + f"{trailer}startxref\n{len(body)}\n%%EOF".encode()


@given(
    st.lists(st.sampled_from(["mill", "1921.", "in", "*rich*,", "Leeds", "(2)", "a_b"]), min_size=1, max_size=40),
    st.integers(8, 60),
)
def test_no_word_of_a_wrapped_paragraph_is_lost(words, width):
    text = textwrap.fill(" ".join(words), width, break_on_hyphens=False, break_long_words=False)
    for document in (markdown(f"# Head\n\n{text}\n"), markdown(f"> {text}\n"), Document(unwrapped(text))):
        assert " ".join(text for _, text in passages(document)).split() == words
