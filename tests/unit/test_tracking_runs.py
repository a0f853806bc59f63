"""What a run in MLflow is: of a system on a data set, of an experiment as it stood; and what an edit makes of it."""

import io
import json
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.support.tracking_results import (
    CONF,
    FIGURES,
    HOME,
    RESULTS,
    failed,
    figure,
    note,
    ran,
    rows,
    shown,
    table,
    told,
)

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import META, TableError
from secateur.report import tracking
from secateur.stage import ledger
from secateur.stage.ledger import records


def flipped(data: bytes) -> bytes:
    """A bit turned in the last page of the first column."""
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    place = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1
    return data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]


def test_a_system_on_a_data_set_is_a_run_with_its_figures_below_its_experiment(client):
    ran(top_k=100)
    assert told() == 2 + 4  # the experiment and a system; four jobs
    one, parent = shown(client, "tiny")
    assert one["name"] == "secateur · toy"
    assert one["below"] == parent["name"] == f"tiny · {parent['tags']['fingerprint'][:8]}"
    assert one["params"] == {"dataset": "toy", "system": "secateur", "order": "blind", "retriever.top_k": "100"}
    ends = {"evidence_recall": 0.5, "evidence_recall_low": 0.4, "evidence_recall_high": 0.6}
    assert one["metrics"] == ends | {"cpu_seconds": 3.0, "peak_bytes": 100} | {
        "by_budget/evidence_recall": 0.5,
        "by_budget/tokens": 90.0,
    }
    assert one["curve"] == [(64, 0.5), (128, 0.5)]
    assert one["artifacts"] == ["config.json", "figures.csv"]
    (data,) = one["data"]
    assert data[0] == "toy"
    assert parent["artifacts"] == ["metrics.parquet"]


def lists(name: str = "rankers") -> pl.DataFrame:
    """Figures of a list of scorers, one of which sees the answer."""
    scorers = {"bm25": (0.5, False), "zsum": (0.6, False), "zsum+answer": (0.9, True)}
    found = [
        figure("f1_at_gold", value, scorer) | {"system": name, "order": None, "answer_aware": aware}
        for scorer, (value, aware) in scorers.items()
    ]
    return pl.DataFrame(found, schema=TABLES["metrics"].empty().schema)


def test_scorers_of_a_list_are_rows_of_one_run_that_shows_the_best_that_sees_no_answer(client):
    ran()
    variants = [{"dataset": "toy", "system": "rankers", "order": None, "files": [FIGURES]}]
    (row,) = ledger.variant_runs("tiny", variants, lists(), records(RESULTS), CONF).to_dicts()
    assert json.loads(row["params"])["scorer"] == "zsum"
    assert ["f1_at_gold", 0.6, 0] in json.loads(row["metrics"])
    assert row["figures"].count("f1_at_gold") == 3


def test_what_is_learnt_about_a_system_stands_in_an_experiment_of_its_own(client):
    ran()
    table("metrics", [figure("policy_utility", 0.5)], f"{HOME}/metrics.parquet")
    note()
    told()
    assert rows(client) == []
    (one,) = shown(client, "tiny.policies")
    assert (one["name"], one["below"]) == ("secateur · toy", None)
    assert "policy_utility_low" in one["metrics"]


def test_an_experiment_opens_on_its_current_runs_with_columns_of_figures(client):
    ran()
    told()
    tags = client.get_experiment_by_name("tiny").tags
    view = json.loads(tags["mlflow.sharedViewState.secateur"])
    assert view["selectedColumns"] == ["metrics.`evidence_recall`"]
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    told()
    home = client.get_experiment_by_name("tiny").experiment_id
    (one,) = client.search_runs([home], view["searchFilter"])
    assert one.data.params["retriever.top_k"] == "100"
    (name, link), *_ = tracking.links(client.tracking_uri, "http://here").items()
    assert (name, link) == ("tiny", f"http://here/#/experiments/{home}/runs?viewStateShareKey=secateur")


def test_a_system_that_an_experiment_no_longer_has_is_not_shown_as_current(client):
    ran()
    found = pl.read_parquet(f"{HOME}/metrics.parquet")
    other = found.with_columns(system=pl.lit("apr"))
    table("metrics", [*found.to_dicts(), *other.to_dicts()], f"{HOME}/metrics.parquet")
    note("secateur", "apr")
    told()
    assert {run["tags"]["secateur.state"] for run in rows(client)} == {"current"}
    ran(finished="2026-01-01T00:09:00+00:00")
    told()
    state = {run["tags"]["system"]: run["tags"]["secateur.state"] for run in rows(client)}
    assert state == {"secateur": "current", "apr": "superseded"}


def test_the_ledger_of_an_earlier_release_is_set_aside_and_tracking_goes_on(client):
    ran()
    told()
    path = RESULTS / ledger.FOLDER / "variant_runs.parquet"
    old = pq.read_table(path)
    name = b"secateur.table"
    old = old.replace_schema_metadata({name: old.schema.metadata[name].replace(b"@2:", b"@1:")})
    pq.write_table(old, path)
    assert told() == 0
    assert (RESULTS / ledger.FOLDER / "variant_runs.1.parquet").exists()
    assert pl.read_parquet(path).height == 1


def test_a_page_that_was_written_anew_reaches_mlflow_though_no_figure_changed(client):
    ran()
    page = Path(HOME) / "report.html"
    page.write_text("one")
    told()
    page.write_text("two")
    assert told() == 1
    (parent,) = (
        run for run in client.search_runs([client.get_experiment_by_name("tiny").experiment_id], "tags.systems = '1'")
    )
    assert Path(client.download_artifacts(parent.info.run_id, "report.html")).read_text() == "two"
    assert told() == 0


def test_what_was_not_changed_stays_and_belongs_to_the_experiment_as_it_is_now(client):
    ran()
    told()
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    told()
    found = {run["params"].get("retriever.top_k"): run["below"] for run in rows(client)}
    assert len(set(found.values())) == 2  # the old one stays with the experiment as it was


def test_a_setting_as_the_option_file_has_it_is_no_param(client):
    ran(top_k=200)
    told()
    assert all("retriever.top_k" not in run["params"] for run in rows(client))


def test_shards_add_up_and_their_memory_does_not(client):
    ran()
    told()
    (one,) = rows(client)
    assert one["metrics"]["cpu_seconds"] == 3.0  # two shards and a measurement; the comparison is all rows' together
    assert one["metrics"]["peak_bytes"] == 100


def test_telling_again_changes_nothing(client):
    ran()
    failed()
    told()
    before = {name: shown(client, name) for name in ("tiny", "tiny.jobs")}
    files = {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*.parquet")}
    assert told() == 0
    assert {name: shown(client, name) for name in before} == before
    assert {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*.parquet")} == files


def test_an_edit_makes_a_new_run_and_says_so_on_the_old_one(client):
    ran()
    told()
    ran(top_k=100, value=0.7, finished="2026-01-01T00:02:00+00:00")
    told()
    runs = {run["metrics"]["evidence_recall"]: run for run in rows(client)}
    assert set(runs) == {0.5, 0.7}
    assert runs[0.5]["tags"]["superseded_by"] == runs[0.7]["tags"]["fingerprint"]
    assert "superseded_by" not in runs[0.7]["tags"]


def test_an_edit_taken_back_makes_the_old_run_the_current_one(client):
    for top_k in (200, 100, 200):
        ran(top_k=top_k)
        told()
    runs = rows(client)
    assert len(runs) == 2
    (old,) = (run for run in runs if "superseded_by" in run["tags"])
    assert old["params"]["retriever.top_k"] == "100"


def test_the_same_settings_run_again_renew_the_run(client):
    ran(value=0.5)
    told()
    ran(value=0.25, finished="2026-01-01T00:09:00+00:00")
    assert told() == 2 + 2  # two stages ended later
    (one,) = rows(client)
    assert one["metrics"]["evidence_recall"] == 0.25


@pytest.mark.parametrize(
    "harm", [lambda data: data[: len(data) // 2], lambda data: b"", flipped], ids=["cut", "empty", "bit"]
)
@pytest.mark.parametrize("name", ["variant_runs", "job_runs"])
def test_a_damaged_ledger_is_named_and_left_and_begins_anew_once_it_is_moved_away(client, name, harm):
    ran(top_k=100)
    told()
    path = RESULTS / ledger.FOLDER / f"{name}.parquet"
    whole = path.read_bytes()
    path.write_bytes(harm(whole))
    with pytest.raises(
        TableError, match=rf"{name}\.parquet: cannot be read \(.*no stage rebuilds it.*Fix: move it away"
    ):
        ledger.collect(RESULTS)
    assert path.read_bytes() == harm(whole)
    path.rename(path.with_name("aside.parquet"))
    ledger.collect(RESULTS)
    assert path.exists()


def test_a_ledger_of_a_later_release_is_left_and_no_stage_is_asked_for_it(client):
    ran(top_k=100)
    told()
    path = RESULTS / ledger.FOLDER / "job_runs.parquet"
    later = pq.read_table(path)
    identity = later.schema.metadata[META].decode()
    name, _, rest = identity.partition("@")
    newer = f"{name}@{int(rest.partition(':')[0]) + 1}:{rest.partition(':')[2]}"
    pq.write_table(later.replace_schema_metadata({**later.schema.metadata, META: newer.encode()}), path)
    with pytest.raises(TableError) as found:
        ledger.collect(RESULTS)
    assert f"holds {newer}" in str(found.value)
    assert str(found.value).count("Fix: ") == str(found.value).count(str(path)) == 1
    assert path.exists()
