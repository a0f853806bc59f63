"""What is said before an experiment runs: jobs, minutes, what they rest on, and how much a language model will read."""

import gzip
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.tracking_results import record, table

from secateur.planning import costs, pace
from secateur.planning.costs import Estimate, Foretold
from secateur.planning.pace import Coefficients, Paces, Ran
from secateur.planning.progress import Job
from secateur.planning.sizes import READ, Data

ROOT = Path(__file__).parents[2]
CONF, SHIPPED = ROOT / "conf", ROOT / "data/costs.yaml"
RESULTS = Path("results")
SCORING = "score_candidates"

NAMES = (
    *("job", "passages", "documents", "characters", "bytes", "unseen", "questions", "compared", "rankings"),
    *("requeries", "token_characters", *READ, "pairs", "rivals", "probes", "reread", "variants", "paired"),
)

RULES = {
    "extract_triples": {"job": 2.0, "characters": 0.01},
    "rank_passages": {"job": 1.0, "unseen": 0.001, "compared": 0.1},
    "score_candidates": {"job": 5.0, "pairs": 0.2, "probes": 0.1},
    "index_peer": {"characters": None},
    "judge_answers": {"answered": None},
}
TOKENS, DISK, MEMORY = {"score_candidates": {"pairs": 100.0}}, {"bytes": 96}, {"job": 1000, "passages": 10}
COEFFICIENTS = Coefficients("a reference machine", 0.5, RULES, TOKENS, DISK, MEMORY)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project, with options of its data sets."""
    monkeypatch.chdir(tmp_path)
    for group in ("dataset", "rankers"):
        shutil.copytree(CONF / group, f"conf/{group}")
    for name in ("toy", "small", "large"):
        Path(f"conf/dataset/{name}.yaml").write_text("defaults: [toy_documents, _self_]\n")
    return tmp_path


def data(name: str, passages: int, questions: int) -> None:
    """A data set on a corpus of its name, as it is prepared: passages of ten characters in two groups."""
    text, question = {"doc_id": "d", "text": "0123456789"}, {"group_id": "g0", "cluster_id": "d", "text": "Who?"}
    rows = [text | {"passage_id": str(n), "group_id": f"g{n % 2}", "position": n} for n in range(passages)]
    table("passages", rows, f"results/{name}/passages/passages.parquet")
    rows = [question | {"question_id": str(n), "position": n, "split": "test"} for n in range(questions)]
    table("questions", rows, f"results/{name}/{name}/questions/questions.parquet")
    table("evidence", [], f"results/{name}/{name}/questions/evidence.parquet")


def extracted(name: str, seconds: float, shard: str = "0of1", **changes) -> None:
    """The record of an extraction."""
    folder = f"results/{name}/triples/openie/{shard}"
    record("extract_triples", folder, [f"{folder}/triples.parquet"], {}, cpu_seconds=seconds, **changes)


def job(rule: str, folder: str) -> Job:
    return Job(rule, f"results/{folder}/run.json")


def estimated(*jobs: Job, coefficients: Coefficients = COEFFICIENTS) -> Estimate:
    return costs.estimate(jobs, pace.jobs_here(RESULTS), coefficients, Path("conf"), [])


def test_sizes_are_those_of_the_tables_that_a_job_reads(project):
    data("toy", 6, 4)
    whole = {"job": 1, "passages": 6, "documents": 1, "characters": 60, "bytes": 60}
    assert Data().sizes("results/toy/codebook/openie.minilm/run.json") == whole
    asked = {"questions": 4, "compared": 12}  # each question has the three passages of its group
    asked |= {"rankings": 4, "requeries": 0, "token_characters": 0, "reread": 0}
    assert Data().sizes("results/toy/toy/evidence/contexts/run.json") == whole | asked
    expected = {"job": 1, "passages": 2, "documents": 1 / 3, "characters": 20, "bytes": 20}
    assert Data().sizes("results/toy/triples/openie/0of3/run.json") == expected
    assert Data().sizes("results/models/smollm2/run.json") == {"job": 1}
    assert Data().sizes("results/other/codebook/openie.minilm/run.json") is None


@pytest.mark.parametrize(
    ("job", "size", "expected"),
    [
        ("contexts/lexical/minilm.sentences/all/none/text/default.smollm2", "rankings", 4 * 4 * 2),  # +neighbour, too
        ("contexts/lexical/minilm.sentences/zsum/none/text/default.smollm2", "rankings", 4),
        # two_step, named, the rest, with text; requery with edges, without, twice; second_look
        ("rankings/lexical/minilm.multihop", "requeries", 8 * 4),
        ("rankings/lexical/minilm.multihop", "token_characters", 0),
        ("rankings/lexical/minilm.multihop_standard", "token_characters", 60),  # late interaction
        ("rankings/lexical/minilm.sentences", "requeries", 0),
    ],
)
def test_rankings_that_a_job_reads_and_what_its_rankers_embed_are_counted(project, job, size, expected):
    data("toy", 6, 4)
    assert Data(Path("conf")).sizes(f"results/toy/toy/{job}/run.json")[size] == expected


def sizes(name: str, *overrides: str) -> dict | None:
    """Sizes of a data set that has not been prepared."""
    return Data(CONF, overrides, {(name, None)}).sizes(f"results/{name}/{name}/evidence/contexts/run.json")


def test_what_is_not_prepared_is_counted_in_the_files_that_are_here_and_unknown_without(project, monkeypatch):
    monkeypatch.delenv("SECATEUR_MIRROR", raising=False)
    assert sizes("musique") is None
    monkeypatch.setenv("SECATEUR_MIRROR", str(project))
    with gzip.open(project / "musique_train100.json.gz", "wt") as file:
        file.write("[]")
    assert sizes("musique") is None  # not the registered content
    assert not RESULTS.exists()
    monkeypatch.chdir(ROOT)  # the shipped data
    known = sizes("toy_documents")
    assert (known["passages"], known["questions"], known["answered"]) == (127, 51, 3)
    limited = Data(CONF, (), {("toy_documents", None)})
    assert limited.sizes("results/toy_documents/toy_documents@7/evidence/contexts/run.json")["questions"] == 7


def ran(rule: str, seconds: float, kind: str = "", **sizes: float) -> Ran:
    return Ran(rule, kind, seconds, {"job": 1, **sizes})


OPENIE = ran("extract_triples", 44.0, "triples/openie", characters=2000)
LLM = ran("extract_triples", 88.0, "triples/llm", characters=2000)
JUDGED = [ran("judge_answers", 30.0, answered=100), ran("judge_answers", 30.0, answered=200)]
PEERS = [ran("index_peer", 30.0, "peers/raptor", characters=100), ran("index_peer", 90.0, "peers/o", characters=100)]


@pytest.mark.parametrize(
    ("jobs", "rule", "kind", "expected"),
    [
        ([], "extract_triples", "", 1.0),  # the shipped coefficients
        ([], "index_peer", "", None),
        ([ran("extract_triples", 66.0, characters=2000)], "score_candidates", "", 3.0),  # the pace of the others
        # Jobs with the same options count before others of the rule.
        ([OPENIE, LLM], "extract_triples", "triples/openie", 2.0),
        ([OPENIE, LLM], "extract_triples", "triples/llm", 4.0),
        ([OPENIE, LLM], "extract_triples", "triples/rebel", 3.0),
        # A rule without coefficients is foretold by its own jobs, in CPU seconds for each question: of .3 and .15.
        (JUDGED, "judge_answers", "", 0.225),
        (JUDGED, "extract_triples", "", 1.0),  # these units are no reference seconds
        # One peer's time does not tell another's.
        (PEERS, "index_peer", "peers/raptor", 0.3),
        (PEERS, "index_peer", "peers/hipporag2", None),
    ],
)
def test_a_pace_is_that_of_the_nearest_jobs_here_else_the_shipped_one(jobs, rule, kind, expected):
    found = Paces(COEFFICIENTS, jobs).pace(rule, kind)
    assert found == (None if expected is None else pytest.approx(expected))
    assert Paces(COEFFICIENTS, jobs).ran(rule) == any(job.rule == rule for job in jobs)


PACES = st.floats(0.1, 10)
COUNTS = st.integers(1, 10**6)


@given(PACES, st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=5))
def test_jobs_that_follow_the_coefficients_are_foretold_exactly(factor, counted):
    jobs, reference = [], []
    for characters, compared in counted:
        sizes = {"job": 1, "unseen": characters, "compared": compared}
        reference.append(COEFFICIENTS.seconds("rank_passages", sizes))
        jobs.append(Ran("rank_passages", "kind", factor * reference[-1], sizes))
    paces = Paces(COEFFICIENTS, jobs)
    assert paces.pace("rank_passages", "kind") == pytest.approx(factor)
    assert paces.pace("score_candidates", "kind") == pytest.approx(factor)


def test_a_job_takes_the_time_of_jobs_here_scaled_by_what_it_reads(project):
    data("small", 200, 2)
    data("large", 1000, 2)
    extracted("small", 900.0, failure="LoaderError: no such file")
    assert pace.jobs_here(RESULTS) == []  # what failed says nothing of how long it takes
    extracted("small", 2 * (2.0 + 0.01 * 2000))  # twice the reference machine's time
    one, two = job("extract_triples", "large/triples/openie/0of2"), job("extract_triples", "large/triples/openie/1of2")
    estimate = estimated(one, two)
    assert estimate.seconds == pytest.approx(2 * 2 * (2.0 + 0.01 * 5000 + 0.5))
    assert [done.basis for done in estimate.jobs] == ["jobs that ran here"] * 2
    (row,) = estimate.rows
    assert (row["jobs"], row["rests on"]) == (2, "jobs that ran here")
    assert row["CPU s"] == pytest.approx(2 * row["CPU s each"]) == pytest.approx(estimate.seconds)
    assert "tokens" not in row


def test_the_first_job_of_a_rule_embeds_a_corpus_and_later_ones_read_the_cache(project):
    data("toy", 100, 2)
    for n in (1, 2):
        folder = f"results/toy/toy/rankings/lexical/minilm.list{n}"
        record("rank_passages", folder, [f"{folder}/rankings.parquet"], {}, finished=f"2026-01-0{n}T00:00:00+00:00")
    assert [done.sizes["unseen"] for done in pace.jobs_here(RESULTS)] == [1000, 0]
    rules = {"rank_passages": {"unseen": 0.1}}
    coefficients = Coefficients("", 0.0, rules, {}, {}, {})
    data("large", 1000, 2)
    jobs = [job("rank_passages", f"{name}/{name}/rankings/lexical/{n}") for name in ("toy", "large") for n in (1, 2)]
    foretold = costs.estimate(jobs, pace.jobs_here(RESULTS), coefficients, Path("conf"), [])
    seconds = [done.seconds for done in foretold.jobs]
    assert seconds[0] == seconds[1] == seconds[3] == 0 < seconds[2]


def test_a_record_counts_the_pairs_and_questions_that_a_language_model_read(project):
    data("toy", 10, 9)
    folder = "results/toy/toy/statistics/minilm.utility.smollm2.quick/0of3"
    metrics = {"pairs": 50, "questions": 3}
    record(SCORING, folder, [f"{folder}/statistics.parquet"], {}, metrics=metrics, cpu_seconds=30.0)
    (done,) = pace.jobs_here(RESULTS)
    assert (done.sizes["pairs"], done.sizes["answered"], done.tokens, done.experiment) == (50, 3, 5, "tiny")
    assert done.sizes["questions"] == 3  # a third of nine


def test_disk_is_of_all_corpora_that_are_embedded_and_memory_of_the_largest_and_a_small_machine_is_told(project):
    for name, passages in (("toy", 10), ("small", 3), ("large", 100)):
        data(name, passages, 1)
    jobs = [job("build_codebook", f"toy/codebook/a.b{part}") for part in ("", "/0of2", "/1of2")]
    jobs += [job("rank_passages", "small/small/rankings/lexical/minilm.sentences")]
    jobs += [job("assemble_contexts", "large/large/contexts")]
    estimate = estimated(*jobs)
    assert (estimate.disk, estimate.memory) == (96 * 130, 1100)
    assert "about 2.00 GB of disk, 1.5 GB of memory" in replace(estimate, disk=2e9, memory=1.5e9).summary(2)
    assert estimate.beyond(free=96 * 130, memory=1100) == []
    short = estimate.beyond(free=96 * 130 - 1, memory=1099)
    assert "of disk are free: too few" in short[0]
    assert "of memory: too few" in short[1]
    assert "disk" not in estimated(jobs[-1]).summary(2)


def test_a_job_that_joins_the_shards_of_its_rule_reads_nothing_and_tells_no_pace(project):
    data("toy", 1000, 2)
    for part in ("/0of2", "/1of2", ""):
        folder = f"results/toy/codebook/a.b{part}"
        record("build_codebook", folder, [f"{folder}/edges.parquet"], {}, cpu_seconds=7.0)
    assert len(pace.jobs_here(RESULTS)) == 2
    rules = {"build_codebook": {"job": 1.0, "characters": 0.01}}
    jobs = [job("build_codebook", f"toy/codebook/c.d{part}") for part in ("/0of2", "/1of2", "")]
    found = costs.estimate(jobs, [], Coefficients("", 0.0, rules, {}, {}, {}), Path("conf"), [])
    assert [done.seconds for done in found.jobs] == [51.0, 51.0, 1.0]


def test_what_the_times_rest_on_is_counted_and_what_is_unknown_is_named(project):
    data("toy", 1000, 2)
    extracted("toy", 204.0)
    jobs = [job("extract_triples", f"toy/triples/openie/{n}of2") for n in (0, 1)]
    jobs += [job("rank_passages", "toy/toy/rankings/lexical/minilm.sentences")]
    jobs += [job("rank_passages", "elsewhere/elsewhere/rankings/lexical/minilm.sentences")]
    jobs += [job("index_peer", "toy/peers/hipporag.openie.minilm"), job("judge", "toy/toy/judged/a")]
    estimate = estimated(*jobs)
    said = estimate.summary(2)
    assert said.startswith("6 jobs to run; about 7.2 minutes of one core, at least 3.6 on 2, by jobs that ran here (2)")
    assert "2 jobs (no job of the rule ran here): index_peer, judge" in said
    assert "1 jobs (data not here yet): rank_passages" in said
    rows = {row["rule"]: row for row in estimate.rows}
    assert rows["rank_passages"]["rests on"] == "data not here yet (1) and shipped coefficients (1)"
    assert (rows["rank_passages"]["jobs"], rows["index_peer"]["CPU s"]) == (2, None)
    assert "minutes" not in estimated(jobs[-1]).summary(2)


def test_reading_is_foretold_by_pairs_and_costs_tokens():
    paces = Paces(COEFFICIENTS, [])
    known = costs._foretold(job(SCORING, "a/b/c/0of1"), {"job": 1, "pairs": 60, "probes": 10}, paces)
    assert known == Foretold(SCORING, 5.0 + 0.2 * 60 + 0.1 * 10 + 0.5, "shipped coefficients", 6000.0, known.record)
    unknown = costs._foretold(job(SCORING, "a/b/c/0of1"), {"job": 1}, paces)
    assert (unknown.seconds, unknown.basis) == (None, "data not here yet")
    assert "at most 2,000 pairs" in Estimate([known], 2000).summary(2)
    assert "logs/score_candidates will tell" in Estimate([unknown], None).summary(2)
    assert Estimate([known]).rows[0]["tokens"] == 6000


def test_every_rule_has_coefficients_of_sizes_that_there_are():
    shipped = pace.load_coefficients(SHIPPED)
    assert set(shipped.rules) == {path.stem for path in (ROOT / "scripts").glob("*.py")}
    assert {name for row in (*shipped.rules.values(), *shipped.tokens.values()) for name in row} <= set(NAMES)
    assert all(value is None or value >= 0 for row in shipped.rules.values() for value in row.values())
    assert shipped.start > 0
    assert all(map(shipped.measured, ("extract_triples", "score_candidates", "assemble_contexts", "build_report")))
