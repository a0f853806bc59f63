"""HTML and e-mail."""

import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

from secateur.core.errors import SecateurError
from secateur.datasets.documents.lines import Document, Lines, unwrapped

__all__ = ["html", "mail"]

BLOCKS = {
    "address",
    "article",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
}
BLOCKS |= {
    "figcaption",
    "figure",
    "form",
    "header",
    "hgroup",
    "hr",
    "label",
    "legend",
    "li",
    "main",
    "ol",
    "option",
    "p",
}
BLOCKS |= {"pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "br"}
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
CELLS = {"td", "th"}


def html(text: str) -> Document:
    """The readable text of a page: no navigation, no scripts; cells of a row are joined by ` | `."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(text)
    lines = Lines()
    title = page.css_first("title")
    if title is not None:
        lines.head("h0", title.text())
    if page.body is not None:
        _read(page.body, lines)
    return lines.document()


def _read(body, lines: Lines) -> None:
    """Adds what is below a node, in the order of the page, however deep."""
    cells, written = 0, 0  # how many cells of tables, and <pre>, we are in: blocks end no line there; breaks do
    stack: list[tuple[bool, object]] = [(True, body)]
    while stack:
        opens, node = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            for n, part in enumerate(text.split("\n") if written else [text]):
                if n:
                    lines.end()
                lines.add(part if written else re.sub(r"\s+", " ", part))
        elif re.fullmatch("h[1-6]", tag) and not cells:
            lines.head(tag, node.text(separator=" "))
        elif tag in UNREAD:
            continue
        else:
            step = 1 if opens else -1
            cells, written = cells + step * (tag in CELLS), written + step * (tag == "pre")
            if tag in BLOCKS:
                lines.add(" ") if cells else lines.end()
            if opens:
                if tag in CELLS and cells == 1 and lines.open.strip():
                    lines.add(" | ")
                stack.append((False, node))
                stack += [(True, child) for child in reversed(list(node.iter(include_text=True)))]


def mail(path: Path) -> Document:
    """An e-mail: the subject as title, then all texts in it, of forwarded ones too; HTML where there is no plain text."""
    message = BytesParser(policy=policy.default).parsebytes(path.read_bytes())
    documents = [document for document in _texts(message) if document.text.strip()]
    if not documents:
        raise SecateurError(f"{path}: an e-mail without a text. Fix: remove it from the folder")
    subject = " ".join(str(message["subject"] or "").split())
    titles = [(0, subject)] if subject else []
    start = 0
    for document in documents:
        titles += [(start + place, title) for place, title in document.titles]
        start += len(document.text) + 1
    return Document("\n".join(document.text for document in documents), tuple(titles))


def _texts(message: EmailMessage) -> list[Document]:
    """The texts of a message, in its order. Of alternatives the first that has words, plain before HTML."""
    if message.get_content_type() == "multipart/alternative":
        each = sorted(message.iter_parts(), key=lambda part: part.get_content_type() != "text/plain")
        return next((texts for texts in map(_texts, each) if any(document.text.strip() for document in texts)), [])
    if message.is_multipart():
        return [document for part in message.iter_parts() for document in _texts(part)]
    if message.is_attachment() or message.get_content_maintype() != "text":
        return []
    try:
        content = message.get_content()
    except LookupError:  # a character set that Python does not know
        content = message.get_payload(decode=True).decode("utf-8", "replace")
    content = content.replace("\r\n", "\n").replace("\0", "")
    return [html(content) if message.get_content_subtype() == "html" else Document(unwrapped(content))]
