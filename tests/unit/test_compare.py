"""`secateur compare`: any two rows, paired by question under the settings of their experiment."""

from pathlib import Path

import pytest
from tests.support.report_rows import metric
from tests.support.tracking_results import table

from secateur.core.artifacts import file_digest, read_json, write_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.report.compare import compare, lines

EVAL = {"claim": [64], "gain_budgets": [64], "permutations": 1000, "permutations_at_floor": 0, "resamples": 200}
EVAL |= {"min_units": 2, "min_clusters": 2, "seed": 7}
AXES = {"ranker": "lexical:a", "reranker": "none", "form": "whole", "packing": "refill", "placement": "best_last"}
AXES |= {"reader": "r", "memory": "none"}
COUNT = 24


def question(n: int) -> dict:
    row = dict.fromkeys(TABLES["questions"].columns) | {"question_id": f"q{n}", "group_id": "g", "cluster_id": f"c{n}"}
    return row | {"position": n, "text": f"Question {n}?", "answer": "!", "type": str(n % 2), "split": "test"}


def experiment(root: Path, name: str, rows: dict[tuple, list[float]], types: dict | None = None, **axes: dict) -> None:
    """An experiment with rows (system, order, scorer) and their figures of each question."""
    home, metrics, variants, found = root / "results/experiments" / name, [], [], {}
    for (system, order, scorer), values in rows.items():
        listed = scorer is not None
        file = f"results/{name}/{system}-{None if listed else order}.parquet".replace(":", "_")
        of = {"order": order, "scorer": scorer, "answer_aware": False, "metric": "evidence_recall@64"}
        found.setdefault(file, []).extend(of | {"question_id": f"q{n}", "value": v} for n, v in enumerate(values))
        own = {"dataset": "toy", "system": system, "order": None if listed else order, "file": file}
        own |= {"axes": AXES | axes.get(system, {}), "listed": ":all" if listed else ""}
        variants += [own] if own not in variants else []
        of = {"scorer": scorer, "order": order, "n": COUNT, "units": COUNT}
        metrics += [metric(system, f"evidence_recall@{at}", sum(values) / COUNT, **of) for at in (64, "claim")]
    published = {"order": None, "published": True, "n": 99, "units": None}
    metrics.append(metric("paper:other", "evidence_recall@64", 0.25, **published))
    for file, figures in found.items():
        table("question_metrics", figures, root / file)
    asked, gold = (f"results/toy/toy/questions/{name}.parquet" for name in ("questions", "evidence"))
    table("questions", [question(n) for n in range(COUNT)], root / asked)
    table("evidence", [], root / gold)
    table("metrics", metrics, home / "metrics.parquet")
    config = {f"eval.{key}": value for key, value in EVAL.items()} | {"extra.variants": variants}
    config["extra.datasets"] = [{"name": "toy", "split": "test", "types": types or {}, "first": {}}]
    inputs = {file: file_digest(root / file) for file in (asked, gold, *found)}
    write_json(home / "run.json", {"config": config, "inputs": inputs, "overrides": ["ecs.tau=1"]})
    write_json(home / "report/run.json", {"config": {"eval.min_units": 10, "extra.variants": []}})


HIGH, LOW = [0.5 + n / 100 for n in range(COUNT)], [n / 100 for n in range(COUNT)]
ROWS = {
    ("ours", "blind", None): HIGH,
    ("ours", "aware", None): LOW,
    ("ours:dense", "blind", None): LOW,
    ("plain", "blind", None): LOW,
    ("walk", "blind", None): LOW,
    ("walk", "aware", None): LOW,
    ("rankers", "blind", "bm25"): LOW,
    ("rankers", "aware", "bm25+neighbour"): LOW,
}
OWN = {"ours": {"ranker": "graph:b"}, "ours:dense": {"ranker": "graph:b", "form": "dense", "packing": "stop"}}
OWN |= {"rankers": {"ranker": "lexical:all"}}


@pytest.fixture
def root(tmp_path) -> Path:
    experiment(tmp_path, "tiny", ROWS, **OWN)
    return tmp_path


def test_a_pair_has_its_difference_interval_p_sizes_and_what_it_differs_in(root):
    found = compare(root, "tiny", "ours", "plain")
    assert (found["metric"], found["order"], found["axes"]) == ("evidence_recall@claim", "blind", ["ranker"])
    assert found["difference"] == pytest.approx(0.5)
    assert found["low"] == pytest.approx(0.5)
    assert found["p"] < 0.05
    assert (found["n"], found["units"], found["verdict"]) == (COUNT, COUNT, "significant, unadjusted")
    said = "\n".join(lines(found))
    assert said.startswith("ours minus plain: evidence_recall@claim on toy, order-blind\n")
    assert "of this pair alone, unadjusted" in said
    assert "Warning" not in said


def test_a_pair_is_of_the_questions_that_finding_and_leaderboard_are_about(tmp_path):
    """Here ours is better on the even questions, which are of categories 1 to 4."""
    ours, plain = [1.0 - n % 2 for n in range(COUNT)], [n % 2 + 0.0 for n in range(COUNT)]
    rows = {("ours", "blind", None): ours, ("plain", "blind", None): plain}
    experiment(tmp_path, "tiny", rows, types={"cat1-4": ["0"]}, ours={"ranker": "graph:b"})
    found = compare(tmp_path, "tiny", "ours", "plain")
    assert (found["difference"], found["n"], found["subset"]) == (1.0, COUNT // 2, "cat1-4")
    assert lines(found)[4].endswith(", cat1-4")


def test_figures_that_another_run_has_written_since_are_refused(root):
    own, other = (root / f"results/tiny/{system}-blind.parquet" for system in ("ours", "plain"))
    own.write_bytes(other.read_bytes())
    with pytest.raises(SecateurError, match=r"ours-blind.parquet: not what tiny compared.*OVERRIDES=ecs.tau=1"):
        compare(root, "tiny", "ours", "plain")


def test_an_experiment_of_an_earlier_release_is_to_be_run_again(root):
    record = root / "results/experiments/tiny/run.json"
    old = read_json(record)
    del old["config"]["eval.permutations_at_floor"]
    write_json(record, old)
    with pytest.raises(SecateurError, match=r"tiny was compared by an earlier release\. Fix: make run EXPERIMENT=tiny"):
        compare(root, "tiny", "ours", "plain")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("plain", "rankers/bm25", {"verdict": "not significant", "order": "blind"}),  # equal rows
        ("ours", "walk", {"order": "blind", "verdict": "significant, unadjusted"}),  # blind, where both have both
        ("ours:dense", "ours", {"axes": ["form", "packing"]}),
        ("ours", "rankers/bm25", {"b": "rankers · bm25", "axes": ["ranker"]}),
        ("ours", "rankers · bm25", {"b": "rankers · bm25", "axes": ["ranker"]}),
        ("ours", "rankers/bm25+neighbour", {"order": "aware"}),  # the order that both have
    ],
)
def test_a_pair_is_named_in_either_spelling_and_told_with_its_order_and_the_axes_it_differs_in(root, a, b, expected):
    found = compare(root, "tiny", a, b, metric="evidence_recall@64")
    assert found["metric"] == "evidence_recall@64"
    assert {key: found[key] for key in expected} == expected
    assert ("Warning: the rows differ in 2 axes" in "\n".join(lines(found))) == (a == "ours:dense")


@pytest.mark.parametrize(("questions", "bounded"), [(3, False), (15, True)])
def test_under_so_many_units_or_questions_there_is_no_verdict_and_under_few_no_interval(tmp_path, questions, bounded):
    experiment(tmp_path, "tiny", {k: v[:questions] for k, v in ROWS.items()}, **OWN)
    found = compare(tmp_path, "tiny", "ours", "plain")
    assert (found["n"], found["units"], found["verdict"]) == (questions, questions, "not enough data")
    assert (found["p"] < 0.05) == (found["low"] is not None) == (found["high"] is not None) == bounded
    assert ("unbounded" in "\n".join(lines(found))) != bounded


def test_a_row_of_another_experiment_is_named_with_it(root):
    experiment(root, "other", {("ours", "blind", None): LOW}, **OWN)
    found = compare(root, "tiny", "ours", "other:ours")
    assert (found["a"], found["b"], found["difference"]) == ("tiny:ours", "other:ours", pytest.approx(0.5))
    assert found["axes"] == []


def test_a_published_row_has_a_difference_of_means_alone_and_says_so(root):
    found = compare(root, "tiny", "ours", "paper:other")
    assert found["difference"] == pytest.approx(sum(HIGH) / COUNT - 0.25)
    assert (found["p"], found["low"], found["published"]) == (None, None, True)
    said = "\n".join(lines(found))
    assert "paper:other (published)" in said
    assert f"{COUNT} (all) and 99 (all)" in said


@pytest.mark.parametrize(
    ("experiment", "args", "parts"),
    [
        ("tiny", ("ours", "plane"), ["row 'plane'", "rankers/NAME", "did you mean 'plain'?"]),
        ("tiny", ("ours", "rankers"), ["row 'rankers'", "rankers/bm25, rankers/bm25+neighbour"]),
        ("tiny", ("ours", "plain", "rouge_l"), ["metric 'rouge_l'", "evidence_recall@BUDGET, evidence_recall@claim"]),
        ("tiny", ("ours", "plain", None, "tory"), ["data set 'tory'", "allowed: toy", "did you mean 'toy'?"]),
        ("tiny", ("plain", "rankers/bm25+neighbour"), ["different orders are never paired: ", " is order-"]),
        ("tiny", ("ours", "plain", None, None, "aware"), ["different orders are never paired: ", " is order-"]),
        ("other", ("ours", "plain"), ["has not been run here. Fix: make run EXPERIMENT=other"]),
    ],
)
def test_what_cannot_be_compared_is_answered_with_what_is_allowed(root, experiment, args, parts):
    with pytest.raises(SecateurError) as error:
        compare(root, experiment, *args)
    assert [part for part in parts if part not in str(error.value)] == []
