"""A small graph as SVG for the page: trees read from left to right, one row per edge, so that no label is hidden."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Box", "Drawn", "Row", "draw", "layout"]

BOX, GAP, HEIGHT, ROW, EDGE = 172, 156, 20, 27, 6  # pixels: box, room for a relation, box height, row, margin
ENTITY, RELATION = 24, 21  # characters that fit
LAST = 2  # the last column, so that a drawing fits the page
INK, SOFT, GOLD, ASKED, WASH, PAPER = (f"var(--{name})" for name in ("ink", "soft", "gold", "mark", "wash", "paper"))


@dataclass(frozen=True)
class Drawn:
    """An edge to draw. gold: from gold evidence; whole: its sentence is shown, not its line."""

    head: str
    relation: str
    tail: str
    gold: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Box:
    """An entity at its place; `again` where it repeats one that is drawn elsewhere."""

    entity: str
    column: int
    row: int
    again: bool


@dataclass(frozen=True)
class Row:
    """An edge on its row: it joins the box at (column, above) with the box at (column + 1, row)."""

    edge: Drawn
    column: int
    above: int
    row: int
    forward: bool  # whether the left box is the head


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
    """Boxes and rows of the edges: each component is a tree that grows from its busiest entity.

    A first branch goes on in the row of its entity, each further one takes the next free row. An edge to an entity
    that has its place elsewhere repeats that entity; so does one that would grow past the last column, and its entity
    begins anew on the left. No two boxes and no two labels share a place.
    """
    roots, incident, first = _trees(edges)
    boxes, rows, done, free = [], [], set(), 0

    def grow(entity: str, column: int, row: int) -> None:
        nonlocal free
        boxes.append(Box(entity, column, row, False))
        here, free = row, max(free, row + 1)
        for n in incident[entity]:
            if n in done:
                continue
            done.add(n)
            here = free if here is None else here
            forward = edges[n].head == entity
            other = edges[n].tail if forward else edges[n].head
            rows.append(Row(edges[n], column, row, here, forward))
            goes_on = any(m not in done for m in incident[other])
            if n in first and not (goes_on and column + 1 == LAST):
                grow(other, column + 1, here)
            else:
                boxes.append(Box(other, column + 1, here, True))
                roots.extend([other] if n in first else [])
                free = max(free, here + 1)
            here = None

    for root in roots:  # grows while it is read
        grow(root, 0, free)
    return boxes, rows


def _x(column: int) -> int:
    return EDGE + column * (BOX + GAP)


def _y(row: int) -> float:
    """The middle of a row."""
    return EDGE + row * ROW + ROW / 2


def _label(text: str, room: int, x: float, y: float, style: str) -> str:
    """A text that fits; the whole of it as a tooltip."""
    shown = text if len(text) <= room else f"{text[: room - 1].rstrip()}…"
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
    """The edge's line with its arrowhead, and its relation above the straight part."""
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
    """The edges as one <svg>. asked: entities to mark as the question's; label: the text alternative."""
    boxes, rows = layout(edges)
    columns, height = 1 + max((b.column for b in boxes), default=0), 1 + max((b.row for b in boxes), default=0)
    size = _x(columns) - GAP + EDGE, EDGE * 2 + height * ROW
    parts = [*map(_row, rows), *(_box(box, box.entity in asked) for box in boxes)]
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}" font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
    )
