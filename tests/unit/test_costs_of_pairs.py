"""How many pairs of question and passage a language model reads, said before anything runs."""

import math
from pathlib import Path

import polars as pl
import pytest
from tests.support.project import in_folder

from secateur.ecs.selection.pool import candidates, max_pairs, pooled
from secateur.planning import pace
from secateur.planning.plan import variants
from secateur.planning.sizes import Data

ROOT = Path(__file__).parents[2]
CONF, SHIPPED = ROOT / "conf", ROOT / "data/costs.yaml"
DIALOGUE = ROOT / "data/toy/dialogue"


@pytest.fixture
def empty_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


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
    rankings = rankings.with_columns(value=-pl.col("rank"))
    nobody = pl.DataFrame(schema={"question_id": pl.String, "passage_id": pl.String, "value": pl.Float64})
    made = pooled(candidates(rankings, nobody, {"bm25": 1.0}, pool, aware), questions, texts, {"q1", "q3"}, draws, 7)
    most = max_pairs(questions, texts, {"q1", "q3"}, pool, aware, draws)
    assert made.height <= most <= 40 + 40 + 5
    assert max_pairs(questions, texts, {"q1", "q3"}, None, 0, draws) == 40 + 40 + 5, "every passage of the group"
    if pool == 30:
        assert most == (30 + 6 + 4) + 30 + 5  # no more than a group has
    if (pool, draws) == (3, 0):
        assert most == (3 + 2 + 4) + 3 + 5


def pairs(experiment: str, *overrides: str, folder: Path | None = DIALOGUE) -> int | None:
    """The pairs that an experiment reads at most, before anything runs."""
    mine = (*overrides, *(in_folder(folder.resolve()) if folder else ()))
    planned = variants(CONF, experiment, mine)
    unprepared = {(v.corpus, None) for v in planned}
    counts = Data(CONF, mine, unprepared).pairs(planned).values()
    return math.ceil(sum(count["pairs"] for count in counts)) if all(counts) else None


def test_pairs_are_counted_in_a_folder_before_anything_runs(empty_folder):
    known = pairs("custom_dialogue")
    questions = len((DIALOGUE / "questions.jsonl").read_text().splitlines())
    assert known == questions * (8 + 4 + 4 * 3)  # conf/ecs/quick: pool, pool_aware, draws + 1 of each quartile
    mine = (*in_folder(DIALOGUE), "ecs.probes=[judge_factual,trajectory_base]")
    planned = variants(CONF, "custom_dialogue", mine)
    read = Data(CONF, mine, {(v.corpus, None) for v in planned}).pairs(planned).values()
    assert sum(count["probes"] for count in read) == questions * (8 + 4) * 2  # of ranked passages, not of drawn ones
    assert pairs("custom_dialogue", "ecs.pool=10") == known + 2 * questions
    assert pairs("custom_dialogue@3") == 3 * 24
    assert pairs("custom_dialogue", "ecs.shards=4") == known


def test_pairs_of_red_herrings_are_their_passages_and_the_random_ones(empty_folder, monkeypatch):
    monkeypatch.chdir(ROOT)  # the shipped data
    planned = variants(CONF, "red_herrings", ("experiment.datasets=[red_herrings]",))
    ((record, read),) = Data(CONF, (), {(v.corpus, None) for v in planned}).pairs(planned).items()
    assert record.startswith("results/red_herrings/red_herrings/distractors/")
    assert read["pairs"] == 72 * (7 + 8)  # passages of each question, and conf/ecs: draws
    assert read["rivals"] > 2 * read["pairs"]  # words of a passage that could be a wrong answer
    mine = ("experiment.datasets=[red_herrings]", "rankers.scores={signed: {kind: signed}}")
    assert Data(CONF, mine, {(v.corpus, None) for v in planned}).pairs(planned)[record]["rivals"] == 0


def test_pairs_of_what_is_not_fetched_or_not_readable_are_not_known(empty_folder, monkeypatch):
    monkeypatch.delenv("SECATEUR_MIRROR", raising=False)
    assert pairs("locomo", folder=None) is None
    Path("passages.jsonl").write_text('{"id": \n')
    assert pairs("custom_dialogue", folder=Path()) is None


@pytest.mark.parametrize(("count", "measured"), [(7, 4.8), (28, 51)])
def test_the_comparison_of_systems_is_foretold_by_their_pairs(count, measured):
    """Seven and 28 systems of quickstart's figures took 4.8 and 44 to 58 CPU seconds where the pace was 2.96."""
    sizes = {"job": 1, "variants": 2 * count, "paired": count * (count - 1) // 2}
    foretold = pace.load_coefficients(SHIPPED).seconds("compare_variants", sizes) * 2.96
    assert 0.67 < foretold / measured < 1.5
