"""PDF and Word."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

from secateur.core.errors import SecateurError
from secateur.datasets.documents.lines import ITEM, JOINED, Document, Lines, joint

__all__ = ["pdf", "word"]

NARROW = 0.8  # share of the usual width below which a line that ends a sentence ends its paragraph, too
REPEATED = 0.5  # share of a PDF's pages on which a line at their edge is a header or a footer
PAGES = 4  # of a PDF, from which headers and footers are looked for
EDGE = 2  # lines at the top and bottom of a page among which headers and footers stand
SENTENCE_END = re.compile(r"[.!?:;…。！？।۔][\"'”’»)\]]*$")
DIVIDED = re.compile(r"[^\W\d_][-\u00ad\u2010]$")  # a word that goes on in the next line
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def pdf(path: Path) -> Document:
    """The text layer of a PDF: no headers and footers, words joined that a line break divided."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as opened:
            texts = (opened[n].get_textpage().get_text_bounded() for n in range(len(opened)))
            pages = [re.sub("[\0\x02\ufffe]", "", text).splitlines() for text in texts]  # hyphens that divided a word
    except pypdfium2.PdfiumError as error:
        raise SecateurError(
            f"{path}: no readable PDF ({error}). Fix: save it without a password, or as text"
        ) from error
    return Document("\n".join(_paragraphs(line for page in _without_edges(pages) for line in page)))


def _without_edges(pages: list[list[str]]) -> list[list[str]]:
    """Pages without the lines that stand at the same place at the edge of most: words with any number, numbers of pages."""
    pages = [[line.strip() for line in page if line.strip()] for page in pages]
    if len(pages) < PAGES:
        return pages
    edges = [{place: _edge(page[place], n) for place in _places(page)} for n, page in enumerate(pages)]
    counts = Counter(item for edge in edges for item in edge.items() if item[1])
    repeated = {item for item, count in counts.items() if count > REPEATED * len(pages)}
    for edge, page in zip(edges, pages, strict=True):
        gone = {place % len(page) for place, line in edge.items() if (place, line) in repeated}
        page[:] = [line for n, line in enumerate(page) if n not in gone]
    return pages


def _places(page: list[str]) -> list[int]:
    """The places of lines at the edges of a page, from its beginning and from its end."""
    count = min(EDGE, len(page))
    return [*range(count), *range(-count, 0)]


def _edge(line: str, page: int) -> str:
    """What a header or footer has on every page; empty for a line that is none, such as a row of numbers."""
    if alone := re.fullmatch(r"\W*(\d{1,5})\W*", line):
        return f"page {int(alone[1]) - page}"
    return re.sub(r"\d+", "0", line) if re.search(r"[^\W\d_]", line) else ""


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Lines of print joined into paragraphs: one ends where a short line ends a sentence, and before an item."""
    lines = list(lines)
    width = median(map(len, lines)) if lines else 0
    paragraph = ""
    for line, after in pairwise([*lines, ""]):
        divided = DIVIDED.search(line) and after[:1].islower()
        paragraph += line[:-1] if divided else line + joint(line, after).replace(JOINED, "")
        ends = SENTENCE_END.search(line) and len(line) < NARROW * width
        if not divided and (ends or not after or ITEM.match(after)):
            yield paragraph.strip()
            paragraph = ""


def word(path: Path) -> Document:
    """A Word document as it stands with all changes accepted: paragraphs, rows of tables, headings by their styles."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        opened = docx.Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise SecateurError(f"{path}: no readable Word document ({error}). Fix: save it as .docx again") from error
    styles = {style.style_id: style.name for style in opened.styles}
    lines = Lines()
    for block in _blocks(opened.element.body):
        if block.tag == f"{W}tbl":
            for row in block.iterchildren(f"{W}tr"):
                cells = (" ".join(_text(cell).split()) for cell in row.iter(f"{W}tc") if _is_of(cell, row))
                lines.add(" | ".join(filter(None, cells)))
                lines.end()
            continue
        style = block.find(f"{W}pPr/{W}pStyle")
        name = styles.get(style.get(f"{W}val")) if style is not None else None
        if name and re.fullmatch(r"Title|Heading \d", name):
            lines.head(f"h{name[-1] if name[-1].isdigit() else 0}", _text(block))
            continue
        for part in _text(block).split("\n"):
            lines.add(part)
            lines.end()
    return lines.document()


def _blocks(element) -> Iterator:
    """Paragraphs and tables, also those in content controls and insertions."""
    for child in element.iterchildren():
        if child.tag in (f"{W}p", f"{W}tbl"):
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml", f"{W}smartTag"):
            yield from _blocks(child)


def _is_of(cell, row) -> bool:
    """Whether a cell is of a row, and not of a table within one of its cells."""
    return next(cell.iterancestors(f"{W}tr")) is row


def _text(element) -> str:
    """The text of a paragraph or a cell: what was deleted has other tags, what was inserted has not."""
    marks = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
    pieces = []
    for node in element.iter():
        if node.tag == f"{W}p" and pieces:
            pieces.append("\n")
        pieces.append((node.text or "") if node.tag == f"{W}t" else marks.get(node.tag, ""))
    return "".join(pieces).strip("\n")
