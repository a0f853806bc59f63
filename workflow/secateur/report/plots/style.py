"""The style of all plots, and their output on the page and to files.

`inline` puts a Matplotlib figure on the page, where its colours follow the page's light or dark scheme; `saved` writes it
to a file on white paper. Equal data give equal bytes.
"""

import io
import math
import re
from html import escape
from pathlib import Path

__all__ = ["COLOURS", "FAMILIES", "INCH", "LIGHT", "MARKERS", "SERIES", "SMALL", "STYLES", "blank"]
__all__ += ["encoded", "inline", "saved", "subplots"]

COLOURS = {  # name on the page: colour in the light scheme and in files, colour in the dark scheme
    "ink": ("#111827", "#e5e7eb"),
    "soft": ("#5b6472", "#a3adba"),
    "line": ("#d1d5db", "#374151"),
    "wash": ("#eef4ff", "#172554"),
    "paper": ("#ffffff", "#0f1420"),
    "mark": ("#1d4ed8", "#93b4ff"),
    "gold": ("#b45309", "#fbbf24"),
    "goldwash": ("#fef3c7", "#4a3208"),
    "shared": ("#dbeafe", "#1e3a6e"),
    "graph": ("#2563eb", "#6ea0ff"),
    "utility": ("#7c3aed", "#b794ff"),
    "peer": ("#d97706", "#fbab4a"),
    "policy": ("#059669", "#34d399"),
    "imported": ("#0e7490", "#4dd0e1"),
    "yours": ("#0f766e", "#2dd4bf"),
    "lexical": ("#64748b", "#9aa6b8"),
    "red": ("#dc2626", "#f87171"),
    "pink": ("#be185d", "#f472b6"),
    "lime": ("#65a30d", "#a3e635"),
    "brown": ("#a16207", "#d6a94b"),
}
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
NAMES = {light: name for name, light in LIGHT.items()}
FAMILIES = {  # family of systems, which names its colour: label in the legend
    "graph": "graph",
    "utility": "context utility (ECS)",
    "peer": "other systems",
    "policy": "policy",
    "imported": "imported",
    "yours": "yours",
    "lexical": "plain rankings",
}
ORDERED = ("graph", "peer", "policy", "red", "utility", "imported", "pink", "lime", "lexical", "brown")
SERIES = [LIGHT[name] for name in ORDERED]  # colours of the lines of a plot
FONT = "DejaVu Sans"  # comes with Matplotlib: equal text sizes on every machine
STYLES, MARKERS = ("-", "--", ":", "-."), "osD^vP"
TEXT, SMALL = 10, 9  # points of text; the page shrinks no text below SMALL
INCH = 72  # points per inch; a point is a pixel on the page


def blank(width: float, height: float, **settings):
    """An empty figure in the style of all plots. width, height: inches."""
    import matplotlib
    from matplotlib.figure import Figure

    inked = dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), LIGHT["ink"]
    )
    clear = dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "secateur", "svg.fonttype": "none", "font.size": TEXT, "font.family": FONT}
        | {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": LIGHT["line"]}
        | inked
        | clear
    )
    return Figure(figsize=(width, height), **settings)


def subplots(width: float, height: float, columns: int = 1):
    """A figure with a row of axes. width, height: inches."""
    figure = blank(width, height, layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def encoded(figure, form: str) -> bytes:
    """The figure as an svg, pdf or png file on white paper."""
    return _rendered(figure, form, facecolor="white", dpi=200, bbox_inches="tight")


def saved(figure, path: Path) -> Path:
    """Writes a figure in the format that the suffix names, and returns the path."""
    path.write_bytes(encoded(figure, path.suffix[1:]))
    return path


def _rendered(figure, form: str, **options) -> bytes:
    """The bytes of a figure, without date and version, so that equal data give equal bytes."""
    undated = {"svg": ("Date", "Creator", "Format", "Type"), "pdf": ("CreationDate", "Creator", "Producer")}
    stream = io.BytesIO()
    figure.savefig(stream, format=form, metadata=dict.fromkeys(undated.get(form, ("Software",))), **options)
    return stream.getvalue()


def inline(figure, label: str, form: str = "plot") -> str:
    """A figure as <svg> in the page's colours and font. label: text alternative; form: CSS class.

    Its minimum width keeps all text at SMALL or above; a narrower screen scrolls it.
    """
    from matplotlib.text import Text

    svg = _rendered(figure, "svg").decode()
    svg = re.sub("#[0-9a-f]{6}", lambda hit: f"var(--{NAMES[hit[0]]})" if hit[0] in NAMES else hit[0], svg)
    svg = svg[svg.index("<svg") :].replace(f"'{FONT}'", f"system-ui, '{FONT}', sans-serif")
    smallest = min((text.get_fontsize() for text in figure.findobj(Text) if text.get_text()), default=SMALL)
    least = math.ceil(figure.get_figwidth() * INCH * min(SMALL / smallest, 1))
    head = f'<svg class="{form}" role="img" aria-label="{escape(label)}" style="min-width: {least}px" '
    sized = r'<svg ([^>]*?)width="([\d.]+)pt" ([^>]*?)height="([\d.]+)pt"'
    return re.sub(sized, lambda hit: f'{head}{hit[1]}width="{hit[2]}" {hit[3]}height="{hit[4]}"', svg, count=1)
