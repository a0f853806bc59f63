"""The published and the known LoCoMo rows come out of the baselines, on the real data."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from secateur.datasets.fetch import fetch
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.registry import load_registry
from secateur.evaluation.evidence import f1_at_gold
from secateur.evaluation.subsets import members
from secateur.pipeline.config import compose
from secateur.ranking.rank import rank

ROOT = Path(__file__).parents[2]
MIRROR = os.environ.get("SECATEUR_MIRROR")
pytestmark = pytest.mark.skipif(not MIRROR, reason="SECATEUR_MIRROR names no folder with the real data sets")

ROWS = [  # scorer, subset, F1 at gold size
    ("recency", "all", 0.0004),
    ("tfidf", "all", 0.2473),
    ("tfidf", "cat1-4", 0.2397),
    ("tfidf", "F20", 0.1480),
    ("tfidf_question", "F20", 0.1542),
    ("bm25_k1.5_b0.75", "all", 0.3079),
    ("bm25_k1.5_b0.75", "F20", 0.2605),
    ("bm25_k0.9_b0.4", "cat1-4", 0.3585),
    ("bm25_k0.9_b0.4", "F20", 0.3185),
    ("bm25_k0.9_b0", "all", 0.3755),
    ("bm25_k0.9_b0", "cat1-4", 0.3715),
    ("bm25_k0.9_b0", "F20", 0.3442),
    ("tfidf+answer", "cat1-4", 0.5341),
    ("tfidf+answer", "F20", 0.3027),
    ("bm25_k0.9_b0.4+answer", "cat1-4", 0.6350),
    ("bm25_k0.9_b0.4+answer", "F20", 0.4903),
]
TOLERANCE = 0.002


@pytest.fixture(scope="module")
def f1(tmp_path_factory):
    """(scorer, subset) -> mean F1, for the scorers that need no model."""
    folder = tmp_path_factory.mktemp("locomo")
    fetch(load_registry(ROOT / "data/registry")["locomo10.json"], folder / "locomo10.json", Path(MIRROR))
    files = {"conversations": folder / "locomo10.json"}
    passages = load_corpus("locomo", files).passages
    found = load_questions("locomo", "locomo", files, passages)
    conf = ROOT / "conf"
    dataset, scorer = compose.option(conf, "dataset", "locomo"), compose.option(conf, "scorer", "turns")
    lexical = {name: spec for name, spec in scorer.scorers.items() if spec["kind"] not in ("dense", "zsum")}
    cfg = SimpleNamespace(
        scorer=SimpleNamespace(scorers=lexical, suffixes=("+answer",), neighbour=scorer.neighbour, keep=scorer.keep),
        dataset=dataset,
        embedder=compose.option(conf, "embedder", "minilm"),
        eval=SimpleNamespace(seed=7),
    )
    ctx = SimpleNamespace(cache=folder, log=None, counts={}, warn=print, progress=lambda work, total, what: work)
    ranked = rank(cfg, passages, found.questions, ctx).sort("question_id", "scorer", "rank")
    gold = found.evidence.drop_nulls("passage_id").group_by("question_id").agg("passage_id")
    wanted = dict(gold.iter_rows())
    spec = {"types": dataset.types, "first": dataset.first}
    subsets = members(found.questions, found.evidence, spec)
    scores: dict[tuple[str, str], list[float]] = {}
    for qid, name, ids in ranked.group_by("question_id", "scorer").agg("passage_id").iter_rows():
        if qid in wanted:
            value = f1_at_gold(ids[: len(wanted[qid])], wanted[qid])
            for subset in (s for s, own in subsets.items() if qid in own):
                scores.setdefault((name, subset), []).append(value)
    return {key: float(np.mean(values)) for key, values in scores.items()}


@pytest.mark.parametrize(("scorer", "subset", "value"), ROWS)
def test_a_known_locomo_row_comes_out(f1, scorer, subset, value):
    assert f1[scorer, subset] == pytest.approx(value, abs=TOLERANCE)
