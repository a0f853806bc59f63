"""Markdown (CommonMark, with tables and front matter), of which no character moves: marks of blocks become blanks."""

import re

from secateur.datasets.documents.lines import Document, joint

__all__ = ["markdown"]

# A block of `key: value` between two lines of dashes; a rule above a first heading is none.
FRONT = re.compile(
    r"\A---[ \t]*\n(?=[\w\"'-]+[ \t]*:)(?:(?!(?:---|\.\.\.)[ \t]*$)[^\n]+\n)*(?:---|\.\.\.)[ \t]*$", re.M
)
INDENT, QUOTED = re.compile(r"\A[ \t]*"), re.compile(r"\A(?:[ \t]*>)*[ \t]*")
ITEMS = re.compile(r"\A(?:[ \t]*(?:>|(?:[-*+]|\d{1,3}[.)])(?=[ \t])))*[ \t]*(?:\[[ xX]\][ \t]+)?")
# Where a link leads: an address, in a line that is no part of any block.
REFERENCE = re.compile(r"\A[ \t>]*\[[^\]^][^\]]*\]:[ \t]+(?:<[^>]*>|\S*[/#.:]\S*)(?:[ \t]+[\"'(].*)?[ \t]*\Z")
RULE = re.compile(r"^[ \t|:-]+$", re.MULTILINE)
HEADING = re.compile(r"\A[ \t]*#{1,6}[ \t]+|[ \t]+#+[ \t]*\Z|\n[ \t]*(?:=+|-+)[ \t]*\Z")  # marks of a heading
ENDS = re.compile(r"[.!?。！？][\"'”’»)\]]*$")
MARKS = {
    "fence": re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE),
    "html_block": re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL),
    "hr": re.compile(r".+"),
}
BOXES = {"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"}  # whose lines others cover


def markdown(text: str) -> Document:
    """A text without its marks of blocks, and without breaks inside a paragraph; headings are titles of what follows.

    A heading that no text follows stays as a line.

    >>> markdown("# Mills\\n\\nThe *mill* was\\nbuilt in 1890.\\n> Really.").text.split("\\n")[2]
    'The *mill* was built in 1890.'
    >>> markdown("# Mills\\n\\n## Finch\\n\\nIt stands.").titles
    ((8, 'Mills'), (18, 'Mills / Finch'))
    """
    from markdown_it import MarkdownIt

    characters, starts = list(text), [0, *(m.end() for m in re.finditer("\n", text))]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    front = FRONT.match(text)
    _blank(characters, 0, front.end() if front else 0)
    tokens = MarkdownIt("commonmark").enable("table").parse("".join(characters))
    headings: list[tuple[int, int, str, str]] = []  # start, end, level, title
    items, covered = set(), set()  # lines that begin an item of a list; lines of blocks
    for n, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map
        start, end = starts[first], ends[last - 1]
        if token.type not in BOXES:
            covered.update(range(first, last))
        if token.type == "list_item_open":
            items.add(first)
        elif token.type == "blockquote_open":
            for line in range(first, last):
                _blank(characters, starts[line], ends[line], of=QUOTED)
        elif token.type == "heading_open":
            title = _words(tokens[n + 1])
            is_sentence = token.markup in ("=", "-") and ENDS.search(title)  # above a rule
            if token.level == 0 and not is_sentence:
                headings.append((start, end, token.tag, title))
            else:
                _blank(characters, start, end, of=HEADING)
        elif token.type in ("fence", "html_block", "hr"):
            _blank(characters, start, end, of=MARKS[token.type])
        elif token.type == "inline":
            lines = range(first, last)
            for line in lines:
                _blank(characters, starts[line], ends[line], of=ITEMS if line in items else INDENT)
            for line in lines[:-1]:
                characters[ends[line]] = joint(text[: ends[line]].rstrip()[-1:], text[starts[line + 1] :].lstrip()[:1])
        elif token.type == "table_open":
            _blank(characters, start, end, of=RULE)
    for line in range(len(starts)):
        if line not in covered:
            _blank(characters, starts[line], ends[line], of=REFERENCE)
    titles = _titles(characters, headings)
    return Document("".join(characters), titles)


def _titles(characters: list[str], headings: list[tuple[int, int, str, str]]) -> tuple[tuple[int, str], ...]:
    """(place, title) of the sections; blanks in place of headings that text or a heading below them follows."""
    titles, stack = [], []
    following = [*headings[1:], (len(characters), len(characters), "", "")]
    for (start, end, level, title), (after, _, below, _) in zip(headings, following, strict=False):
        stack = [(above, name) for above, name in stack if above < level] + [(level, title)]
        is_said = below > level or "".join(characters[end:after]).strip()
        _blank(characters, start, end, of=None if is_said else HEADING)
        titles.append(
            (min(end + 1, len(characters)) if is_said else start, " / ".join(name for _, name in stack if name))
        )
    return tuple(titles)


def _blank(characters: list[str], start: int, end: int, of: re.Pattern | None = None) -> None:
    """Blanks in place of a part of a text, or of what matches in it; line breaks stay."""
    part = "".join(characters[start:end])
    spans = [(0, len(part))] if of is None else [match.span() for match in of.finditer(part)]
    for first, last in spans:
        for place in range(start + first, start + last):
            characters[place] = characters[place] if characters[place] == "\n" else " "


def _words(inline) -> str:
    """The text of an inline token, without its marks."""
    words = [child.content if child.content else " " for child in inline.children or () if child.type != "html_inline"]
    return " ".join("".join(words).split())
