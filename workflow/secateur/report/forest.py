"""Figures with their intervals, a line each, as SVG whose colours are the page's: wide, or narrow for a small screen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

__all__ = ["FAMILIES", "Dot", "forest", "standalone"]

FAMILIES = {  # family: what the legend calls it
    "graph": "graph",
    "utility": "context utility (ECS)",
    "peer": "other systems",
    "policy": "policy",
    "imported": "made elsewhere",
    "lexical": "plain rankings",
}
LIGHT = {  # what stands for the page's colours in a file of its own
    "ink": "#111827",
    "soft": "#5b6472",
    "line": "#d1d5db",
    "paper": "#ffffff",
    **{"graph": "#2563eb", "utility": "#7c3aed", "peer": "#d97706"},
    **{"policy": "#059669", "imported": "#0e7490", "lexical": "#64748b"},
}
STYLE = "<style>.zero{stroke:#111827;stroke-width:1.4}.grid{stroke:#d1d5db}</style>"
WIDE, NARROW = 1080, 372  # pixels
LABEL, SAID = 330, 330  # pixels of a wide line for its name, and for its figures in words
ROW, TALL, HEAD, AXIS, STEP = 26, 40, 26, 34, 14  # pixels: a line wide and narrow, a group's head, the axis, its text
TICKS = 6
CHARACTER, SMALL, TINY = 7.2, 6.4, 6.0  # pixels of one, roughly: of a name, of figures, of what an axis measures


@dataclass(frozen=True)
class Dot:
    """A line. group: head under which it stands; low, high: None where nothing bounds it; said: figures in words; counts:
    what they rest on; untold: too little to draw."""

    name: str
    family: str
    value: float
    low: float | None
    high: float | None
    said: str
    counts: str
    group: str = ""
    untold: bool = False
    unsure: bool = False


def forest(dots: Sequence[Dot], label: str, xlabel: str, *, zero: str = "", narrow: bool = False) -> str:
    """One <svg>. label: its text alternative; xlabel: what the axis measures; zero: what stands at 0, if that is a
    reference."""
    groups = list(dict.fromkeys(dot.group for dot in dots))
    width, row = (NARROW, TALL) if narrow else (WIDE, ROW)
    left, right = (8, width - 8) if narrow else (LABEL, width - SAID)
    ticks, low, high = _axis([dot for dot in dots if not dot.untold], bool(zero))

    def x(value: float) -> float:
        return left + (right - left) * (min(max(value, low), high) - low) / (high - low)

    parts, y = [], 4.0
    for group in groups:
        own = [dot for dot in dots if dot.group == group]
        counts = {dot.counts for dot in own}
        shared = narrow and len(counts) == 1 and bool(group)  # a small screen says it once
        if group:
            parts.append(_text(group + (f" · {counts.pop()}" if shared else ""), 0, y + 17, "head"))
            y += HEAD
        for dot in own:
            parts += _line(dot, x, (left, right), y, narrow)
            y += row
    grid = [
        f'<line x1="{x(t):.1f}" x2="{x(t):.1f}" y1="4" y2="{y:g}" class="{"zero" if t == 0 and zero else "grid"}"/>'
        for t in ticks
    ]
    sides = {ticks[0]: "start", ticks[-1]: "end"} if narrow else {}
    marks = [_text(f"{t:g}", x(t), y + 14, "tick", sides.get(t, "middle")) for t in ticks]
    under = [xlabel, *([f"0: {zero}"] if zero else [])]
    under = [line for one in under for line in wrap(one, int(NARROW / TINY))] if narrow else ["; ".join(under)]
    for said in under:
        marks.append(_text(said, 0 if narrow else (left + right) / 2, y + 30, "tick", "start" if narrow else "middle"))
        y += STEP
    height = y + AXIS - STEP + 2
    return (
        f'<svg class="forest {"narrow" if narrow else "broad"}" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        f'font-family="system-ui, sans-serif">{"".join([*grid, *parts, *marks])}</svg>'
    )


def _line(dot: Dot, x, ends: tuple[float, float], y: float, narrow: bool) -> list[str]:
    """A line at its place: name, interval, dot, figures."""
    said = dot.said if narrow else " · ".join(filter(None, (dot.said, dot.counts)))
    room = int((NARROW - len(said) * SMALL - 12 if narrow else LABEL - 12) / CHARACTER)
    name = dot.name if len(dot.name) <= room else f"{dot.name[: room - 1]}…"
    middle = y + (28 if narrow else ROW / 2)
    parts = [_text(name, 0, y + (13 if narrow else 17), "name", tip=dot.name)]
    parts.append(
        _text(
            said,
            NARROW if narrow else WIDE - SAID + 12,
            y + (13 if narrow else 17),
            "said",
            "end" if narrow else "start",
        )
    )
    if dot.untold:
        return parts
    start, end = (x(e) if e is not None else ends[side] for side, e in enumerate((dot.low, dot.high)))
    colour = f"var(--{dot.family if dot.family in FAMILIES else 'imported'})"
    loose = ' stroke-dasharray="3 3"' if dot.low is None or dot.high is None else ""
    if start != end:
        parts.append(
            f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{middle:g}" y2="{middle:g}" stroke="{colour}" '
            f'stroke-width="2.5"{loose}/>'
        )
    tip = escape(f"{dot.name}: {', '.join(filter(None, (dot.said, dot.counts)))}")
    parts.append(
        f'<circle cx="{x(dot.value):.1f}" cy="{middle:g}" r="5" fill="{"var(--paper)" if dot.unsure else colour}" stroke="{colour}" stroke-width="2"><title>{tip}</title></circle>'
    )
    return parts


def _text(text: str, x: float, y: float, form: str, anchor: str = "start", tip: str = "") -> str:
    hint = f"<title>{escape(tip)}</title>" if tip else ""
    size = {"head": 14, "name": 13, "said": 12, "tick": 11}[form]
    look = f'font-size="{size}" fill="var(--{"soft" if form in ("said", "tick") else "ink"})"'
    look += ' stroke="var(--paper)" stroke-width="4" paint-order="stroke"'  # what stands behind a text is not read
    bold = ' font-weight="600"' if form == "head" else ""
    return f'<text x="{x:.1f}" y="{y:g}" text-anchor="{anchor}" {look}{bold}>{escape(text)}{hint}</text>'


def _axis(dots: Sequence[Dot], zero: bool) -> tuple[list[float], float, float]:
    """Ticks at round numbers, and where the axis begins and ends: at one of them."""
    ends = [e for dot in dots for e in (dot.value, dot.low, dot.high) if e is not None and math.isfinite(e)]
    ends += [0.0] if zero or not ends or min(ends) >= 0 else []
    low, high = min(ends), max(ends)
    high = high if high > low else low + 1
    step = _round((high - low) / TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(n * step, 10) + 0.0 for n in range(first, last + 1)]
    return ticks, ticks[0], ticks[-1]


def _round(step: float) -> float:
    """The next of 1, 2, 2.5, 5 and 10 at the step's power of ten.

    >>> _round(0.03), _round(0.0021), _round(7)
    (0.05, 0.0025, 10.0)
    """
    power = 10 ** math.floor(math.log10(step))
    return next(round(float(one) * power, 12) for one in (1, 2, 2.5, 5, 10) if one * power >= step - 1e-12)


def standalone(svg: str) -> str:
    """A drawing as a file of its own, on white paper."""
    head, _, rest = svg.partition(">")
    head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    text = f'{head}>{STYLE}<rect width="100%" height="100%" fill="var(--paper)"/>{rest}'
    for name, colour in LIGHT.items():
        text = text.replace(f"var(--{name})", colour)
    return text
