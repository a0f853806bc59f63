"""The assembly of an option over tables, for the pipeline's rules and the library."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from secateur.config import plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.piece import Material
from secateur.graph.material import material_of, passage_edges
from secateur.models.word_pieces import Counter, lm_counter, word_piece_counter

__all__ = ["assembly_of", "counter_of"]

GRAPH = ("edges", "entities", "relations", "edge_sources")


def counter_of(cfg, cache: Path) -> Counter:
    """The counter of tokens that budgets are counted in. cfg: with the options `assembly`, `embedder` and `lm`."""
    if cfg.assembly.counter == "word_pieces":
        return word_piece_counter(cfg.embedder.model)
    return lm_counter(cfg.lm.model, cache)


def assembly_of(
    cfg,
    passages: pl.DataFrame,
    tables: Mapping[str, pl.DataFrame],
    cache: Path,
    where: str,
    counted: Callable[[Material], Counter] | None = None,
) -> Assembly:
    """How rankings of some passages become contexts, in the form of the option `assembly`.

    tables: of the graph, for a form that needs one. where: the option's file, for messages. counted: another counter, of the
    material.
    """
    kind = plugins.load("form", cfg.assembly.form["kind"])
    edges = passage_edges(*(tables[name] for name in GRAPH)) if kind.NEEDS_GRAPH else None
    material = material_of(passages, cfg.assembly.titles, counter_of(cfg, cache), edges)
    material = replace(material, count=counted(material)) if counted else material
    settings = plugins.settings("form", cfg.assembly.form, where)
    with plugins.calling("form", kind):
        form = kind.form(settings, material)
    order = {p: n for n, p in enumerate(passages.sort("doc_id", "position")["passage_id"])}
    return Assembly(form, cfg.assembly.packing, cfg.assembly.placement, material, order)
