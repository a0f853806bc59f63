"""What is said before an experiment runs: jobs, minutes, and how much a language model will read."""

from pathlib import Path

import polars as pl
import pytest
from tests.support.tracking_results import RESULTS, ran, record

from secateur.core.errors import SecateurError
from secateur.ecs.selection.pool import candidates, max_pairs, pooled
from secateur.planning import costs
from secateur.planning.costs import Cost, Estimate
from secateur.planning.plan import folder_overrides, variants
from secateur.stage.ledger import collect

ROOT = Path(__file__).parents[2]
LEDGER = RESULTS / "ledger/job_runs.parquet"
DIALOGUE = ROOT / "data/toy/dialogue"
TOY = {"toy", "tiny"}  # the data and the experiment that have been run
READ = {"score_candidates": 1}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project with results of an experiment `tiny`."""
    monkeypatch.chdir(tmp_path)
    ran()
    return tmp_path


SHIPPED = """machine: a reference machine
start: 2.5
rules:
  extract_triples: {seconds: 100.0}
  score_candidates: {seconds: 30.0, tokens: 6000, pairs: 60}
"""


@pytest.fixture
def shipped(project) -> Path:
    """Figures of a reference machine."""
    Path("costs.yaml").write_text(SHIPPED)
    return Path("costs.yaml")


def test_a_plan_takes_as_long_as_such_jobs_took(project):
    collect(RESULTS)
    estimate = Estimate({"extract_triples": 4, "consolidate": 2}, costs.measured_costs(LEDGER, TOY))
    assert (estimate.seconds, estimate.unknown) == (4.0, ["consolidate"])
    assert estimate.rows[0] == {
        "rule": "extract_triples",
        "jobs": 4,
        "CPU s each": 1.0,
        "CPU s": 4.0,
        "tokens": 20,  # five a job, as its record says
        "measured": "here",
    }
    nothing = dict.fromkeys(("CPU s each", "CPU s", "tokens", "measured"))
    assert estimate.rows[1] == {"rule": "consolidate", "jobs": 2} | nothing


def test_what_failed_says_nothing_of_how_long_it_takes(project):
    record("build_codebook", "results/toy/codebook", [], {}, failure="LoaderError: no such file", cpu_seconds=900.0)
    collect(RESULTS)
    assert "build_codebook" not in costs.measured_costs(LEDGER, TOY)


def test_reading_takes_as_long_as_there_are_pairs_where_their_number_is_known(project):
    record("score_candidates", "results/toy/statistics", [], {}, metrics={"pairs": 50}, cpu_seconds=10.0)
    collect(RESULTS)
    known = costs.measured_costs(LEDGER, TOY)
    assert known["score_candidates"] == Cost(10.0, 5.0, 50.0)
    assert Estimate({"score_candidates": 4}, known, 1000).seconds == pytest.approx(200.0)
    assert Estimate({"score_candidates": 4}, known).seconds == pytest.approx(40.0)


def test_where_this_machine_has_no_record_the_reference_machine_is_asked_and_named(project, shipped):
    collect(RESULTS)
    known = costs.known_costs(LEDGER, shipped, TOY)
    assert known["extract_triples"] == Cost(1.0, 5.0, start=2.5)
    estimate = Estimate({"extract_triples": 2, "score_candidates": 2, "index_peer": 1}, known, 120)
    assert estimate.seconds == (1.0 + 2.5) * 2 + 30.0 * 2 + 2.5 * 2  # 120 pairs are twice 60, in two jobs
    assert [row["measured"] for row in estimate.rows] == ["here", "on a reference machine with toy data", None]
    assert [row["tokens"] for row in estimate.rows] == [10, 12000, None]
    assert estimate.unknown == ["index_peer"]
    counts = {"extract_triples": 2, "score_candidates": 2}
    assert "1 of 2 rules measured on a reference machine" in Estimate(counts, known, 120).summary(2)
    assert "reference" not in Estimate({"extract_triples": 2}, known, 0).summary(2)


def test_jobs_on_the_data_at_hand_count_before_others_and_others_are_named(project, shipped):
    other = {"corpus": "large", "extractor": "openie", "shard": "0of1"}
    for n in range(3):
        record("extract_triples", f"results/large/{n}", [], {}, axes=other, cpu_seconds=1000.0 + n, experiment="big")
    record(
        "prepare_model", "results/models/smollm2", [], {}, axes={"lm": "smollm2"}, cpu_seconds=20.0, experiment="big"
    )
    collect(RESULTS)
    of = {
        name: costs.measured_costs(LEDGER, {name, experiment})
        for name, experiment in (("toy", "tiny"), ("large", "big"))
    }
    assert of["toy"]["extract_triples"] == Cost(1.0, 5.0)
    assert of["large"]["extract_triples"] == Cost(1001.0, 5.0)
    assert of["large"]["compare_variants"].measured == "here on other data"  # of another experiment
    assert of["toy"]["compare_variants"].measured == "here"
    assert of["toy"]["prepare_model"].measured == "here"  # whatever the data
    known = costs.known_costs(LEDGER, shipped, {"new"})
    counts = {"extract_triples": 1, "score_candidates": 1, "prepare_model": 1}
    summary = Estimate(counts, known, 60).summary(2)
    assert "1 of 3 rules measured here on other data and 1 of 3 rules measured on a reference machine" in summary
    assert summary.count("(larger data take longer)") == 1


def test_tokens_have_a_column_only_where_some_are_known(project):
    assert "tokens" not in Estimate({"consolidate": 1}, {"consolidate": Cost(60.0)}).rows[0]


def test_what_is_written_of_a_run_is_read_again(project):
    record("score_candidates", "results/toy/statistics", [], {}, metrics={"pairs": 50}, cpu_seconds=10.0)
    record("build_codebook", "results/other", [], {}, experiment="other", cpu_seconds=99.0)
    collect(RESULTS)
    Path("costs.yaml").write_text(costs.shipped_costs(LEDGER, "tiny", 24.0, "mine, 2 cores, 2026"))
    known = costs.known_costs(Path("none"), Path("costs.yaml"), TOY)
    assert known["score_candidates"] == Cost(
        10.0, 5, 50, start=2.0, measured=costs.REFERENCE
    )  # 24 s minus 14 s of five stages
    assert "build_codebook" not in known
    with pytest.raises(SecateurError, match=r"toys has not been run here\. Fix: make run EXPERIMENT=toys"):
        costs.shipped_costs(LEDGER, "toys", 1.0, "mine")


def test_the_shipped_figures_are_of_rules_that_there_are():
    known = costs.known_costs(Path("none"), ROOT / "data/costs.yaml", TOY)
    rules = {path.stem for path in (ROOT / "scripts").glob("*.py")}
    assert set(known) <= rules
    assert {"extract_triples", "score_candidates", "build_report"} <= set(known)
    assert all(cost.seconds > 0 and cost.start > 0 for cost in known.values())


def test_what_is_to_come_is_one_line():
    known = {"consolidate": Cost(60.0), "score_candidates": Cost(120.0, pairs=1000)}
    summary = Estimate({"consolidate": 2, "score_candidates": 1, "index_peer": 3}, known, 2000).summary(2)
    assert summary == (
        "6 jobs to run; about 6.0 minutes of one core, at least 3.0 on 2; cost unknown: index_peer; "
        "a language model reads at most 2,000 pairs of question and passage"
    )
    assert "minutes" not in Estimate({"index_peer": 3}, {}, 0).summary(2)
    assert "logs/score_candidates will tell" in Estimate(READ, known).summary(2)


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
    rankings = rankings.with_columns(value=-pl.col("rank"))
    nobody = pl.DataFrame(schema={"question_id": pl.String, "passage_id": pl.String, "value": pl.Float64})
    made = pooled(candidates(rankings, nobody, {"bm25": 1.0}, pool, aware), questions, texts, {"q1", "q3"}, draws, 7)
    most = max_pairs(questions, texts, {"q1", "q3"}, pool, aware, draws)
    assert made.height <= most <= 40 + 40 + 5
    if pool == 30:
        assert most == (30 + 6 + 4) + 30 + 5  # no more than a group has
    if (pool, draws) == (3, 0):
        assert most == (3 + 2 + 4) + 3 + 5


def pairs(experiment: str, counts: dict[str, int], *overrides: str, folder: Path | None = DIALOGUE) -> int | None:
    """The pairs that an experiment reads at most."""
    mine = (*overrides, *folder_overrides(folder))
    return costs.pairs_to_read(ROOT / "conf", variants(ROOT / "conf", experiment, mine), mine, counts)


def test_pairs_are_counted_in_a_folder_before_anything_runs(project):
    found = pairs("custom_dialogue", READ)
    questions = len((DIALOGUE / "questions.jsonl").read_text().splitlines())
    assert found == questions * (8 + 4 + 4 * 3)  # conf/ecs/quick: pool, pool_aware, draws + 1 of each quartile
    assert pairs("custom_dialogue", READ, "ecs.pool=10") == found + 2 * questions
    assert pairs("custom_dialogue@3", READ) == 3 * 24
    assert pairs("custom_dialogue", {"select_context": 1}) == 0


def test_of_shards_that_are_there_already_no_pair_is_counted(project):
    whole, rest = (pairs("custom_dialogue", {"score_candidates": n}, "ecs.shards=4") for n in (4, 1))
    assert rest == whole / 4


def test_pairs_of_what_is_not_fetched_or_not_readable_are_not_known(project):
    assert pairs("locomo", {"score_candidates": 4}, folder=None) is None
    Path("passages.jsonl").write_text('{"id": \n')
    assert pairs("custom_dialogue", READ, folder=Path()) is None


def test_money_is_said_at_stated_prices_alone():
    known = {"consolidate": costs.Cost(1800.0), "answer_questions": costs.Cost(900.0, tokens=250_000)}
    counts = {"consolidate": 1, "answer_questions": 2}
    estimate = Estimate(counts, known)
    assert estimate.money(None, None) == ""
    assert estimate.money(0.5, None) == "0.50 for 1.00 hours of one core"
    assert estimate.money(None, 2.0) == "1.00 for 500,000 tokens, if an endpoint reads them"
