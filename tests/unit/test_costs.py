"""What is said before an experiment runs: jobs, minutes, and how much a language model will read."""

from pathlib import Path

import polars as pl
import pytest
from tracking_results import RESULTS, ran, record

from secateur.ecs.selection.foreseen import pairs_at_most
from secateur.ecs.selection.pool import candidates, pooled
from secateur.pipeline import costs
from secateur.pipeline.costs import Cost
from secateur.pipeline.ledger import collect

ROOT = Path(__file__).parents[2]
LEDGER = RESULTS / "ledger/job_runs.parquet"
DIALOGUE = ROOT / "data/toy/dialogue"
READ = {"score_candidates": 1}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project with results of an experiment `tiny`."""
    monkeypatch.chdir(tmp_path)
    ran()
    return tmp_path


def test_a_plan_takes_as_long_as_such_jobs_took(project):
    collect(RESULTS)
    rows, seconds, unknown = costs.estimate({"extract_triples": 4, "consolidate": 2}, costs.taken(LEDGER))
    assert (seconds, unknown) == (4.0, ["consolidate"])
    assert rows[0] == {"rule": "extract_triples", "jobs": 4, "CPU s each": 1.0, "CPU s": 4.0}
    assert rows[1]["CPU s"] is None


def test_what_failed_says_nothing_of_how_long_it_takes(project):
    record("build_codebook", "results/toy/codebook", [], {}, failure="LoaderError: no such file", cpu_seconds=900.0)
    collect(RESULTS)
    assert "build_codebook" not in costs.taken(LEDGER)


def test_reading_takes_as_long_as_there_are_pairs_where_their_number_is_known(project):
    record("score_candidates", "results/toy/statistics", [], {}, metrics={"pairs": 50}, cpu_seconds=10.0)
    collect(RESULTS)
    known = costs.taken(LEDGER)
    assert known["score_candidates"] == Cost(10.0, 0.2)
    assert costs.estimate({"score_candidates": 4}, known, 1000)[1] == pytest.approx(200.0)
    assert costs.estimate({"score_candidates": 4}, known, None)[1] == pytest.approx(40.0)


def test_what_is_to_come_is_one_line():
    known = {"consolidate": Cost(60.0), "score_candidates": Cost(10.0, 0.12)}
    said = costs.foretold({"consolidate": 2, "score_candidates": 1, "index_peer": 3}, known, 2000, 2)
    assert said == (
        "6 jobs to run; about 6.0 minutes of one core, 3.0 on 2 at best; without an earlier record, not counted: "
        "index_peer; a language model reads 2,000 pairs of question and passage at most"
    )
    assert "minutes" not in costs.foretold({"index_peer": 3}, {}, 0, 2)
    assert "logs/score_candidates will say" in costs.foretold(READ, known, None, 2)


# --- pairs ---------------------------------------------------------------------------------------


def passages(sizes: dict[str, int]) -> pl.DataFrame:
    rows = [(f"{group}{n}", group, 10 + n) for group, size in sizes.items() for n in range(size)]
    return pl.DataFrame(rows, schema=["passage_id", "group_id", "tokens"], orient="row")


@pytest.mark.parametrize(("pool", "aware", "draws"), [(3, 2, 0), (3, 0, 1), (30, 6, 2), (1, 1, 8)])
def test_no_pool_is_larger_than_was_said(pool, aware, draws):
    texts, names = passages({"a": 40, "b": 5}), ("q1", "q2", "q3")
    questions = pl.DataFrame({"question_id": names, "group_id": ["a", "a", "b"], "answer": ["x", None, "y"]})
    rows = []  # by chance the drawn ones are among the ranked ones, or not: the worst case is that none is
    for question, group, answer in questions.iter_rows():
        own = texts.filter(group_id=group)["passage_id"].to_list()
        scorers = {"bm25": own} | ({"bm25+answer": own[::-1]} if answer else {})
        rows += [(question, scorer, n, p) for scorer, ranked in scorers.items() for n, p in enumerate(ranked)]
    rankings = pl.DataFrame(rows, schema=["question_id", "scorer", "rank", "passage_id"], orient="row")
    made = pooled(candidates(rankings, "bm25", pool, aware), questions, texts, {"q1", "q3"}, draws, 7)
    most = pairs_at_most(questions, texts, {"q1", "q3"}, pool, aware, draws)
    assert made.height <= most <= 40 + 40 + 5
    if pool == 30:
        assert most == (30 + 6 + 4) + 30 + 5  # no more than a group has
    if (pool, draws) == (3, 0):
        assert most == (3 + 2 + 4) + 3 + 5


def test_pairs_are_counted_in_a_folder_before_anything_runs(project):
    found = costs.pairs_to_read(ROOT / "conf", "custom_dialogue", (), DIALOGUE, READ)
    questions = len((DIALOGUE / "questions.jsonl").read_text().splitlines())
    assert found == questions * (8 + 4 + 4 * 3)  # conf/ecs/quick: pool, pool_aware, draws + 1 of each quartile
    assert (
        costs.pairs_to_read(ROOT / "conf", "custom_dialogue", ("ecs.pool=10",), DIALOGUE, READ) == found + 2 * questions
    )
    assert costs.pairs_to_read(ROOT / "conf", "custom_dialogue@3", (), DIALOGUE, READ) == 3 * 24
    assert costs.pairs_to_read(ROOT / "conf", "custom_dialogue", (), DIALOGUE, {"select_context": 1}) == 0


def test_of_shards_that_are_there_already_no_pair_is_counted(project):
    whole = costs.pairs_to_read(ROOT / "conf", "custom_dialogue", ("ecs.shards=4",), DIALOGUE, {"score_candidates": 4})
    rest = costs.pairs_to_read(ROOT / "conf", "custom_dialogue", ("ecs.shards=4",), DIALOGUE, {"score_candidates": 1})
    assert rest == whole / 4


def test_pairs_of_what_is_not_fetched_or_not_readable_are_not_known(project):
    assert costs.pairs_to_read(ROOT / "conf", "locomo", (), None, {"score_candidates": 4}) is None
    Path("passages.jsonl").write_text('{"id": \n')
    assert costs.pairs_to_read(ROOT / "conf", "custom_dialogue", (), Path(), READ) is None
