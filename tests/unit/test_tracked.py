"""How MLflow shows a run: its name, its digits, and the columns of an experiment's view."""

import json
from dataclasses import replace

from tests.support.tracking_results import HOME, figure, note, ran, shown, table, told

from secateur.stage import tracking
from secateur.stage.tracked import Run, view

SYSTEMS = ("beam", "hipporag2:controlled", "hipporag2:controlled+sent")


def test_runs_are_named_apart_in_the_characters_that_pages_show(client):
    ran()
    table("metrics", [figure("evidence_recall@claim", 0.5) | {"system": s} for s in SYSTEMS], f"{HOME}/metrics.parquet")
    note(*SYSTEMS)
    told()
    names = [run["name"] for run in shown(client, "tiny")]
    assert names == ["1 · hipporag2:controlled · toy", "2 · hipporag2:controlled+sent · toy", "beam · toy"]
    assert len({name[:20] for name in names}) == len(SYSTEMS)


def test_a_run_that_is_named_anew_bears_the_new_name(client):
    run = Run("tiny", "k", "one", 0, 1)
    for name in ("one", "two"):
        tracking.sync([replace(run, name=name)], client.tracking_uri)
        assert [made["name"] for made in shown(client, "tiny")] == [name]


def test_figures_have_three_significant_digits_and_counts_are_whole(client):
    ran(value=0.123456)
    told()
    (run,) = shown(client, "tiny")
    low_and_high = {"interval/evidence_recall_low": 0.0235, "interval/evidence_recall_high": 0.223}
    assert run["metrics"].items() >= ({"evidence_recall": 0.123, "peak_bytes": 100} | low_and_high).items()
    assert run["curve"] == [(64, 0.123), (128, 0.123)]


def test_the_view_of_an_experiment_has_columns_that_its_runs_fill(client):
    ran()
    told()
    for name, params in (("tiny", ["dataset", "data", "order"]), ("tiny.jobs", ["stage"])):
        state = json.loads(client.get_experiment_by_name(name).tags[tracking.VIEW_TAG])
        assert [c for c in state["selectedColumns"] if c.startswith("params")] == [f"params.`{p}`" for p in params]
        for column in state["selectedColumns"]:
            group, _, key = column.partition(".")
            assert all(key.strip("`") in run[group] for run in shown(client, name))
        assert state["orderByKey"] in state["selectedColumns"]
    assert view([Run("tiny", "k", "r", 0, 1)])  # a run without figures
    documents = [Run("tiny", f"k{n}", "r", 0, 1, metrics=[("evidence_recall", 0.5, 0)]) for n in range(3)]
    dialogue = Run("tiny", "k9", "r", 0, 1, metrics=[("f1_at_gold", 0.5, 0), ("rouge_l", 0.5, 0)])
    columns = set(json.loads(view([*documents, dialogue]))["selectedColumns"])  # of every run a figure
    assert columns >= {"metrics.`evidence_recall`", "metrics.`f1_at_gold`"}
