"""Passages as the stage ranks them, without its files."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.config.compose import option
from secateur.ranking.rank import rank
from tests.support.project import ROOT

__all__ = ["ranked", "ranking_context"]


def ranking_context(cache: Path) -> SimpleNamespace:
    """A stage's context in which a warning fails the test."""
    return SimpleNamespace(
        cache=cache, log=None, counts={}, warn=pytest.fail, progress=lambda rows, total, unit: rows, axes={}
    )


def ranked(
    ctx, scorers: dict, passages: pl.DataFrame, questions: pl.DataFrame, evidence=None, is_limited=False, **changes
) -> pl.DataFrame:
    """Rankings by scorers with their settings. changes: of a list of rankers, and the types that have no answer."""
    own = {"suffixes": (), "neighbour": 0.8, "keep": 64, "unanswerable": ()} | changes
    cfg = SimpleNamespace(
        embedder=option(ROOT / "conf", "embedder", "minilm"),
        rankers=SimpleNamespace(scorers=scorers, **own),
        dataset=SimpleNamespace(unanswerable=own["unanswerable"]),
        eval=SimpleNamespace(seed=7),
    )
    return rank(cfg, passages, questions, evidence, ctx, is_limited)
