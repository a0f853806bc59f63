"""A small graph as SVG for the page: trees from left to right, with one row per edge, so that no label is hidden."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from unicodedata import east_asian_width

__all__ = ["Box", "Drawn", "Row", "draw", "layout"]

BOX, GAP, HEIGHT, ROW, MARGIN = 172, 156, 20, 27, 6  # pixels: box width, room for a relation, box height, row, margin
ENTITY, RELATION = 24, 21  # characters of a label that fit
LAST = 2  # last column that fits the page
INK, SOFT, GOLD, ASKED, WASH, PAPER = (f"var(--{name})" for name in ("ink", "soft", "gold", "mark", "wash", "paper"))


@dataclass(frozen=True)
class Drawn:
    """An edge to draw. gold: from gold evidence; whole: the context shows its sentence instead of its line."""

    head: str
    relation: str
    tail: str
    gold: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Box:
    """An entity at its place. again: repeats an entity that has its place elsewhere."""

    entity: str
    column: int
    row: int
    again: bool


@dataclass(frozen=True)
class Row:
    """An edge on its row, from the box at (column, above) to the box at (column + 1, row).

    forward: the left box is the head.
    """

    edge: Drawn
    column: int
    above: int
    row: int
    forward: bool


def _trees(edges: Sequence[Drawn]) -> tuple[list[str], dict[str, list[int]], set[int]]:
    """Roots (the busiest entity of each component), each entity's edges, and the edges that first reach an entity."""
    incident: dict[str, list[int]] = {}
    for n, edge in enumerate(edges):
        for entity in dict.fromkeys((edge.head, edge.tail)):
            incident.setdefault(entity, []).append(n)
    roots, seen, first = [], set(), set()
    for root in sorted(incident, key=lambda e: -len(incident[e])):  # stable: ties to the earlier entity
        queue = [] if root in seen else [root]
        roots += queue
        seen.update(queue)
        for entity in queue:  # breadth first, so that drawings stay shallow
            for n in incident[entity]:
                other = edges[n].tail if edges[n].head == entity else edges[n].head
                if other not in seen:
                    seen.add(other)
                    first.add(n)
                    queue.append(other)
    return roots, incident, first


def layout(edges: Sequence[Drawn]) -> tuple[list[Box], list[Row]]:
    """Places edges: each component is a tree that grows from its busiest entity.

    The first branch of an entity stays in its row; each further branch takes the next free row. An edge to an entity
    with a place elsewhere ends in a box that repeats the entity. So does an edge that would grow past the last column;
    its entity then starts a new tree on the left. No two boxes and no two labels share a place.
    """
    roots, incident, first = _trees(edges)
    boxes, rows, done, free = [], [], set(), 0

    def grow(entity: str, column: int, row: int) -> None:
        nonlocal free
        boxes.append(Box(entity, column, row, False))
        current, free = row, max(free, row + 1)
        for n in incident[entity]:
            if n in done:
                continue
            done.add(n)
            current = free if current is None else current
            forward = edges[n].head == entity
            other = edges[n].tail if forward else edges[n].head
            rows.append(Row(edges[n], column, row, current, forward))
            has_branches = any(m not in done for m in incident[other])
            if n in first and not (has_branches and column + 1 == LAST):
                grow(other, column + 1, current)
            else:
                boxes.append(Box(other, column + 1, current, True))
                roots.extend([other] if n in first else [])
                free = max(free, current + 1)
            current = None

    for root in roots:  # `grow` appends to it
        grow(root, 0, free)
    return boxes, rows


def _x(column: int) -> int:
    return MARGIN + column * (BOX + GAP)


def _y(row: int) -> float:
    """The middle of a row."""
    return MARGIN + row * ROW + ROW / 2


def _label(text: str, room: int, x: float, y: float, style: str) -> str:
    """A text cut to `room` characters, wide ones of East Asia counting twice, with the full text as tooltip."""
    ends = list(accumulate(1 + (east_asian_width(character) in "WF") for character in text))
    kept = bisect_right(ends, room - 1)
    shown = text if not ends or ends[-1] <= room else f"{text[:kept].rstrip()}…"
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(shown)}<title>{escape(text)}</title></text>'


def _box(box: Box, asked: bool) -> str:
    x, y = _x(box.column), _y(box.row) - HEIGHT / 2
    stroke = f'stroke="{ASKED}" stroke-width="2"' if asked else f'stroke="{SOFT}" stroke-width="1"'
    look = f'fill="{WASH if asked and not box.again else PAPER}" {stroke}' + (
        ' stroke-dasharray="3 2"' if box.again else ""
    )
    rect = f'<rect x="{x}" y="{y:g}" width="{BOX}" height="{HEIGHT}" rx="5" {look}/>'
    return rect + _label(box.entity, ENTITY, x + 6, y + 14, f'font-size="11" fill="{INK}"')


def _row(row: Row) -> str:
    """The line of an edge with its arrowhead, and its relation above the straight part."""
    left, right = _x(row.column) + BOX, _x(row.column + 1)
    y, above, start = _y(row.row), _y(row.above), left + 18
    colour, width = (GOLD, 2.4) if row.edge.gold else (SOFT, 1.1)
    dash = ' stroke-dasharray="5 3"' if row.edge.whole else ""
    path = f"M{left},{above:g} C{start - 4},{above:g} {left + 4},{y:g} {start},{y:g} H{right}"
    tip, back = (right - 1, right - 8) if row.forward else (start, start + 7)
    head = f'<polygon points="{tip},{y:g} {back},{y - 4:g} {back},{y + 4:g}" fill="{colour}"/>'
    label = _label(row.edge.relation, RELATION, start + 8, y - 4, f'font-size="10" fill="{INK}"')
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>{head}{label}'


def draw(edges: Sequence[Drawn], asked: frozenset[str], label: str) -> str:
    """Draws edges as <svg>. asked: entities to mark, which the question names; label: text alternative."""
    boxes, rows = layout(edges)
    columns, height = 1 + max((b.column for b in boxes), default=0), 1 + max((b.row for b in boxes), default=0)
    size = _x(columns) - GAP + MARGIN, MARGIN * 2 + height * ROW
    shapes = [*map(_row, rows), *(_box(box, box.entity in asked) for box in boxes)]
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}" font-family="system-ui, sans-serif">{"".join(shapes)}</svg>'
    )
