"""The consolidate stage on a dozen edges: what the budget, the index and pruning do to its tables."""

import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import consolidate

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table
from secateur.stage.contract import Context, Inputs, Outputs

CONF = Path(__file__).parents[2] / "conf"
NAMES = ["salmon", "trout", "char", "bear", "cub", "river"]
ANGLES = [0.0, 0.5, 0.55, 1.5, 2.0, 3.0]  # fish and bears at cosines .85 to .88, below tau; the river far off
EDGES = [(0, 0, 3), (1, 0, 3), (2, 0, 4), (3, 1, 5), (4, 1, 5)]
MENTIONS = [0, 1, 2, 3, 4, 3, 0, 3]  # edge of each mention; a passage each, two to a run


@pytest.fixture
def inputs(tmp_path) -> Inputs:
    vectors = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1).astype(np.float32)
    entities = pl.DataFrame({"entity_id": range(len(NAMES)), "text": NAMES, "count": 1, "embedding": vectors})
    text = {"doc_id": "d", "group_id": "g", "text": "Text."}
    rows = {
        "passages": [text | {"passage_id": f"p{n}", "position": n} for n in range(len(MENTIONS))],
        "edges": [(n, *edge, n) for n, edge in enumerate(EDGES)],
        "edge_sources": [("d", n, 0, f"p{n}", e) for n, e in enumerate(MENTIONS)],
        "run_edges": [(n // 2, n % 2, e, f"p{n}") for n, e in enumerate(MENTIONS)],
    }
    tables = {name: TABLES[name].frame(made) for name, made in rows.items()}
    tables |= {"entities": entities.cast({"entity_id": pl.Int32, "count": pl.Int32})}
    for name, table in tables.items():
        write_table(TABLES[name], table, tmp_path / f"{name}.parquet")
    return Inputs({name: [tmp_path / f"{name}.parquet"] for name in tables})


@pytest.fixture
def consolidated(inputs, tmp_path):
    """The stage's tables and its context under other settings."""

    def run(*overrides: str) -> tuple[SimpleNamespace, Context]:
        ctx = Context(logging.getLogger("test"), tmp_path, {}, "code")
        names = ("aliases", "edges", "edge_sources", "run_edges", "tombstones")
        paths = {name: tmp_path / "out" / f"{name}.parquet" for name in names}
        outputs, asked = Outputs(paths), tuple(f"consolidation.{o}" for o in overrides)
        cfg = SimpleNamespace(consolidation=compose.option(CONF, "consolidation", "default", asked))
        consolidate.run(cfg, inputs, outputs, ctx)
        outputs.commit()
        return SimpleNamespace(**{name: read_table(TABLES[name], path) for name, path in paths.items()}), ctx

    return run


def test_below_the_budget_only_close_entities_are_aliases_and_nothing_is_pruned(consolidated):
    made, ctx = consolidated()
    assert made.aliases.select("text", "representative", "rule").rows() == [("char", "trout", "cosine")]
    assert made.tombstones.is_empty()
    assert ctx.warnings == []
    assert consolidated("exact_limit=2")[0].aliases.equals(made.aliases)  # the index gives the same as all pairs


def test_above_the_budget_close_entities_merge_further_by_the_rule_budget(consolidated):
    made, ctx = consolidated("budget=3")
    named = {text: (keep, rule) for text, keep, rule in made.aliases.select("text", "representative", "rule").rows()}
    assert named["salmon"] == ("trout", "budget")
    assert named["char"] == ("trout", "cosine")
    assert {"bear", "cub"} & set(named) and "river" not in named
    assert (made.aliases["cosine"] >= 0.8).all()
    assert ctx.counts["over_budget"] == 0 and ctx.counts["merged_for_budget"] == 2
    assert made.edges.height == 2  # fish eaten by bears, bears at the river


def test_a_budget_that_the_floor_forbids_is_missed_and_reported(consolidated):
    made, ctx = consolidated("budget=1")
    assert len(NAMES) - made.aliases.height == 3
    assert ctx.counts["over_budget"] == 2
    assert "3 entities remain, consolidation.budget is 1" in ctx.warnings[0]


def test_pruned_edges_are_tombstones_ids_stay_dense_and_empty_runs_vanish(consolidated):
    made, _ = consolidated("merge=false", "prune=frequency")
    assert made.tombstones.select("edge_id", "count", "reason").rows() == [(n, 1, "frequency") for n in (1, 2, 4)]
    assert made.edges.select("edge_id", "h", "r", "t").rows() == [(0, *EDGES[0]), (1, *EDGES[3])]
    expected = [(0, 0, "p0"), (1, 1, "p3"), (2, 1, "p5"), (3, 0, "p6"), (3, 1, "p7")]
    assert made.run_edges.select("run_id", "edge_id", "passage_id").rows() == expected
    assert made.edge_sources["edge_id"].to_list() == [0, 1, 1, 0, 1]
    made, _ = consolidated("merge=false", "prune=frequency", "min_mentions=9")
    assert (made.edges.height, made.run_edges.height, made.tombstones.height) == (0, 0, len(EDGES))
