"""Documents as people have them: text, Markdown, HTML, PDF, Word, e-mail. Each becomes lines that end no sentence's middle.

A line is a paragraph, an item of a list, a row of a table or a line of code; headings are titles of what follows. Text and
Markdown keep every character's place in the file; places in the other forms are those in the text that was read.
"""

from collections.abc import Callable
from pathlib import Path

from secateur.core.errors import absent
from secateur.datasets.documents.lines import Document, unwrapped
from secateur.datasets.documents.markdown import markdown
from secateur.datasets.documents.office import pdf, word
from secateur.datasets.documents.pages import html, mail
from secateur.datasets.reading import read_text

__all__ = ["PACKED", "SUFFIXES", "read_document", "suffix_of"]


def read_document(path: Path) -> Document:
    """The text of a file, by its ending. Raises SecateurError for a file that cannot be read."""
    try:
        return READERS[suffix_of(path)](path)
    except ModuleNotFoundError as error:
        raise absent(error) or error from error


def suffix_of(path: Path) -> str:
    """The ending of a file in small letters, without that of gzip where a text may have it.

    >>> suffix_of(Path("a/NOTES.MD")), suffix_of(Path("b.txt.gz")), suffix_of(Path("c.pdf.gz"))
    ('.md', '.txt', '.gz')
    """
    ending = path.suffix.lower()
    inner = path.with_suffix("").suffix.lower()
    return inner if ending == ".gz" and inner in PACKED else ending


def _lines(path: Path) -> str:
    """A file's text, with one character for each line break, in its place."""
    return read_text(path).replace("\r\n", " \n").replace("\r", "\n")


PACKED: dict[str, Callable[[Path], Document]] = {  # that may be gzipped
    ".txt": lambda path: Document(unwrapped(_lines(path))),
    **dict.fromkeys((".md", ".markdown"), lambda path: markdown(_lines(path))),
    **dict.fromkeys((".html", ".htm"), lambda path: html(read_text(path))),
}
READERS = PACKED | {".pdf": pdf, ".docx": word, ".eml": mail}
SUFFIXES = tuple(READERS)
