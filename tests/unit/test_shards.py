"""Parts of a table that several jobs make: together they are the whole, to the byte."""

import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import build_codebook, rank_passages

from secateur.config import compose
from secateur.core.shards import part_of, questions_of
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.stage.contract import Context, Inputs, Outputs

CONF = Path(__file__).parents[2] / "conf"
GROUPS = ["g", "h", "g", "h", "g", "i", "g"]  # of questions: a group is split, and the order of questions mixes groups
CODEBOOK = ("entities", "relations", "edges", "lines", "edge_sources")


class Lengths:
    """Stands for an embedder: a vector is a function of its string alone."""

    def __init__(self, cfg, *_) -> None:
        self.cfg, self.cache = SimpleNamespace(dim=2), SimpleNamespace(hits=0, misses=0)

    def embed(self, texts) -> np.ndarray:
        angles = np.array([sum(map(ord, text)) for text in texts], float)
        return np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)

    embed_tokens = embed

    def tell_split(self, *_) -> None:
        """Counts nothing."""


def questions() -> pl.DataFrame:
    named = [{"question_id": f"q{n}", "group_id": group, "position": n} for n, group in enumerate(GROUPS)]
    own = {"dataset": "toy", "text": "where do salmon swim?", "cluster_id": "c", "split": "test"}
    known = TABLES["questions"].columns
    return TABLES["questions"].frame([{k: v for k, v in (own | row).items() if k in known} for row in named])


def passages() -> pl.DataFrame:
    rows = [(f"p{n}", f"d{n // 2}", "ghi"[n % 3], n, f"Salmon {n} swim upstream{'!' * n}") for n in range(9)]
    names = ("passage_id", "doc_id", "group_id", "position", "text")
    return TABLES["passages"].frame([dict(zip(names, row, strict=True)) for row in rows])


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_every_question_is_in_one_shard_and_few_groups_are_split(count):
    parts = [questions_of(questions(), f"{n}of{count}") for n in range(count)]
    assert pl.concat(parts).equals(questions_of(questions(), ""))
    assert sorted(pl.concat(parts)["question_id"]) == sorted(questions()["question_id"])
    split = sum(part["group_id"].n_unique() for part in parts) - len(set(GROUPS))
    assert split <= count - 1


def stage_run(script, cfg, inputs: Inputs, folder: Path, names, part: str) -> dict[str, Path]:
    """Files of a stage's tables."""
    paths = {name: folder / part.removeprefix("/") / f"{name}.parquet" for name in names}
    outputs = Outputs(paths)
    ctx = Context(logging.getLogger("test"), folder, {"part": part, "dataset": "toy"}, "code")
    script.run(cfg, inputs, outputs, ctx)
    outputs.commit()
    return paths


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("stage", ["rankings", "codebook"])
def test_joined_parts_have_the_bytes_of_one_job(tmp_path, monkeypatch, stage, count):
    if stage == "rankings":
        monkeypatch.setattr("secateur.ranking.rank.Embedder", Lengths)
        script, names, tables = rank_passages, ("rankings",), {"passages": passages(), "questions": questions()}
        own = {"dataset": SimpleNamespace(unanswerable=()), "eval": SimpleNamespace(seed=3), "embedder": None}
        cfg = SimpleNamespace(rankers=compose.option(CONF, "rankers", "sentences", ()), **own)
    else:
        monkeypatch.setattr(build_codebook, "Embedder", Lengths)
        script, names, cfg = build_codebook, CODEBOOK, SimpleNamespace(embedder=None)
        said = [{"head": f"salmon {n % 4}", "relation": f"swims {n % 3}", "tail": f"river {n}"} for n in range(9)]
        rows = [
            {"doc_id": f"d{n // 2}", "position": n, "n": 0, "passage_id": f"p{n}", "resolved": False}
            | triple
            | {f"{name}_original": text for name, text in triple.items()}
            for n, triple in enumerate(said)
        ]
        tables = {"passages": passages(), "triples": TABLES["triples"].frame(rows)}
    for name, table in tables.items():
        write_table(TABLES[name], table, tmp_path / f"{name}.parquet")
    given = {name: [tmp_path / f"{name}.parquet"] for name in tables}
    whole = stage_run(script, cfg, Inputs(given), tmp_path / "whole", names, "")
    parts = [stage_run(script, cfg, Inputs(given), tmp_path / "parts", names, f"/{n}of{count}") for n in range(count)]
    joined = given | {name: [part[name] for part in parts] for name in names}
    together = stage_run(script, cfg, Inputs(joined), tmp_path / "joined", names, "")
    for name in names:
        assert together[name].read_bytes() == whole[name].read_bytes()
    assert part_of(9, f"0of{count}") != part_of(9, "")
