"""Triples of ids with their codebook, under the paper's rules (2.6, figure 9)."""

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.forms._symbols import Symbols
from secateur.contexts.piece import Form, Material

NEEDS_GRAPH = True
SYMBOLS = True


def form(settings: Settings, material: Material) -> Form:
    """Lists of entities and relations; facts are triples of places in them."""
    return Symbols("ids", material)
