"""Word triples under the rules of figure 9 (paper 2.6)."""

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.forms._symbols import Symbols
from secateur.contexts.piece import Form, Material

NEEDS_GRAPH = True
SYMBOLS = True


def form(settings: Settings, material: Material) -> Form:
    """Facts as triples of words."""
    return Symbols("words", material)
