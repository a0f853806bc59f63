"""Cited lines `head: relation tail; relation tail [source]`, one line per head and source."""

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.forms._symbols import Symbols
from secateur.contexts.piece import Form, Material

NEEDS_GRAPH = True
SYMBOLS = True


def form(settings: Settings, material: Material) -> Form:
    """Cited lines of all edges, with the number of their source."""
    return Symbols("lines", material)
