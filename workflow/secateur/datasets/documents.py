"""Documents as people have them: text, Markdown, HTML, PDF, Word, e-mail. Each becomes lines, which end no sentence's middle.

A line is a paragraph, an item of a list, a row of a table or a line of code; headings are titles of what follows. Text and
Markdown keep every character's place in the file; places in the other forms are those in the text that was read.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from statistics import median

from secateur.core.errors import SecateurError, absent
from secateur.datasets.reading import read_text

__all__ = ["SUFFIXES", "Document", "read_document"]

WRAPPED = 0.1  # share of line breaks before a small letter from which a text is said to be hard-wrapped
NARROW = 0.8  # share of the usual width below which a line that ends a sentence ends its paragraph, too
REPEATED = 0.5  # share of a PDF's pages on which a line at their edge is a header or a footer
PAGES = 4  # of a PDF, from which headers and footers are looked for
EDGE = 2  # lines at the top and bottom of a page among which headers and footers stand
SENTENCE_END = re.compile(r"[.!?:;…。！？।۔][\"'”’»)\]]*$")
DIVIDED = re.compile(r"[^\W\d_][-\u00ad\u2010]$")  # a word that goes on in the next line
ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]")
BLOCKS = {
    "address",
    "article",
    "blockquote",
    "body",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
}
BLOCKS |= {"form", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tr", "ul", "br"}
UNREAD = {
    "script",
    "style",
    "noscript",
    "template",
    "nav",
    "aside",
    "footer",
    "head",
    "svg",
    "button",
    "select",
    "iframe",
}


@dataclass(frozen=True)
class Document:
    """A document's text, a line for each unit that holds whole sentences. titles: (place, title of what follows), sorted."""

    text: str
    titles: tuple[tuple[int, str], ...] = ()

    def title_at(self, place: int) -> str | None:
        """The title of the section that a place is in."""
        before = bisect_right(self.titles, place, key=itemgetter(0))
        return self.titles[before - 1][1] if before else None


def read_document(path: Path) -> Document:
    """The text of a file, by its ending. Raises SecateurError for a file that cannot be read."""
    try:
        return READERS[path.suffix.lower()](path)
    except ModuleNotFoundError as error:
        raise absent(error) or error from error


# --- text ----------------------------------------------------------------------------------------


def _plain(path: Path) -> Document:
    return Document(unwrapped(_lines(path)))


def _lines(path: Path) -> str:
    """A file's text, with one character for each line break, in its place."""
    return read_text(path).replace("\r\n", " \n").replace("\r", "\n")


def unwrapped(text: str) -> str:
    """A hard-wrapped text with a blank for each break inside a paragraph; any other as it is. No character moves.

    >>> unwrapped("The mill was\\nbuilt in 1890.\\n\\n- one\\n- two")
    'The mill was built in 1890.\\n\\n- one\\n- two'
    >>> unwrapped("Alder bought it.\\nIt rained.")
    'Alder bought it.\\nIt rained.'
    """
    breaks = [m.end() for m in re.finditer(r"(?<=\S)[ \t]*\n(?=[ \t]*\S)", text)]
    if sum(text[place:].lstrip(" \t")[:1].islower() for place in breaks) <= WRAPPED * len(breaks):
        return text
    characters = list(text)
    for place in breaks:
        if not ITEM.match(text, place):
            characters[place - 1] = " "
    return "".join(characters)


# --- Markdown ------------------------------------------------------------------------------------


def _markdown(path: Path) -> Document:
    return markdown(_lines(path))


def markdown(text: str) -> Document:
    """Markdown (CommonMark, with tables and front matter): marks of blocks become blanks, breaks inside a paragraph too.

    >>> markdown("# Mills\\n\\nThe *mill* was\\nbuilt in 1890.\\n> Really.").text.split("\\n")[2]
    'The *mill* was built in 1890.'
    >>> markdown("# Mills\\n\\n## Finch\\n\\nIt stands.").titles
    ((8, 'Mills'), (18, 'Mills / Finch'))
    """
    from markdown_it import MarkdownIt

    characters, starts = list(text), [0, *(m.end() for m in re.finditer("\n", text))]
    front = re.match(r"---\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|$)", text, re.DOTALL)
    _blank(characters, 0, front.end() if front else 0)
    _blank(characters, 0, len(text), of=REFERENCE)
    body = "".join(characters)
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    titles, stack, depth = [], [], ""
    items = set()  # lines that begin an item of a list
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        if token.map is None:
            continue
        first, last = token.map
        if token.type == "list_item_open":
            items.add(first)
        elif token.type == "blockquote_open":
            for line in range(first, last):
                _blank(characters, starts[line], ends[line], of=QUOTED)
        elif token.type == "heading_open":
            depth = token.tag
            _blank(characters, starts[first], ends[last - 1])
        elif token.type == "inline" and depth:
            stack = [(level, title) for level, title in stack if level < depth] + [(depth, _words(token))]
            end = min(ends[last - 1] + 1, len(text))
            titles, depth = [*titles, (end, " / ".join(title for _, title in stack if title))], ""
        elif token.type in ("fence", "html_block", "hr"):
            _blank(characters, starts[first], ends[last - 1], of=MARKS[token.type])
        elif token.type == "inline":
            lines = range(first, last)
            for line in lines:
                _blank(characters, starts[line], ends[line], of=ITEMS if line in items else INDENT)
            for line in lines[:-1]:
                characters[ends[line]] = " "
        elif token.type == "table_open":
            _blank(characters, starts[first], ends[last - 1], of=RULE)
    return Document("".join(characters), tuple(titles))


INDENT, QUOTED = re.compile(r"\A[ \t]*"), re.compile(r"\A(?:[ \t]*>)*[ \t]*")
ITEMS = re.compile(r"\A(?:[ \t]*(?:>|(?:[-*+]|\d{1,3}[.)])(?=[ \t])))*[ \t]*(?:\[[ xX]\][ \t]+)?")
REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:[ \t]+\S+[ \t]*$", re.MULTILINE)  # where a link leads
RULE = re.compile(r"^[ \t|:-]+$", re.MULTILINE)
MARKS = {
    "fence": re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE),
    "html_block": re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL),
    "hr": re.compile(r".+"),
}


def _blank(characters: list[str], start: int, end: int, of: re.Pattern | None = None) -> None:
    """Blanks in place of a part of a text, or of what matches in it; line breaks stay."""
    part = "".join(characters[start:end])
    spans = [(0, len(part))] if of is None else [found.span() for found in of.finditer(part)]
    for first, last in spans:
        for place in range(start + first, start + last):
            characters[place] = characters[place] if characters[place] == "\n" else " "


def _words(inline) -> str:
    """The text of an inline token, without its marks."""
    parts = [child.content if child.content else " " for child in inline.children or () if child.type != "html_inline"]
    return " ".join("".join(parts).split())


# --- HTML, e-mail --------------------------------------------------------------------------------


def _html(path: Path) -> Document:
    return html(read_text(path))


def html(text: str) -> Document:
    """The readable text of a page: no navigation, no scripts; cells of a row are joined by ` | `."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(text)
    lines = _Lines()
    title = page.css_first("title")
    if title is not None:
        lines.head("h0", title.text())
    if page.body is not None:
        _walk(page.body, lines, False)
    return lines.document()


class _Lines:
    """The lines of a document as they are read, and its titles."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.open, self.titles, self.stack = "", [], []

    def end(self) -> None:
        """End the line, if it has words."""
        if line := self.open.strip():
            self.done.append(line)
        self.open = ""

    def add(self, text: str) -> None:
        self.open += text

    def head(self, level: str, text: str) -> None:
        """A heading of a level, `h1` above `h2`."""
        self.end()
        if title := " ".join(text.split()):
            self.stack = [(above, name) for above, name in self.stack if above < level and name != title] + [
                (level, title)
            ]
            start = sum(len(line) + 1 for line in self.done)
            self.titles.append((start, " / ".join(name for _, name in self.stack)))

    def document(self) -> Document:
        self.end()
        return Document("\n".join(self.done), tuple(self.titles))


def _walk(node, lines: _Lines, as_written: bool) -> None:
    """Adds what is below a node. as_written: inside <pre>, where blanks and breaks count."""
    for child in node.iter(include_text=True):
        tag = child.tag or ""
        if tag == "-text":
            text = child.text_content or ""
            for n, part in enumerate(text.split("\n") if as_written else [text]):
                if n:
                    lines.end()
                lines.add(part if as_written else re.sub(r"\s+", " ", part))
        elif re.fullmatch("h[1-6]", tag):
            lines.head(tag, child.text())
        elif tag not in UNREAD:
            if tag in BLOCKS:
                lines.end()
            if tag in ("td", "th") and lines.open.strip():
                lines.add(" | ")
            _walk(child, lines, as_written or tag == "pre")
            if tag in BLOCKS:
                lines.end()


def _mail(path: Path) -> Document:
    """An e-mail: the subject as title, the text as it was written, or its HTML where there is no other."""
    from email import policy
    from email.parser import BytesParser

    message = BytesParser(policy=policy.default).parsebytes(path.read_bytes())
    part = message.get_body(("plain", "html"))
    if part is None:
        raise SecateurError(f"{path}: an e-mail without a text. Fix: remove it from the folder")
    content = part.get_content()
    found = html(content) if part.get_content_type() == "text/html" else Document(unwrapped(content))
    subject = " ".join(str(message["subject"] or "").split())
    return Document(found.text, tuple(filter(lambda title: title[1], [(0, subject)])) + found.titles)


# --- PDF, Word -----------------------------------------------------------------------------------


def _pdf(path: Path) -> Document:
    """The text layer of a PDF: no headers and footers, words joined that a line break divided."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as pdf:
            texts = (pdf[n].get_textpage().get_text_bounded() for n in range(len(pdf)))
            pages = [re.sub("[\x02\ufffe]", "", text).splitlines() for text in texts]  # hyphens that divided a word
    except pypdfium2.PdfiumError as error:
        raise SecateurError(
            f"{path}: no readable PDF ({error}). Fix: save it without a password, or as text"
        ) from error
    return Document("\n".join(_paragraphs(line for page in _without_edges(pages) for line in page)))


def _without_edges(pages: list[list[str]]) -> list[list[str]]:
    """Pages without the lines at their edges that most pages have, whatever their numbers."""
    pages = [[line.strip() for line in page if line.strip()] for page in pages]
    if len(pages) < PAGES:
        return pages
    edges = [{re.sub(r"\d+", "0", line) for line in (*page[:EDGE], *page[-EDGE:])} for page in pages]
    counts: dict[str, int] = {}
    for line in (line for edge in edges for line in edge):
        counts[line] = counts.get(line, 0) + 1
    repeated = {line for line, count in counts.items() if count > REPEATED * len(pages)}

    def is_edge(page: list[str], n: int) -> bool:
        return (n < EDGE or n >= len(page) - EDGE) and re.sub(r"\d+", "0", page[n]) in repeated

    return [[line for n, line in enumerate(page) if not is_edge(page, n)] for page in pages]


def _paragraphs(lines: Iterator[str]) -> Iterator[str]:
    """Lines of print joined into paragraphs: one ends where a short line ends a sentence, and before an item."""
    lines = list(lines)
    width = median(map(len, lines)) if lines else 0
    paragraph = ""
    for line, after in pairwise([*lines, ""]):
        divided = DIVIDED.search(line) and after[:1].islower()
        paragraph += line[:-1] if divided else f"{line} "
        ends = SENTENCE_END.search(line) and len(line) < NARROW * width
        if not divided and (ends or not after or ITEM.match(after)):
            yield paragraph.strip()
            paragraph = ""


def _docx(path: Path) -> Document:
    """A Word document: paragraphs, rows of tables, headings by their styles."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        content = docx.Document(str(path)).iter_inner_content()
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise SecateurError(f"{path}: no readable Word document ({error}). Fix: save it as .docx again") from error
    lines = _Lines()
    for block in content:
        if isinstance(block, docx.table.Table):
            for row in block.rows:
                cells = dict.fromkeys(
                    " ".join(cell.text.split()) for cell in row.cells
                )  # a merged cell stands in each column
                lines.add(" | ".join(filter(None, cells)))
                lines.end()
        elif (style := block.style.name if block.style else "") and re.fullmatch(r"Title|Heading \d", style):
            lines.head(f"h{style[-1] if style[-1].isdigit() else 0}", block.text)
        else:
            for part in block.text.split("\n"):
                lines.add(part)
                lines.end()
    return lines.document()


READERS: dict[str, Callable[[Path], Document]] = {
    **{".txt": _plain, ".md": _markdown, ".markdown": _markdown, ".html": _html, ".htm": _html},
    **{".pdf": _pdf, ".docx": _docx, ".eml": _mail},
}
SUFFIXES = tuple(READERS)
