"""What a row costs: the stages behind it, by their records, and how the page shows that."""

import pytest
from tests.support.report_rows import metric

from secateur.core.tables.catalog import TABLES
from secateur.report.sections.cost import cost_parts
from secateur.stage.lineage import costs

FAMILIES = {"graph_zsum": "graph", "graph_zsum:dense": "graph", "rankers": "lexical"}
FAMILIES |= {"raptor": "peer", "read": "imported"}


def record(stage: str, seconds: float, gigabytes: float, inputs: list[str], **outputs: str) -> dict:
    """What the ledger looks at."""
    own = {"stage": stage, "cpu_seconds": seconds, "peak_bytes": int(gigabytes * 1e9), "failure": None}
    return own | {"inputs": dict.fromkeys(inputs, "digest"), "outputs": outputs}


GRAPH, CONTEXTS, FIGURES, GAIN, MODEL = (f"results/{n}" for n in ("graph", "contexts", "figures", "gain", "model"))
RECORDS = [
    record("extract_triples", 100, 2, ["data/passages.jsonl"], triples=GRAPH),
    record("assemble_contexts", 3, 1, [GRAPH], contexts=CONTEXTS),
    record("evaluate_contexts", 5, 0.5, [CONTEXTS], question_metrics=FIGURES),
    record("prepare_model", 40, 9, [], model=MODEL),
    record("measure_answer_gain", 200, 7, [CONTEXTS, MODEL], question_metrics=GAIN),
    record("train_policy", 1000, 50, ["results/elsewhere"], policy="results/other"),
]
ROW = {"dataset": "toy", "system": "graph_zsum", "order": "blind"}


def test_a_row_costs_all_stages_behind_it_and_its_contexts_those_behind_them():
    assert costs([ROW | {"files": [FIGURES, GAIN]}], RECORDS) == [
        ROW | {"cpu_seconds": 348, "peak_bytes": 9e9, "sent_cpu_seconds": 103, "sent_peak_bytes": 2e9}
    ]


def test_what_a_policy_chooses_by_is_part_of_what_it_sends():
    learnt = [
        record("train_policy", 20, 4, [CONTEXTS], policy="results/policy"),
        record("evaluate_policy", 1, 1, ["results/policy", CONTEXTS], question_metrics="results/utility"),
    ]
    (row,) = costs([ROW | {"files": ["results/utility"]}], [*RECORDS, *learnt])
    assert (row["sent_cpu_seconds"], row["cpu_seconds"], row["sent_peak_bytes"]) == (123, 124, 4e9)


@pytest.mark.parametrize("gone", range(3))
def test_a_row_of_which_a_record_is_gone_or_says_a_failure_has_no_cost(gone):
    kept = [one for n, one in enumerate(RECORDS) if n != gone]
    failed = [one | {"failure": "Error: no"} if n == gone else one for n, one in enumerate(RECORDS)]
    for found in (kept, failed):
        assert costs([ROW | {"files": [FIGURES]}], found) == []


def cost(system: str, seconds: float, dataset: str = "toy", order: str | None = "blind") -> dict:
    own = {"dataset": dataset, "system": system, "order": order, "cpu_seconds": seconds + 1000, "peak_bytes": 2e9}
    return own | {"sent_cpu_seconds": seconds, "sent_peak_bytes": 4.7e8}


def tokens(system: str, value: float, scorer: str | None = None) -> dict:
    return metric(system, "tokens@claim", value, scorer, n=40, units=40)


def shown(found: list[dict], rows: list[dict] = ()) -> list[dict]:
    metrics = TABLES["metrics"].frame(rows)
    return list(cost_parts("toy", metrics, found, FAMILIES))


def test_our_own_rows_stand_whole_systems_first_the_cheapest_first():
    found = [cost("graph_zsum:dense", 1.0), cost("graph_zsum", 20.04), cost("graph_zsum", 30.0, order="aware")]
    found += [cost("rankers", 2.5, order=None), cost("raptor", 9), cost("read", 1), cost("graph_zsum", 9, "other")]
    listed = [tokens("rankers", 228, "bm25"), tokens("rankers", 231, "zsum")]
    (part,) = shown(found, [*listed, tokens("graph_zsum", 230.4)])
    assert part["table"].texts() == [
        ["rankers", "2.5", "1,002.5", "0.47", "2.00", "228 to 231"],
        ["graph_zsum", "20.0", "1,020.0", "0.47", "2.00", "230"],
        ["graph_zsum, order-aware", "30.0", "1,030.0", "0.47", "2.00", ""],
        ["graph_zsum:dense", "1.0", "1,001.0", "0.47", "2.00", ""],
    ]
    for svg in part["figures"][0]:
        assert (svg.count("fill: var(--graph)"), svg.count("fill: var(--lexical)")) == (3, 1)  # a dot for each row
        assert "stroke-width: 2.5" not in svg  # and no interval
        assert "20.0 s, 0.47 GB" in svg
    assert "n = 40 questions" in part["note"]


def test_without_a_record_there_is_no_part_and_without_tokens_no_word_of_them():
    assert shown([]) == shown([cost("raptor", 9)]) == []
    (part,) = shown([cost("graph_zsum", 5)])
    assert "Tokens" not in part["note"]
