"""MLflow on a SQLite store: what a run shows, what an edit makes of it, and upsert."""

import importlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest
from filelock import FileLock
from tests.support.refusals import message
from tests.support.tracking_results import HOME, RESULTS, failed, figure, note, ran, record, shown, table, told

from secateur.core.errors import SecateurError
from secateur.stage import ledger, tracking
from secateur.stage.ledger import collect
from secateur.stage.tracked import Run, mlflow_name, runs_of, view

LATER = "2026-01-01T00:02:00+00:00"
VARIANTS, JOBS = 1, 4  # runs of each that `ran` leaves


def all_shown(client) -> list[list[dict]]:
    """What MLflow shows of variants, and of jobs."""
    return [shown(client, name) for name in ("tiny", "tiny.jobs")]


def test_a_variant_is_a_run_with_its_settings_and_figures_of_three_digits_and_a_job_has_its_tables(client):
    ran(top_k=100, value=0.123456)
    assert told() == VARIANTS + JOBS
    (run,) = shown(client, "tiny")
    assert run["name"] == "graph_zsum · toy"
    settings = {"dataset": "toy", "system": "graph_zsum", "order": "blind", "data": "documents"}
    assert run["params"] == settings | {"retriever.top_k": "100"}
    intervals = {"interval/evidence_recall_low": 0.0235, "interval/evidence_recall_high": 0.223}
    budgets = {"evidence_recall": 0.123, "evidence_recall/by_budget": 0.123, "tokens/by_budget": 90.0}
    costs = {"cpu_seconds": 3.0, "peak_bytes": 100}  # two shards and an evaluation: seconds summed, memory maximised
    assert run["metrics"] == intervals | budgets | costs
    assert run["curve"] == [(64, 0.123), (128, 0.123)]
    assert run["artifacts"] == ["config.json", "figures.csv"]
    (compared,) = (run for run in shown(client, "tiny.jobs") if run["params"]["stage"] == "compare_variants")
    assert compared["artifacts"] == ["metrics.parquet", "record.json"]
    client.create_experiment("somebody's own")
    assert tracking.experiments(client.tracking_uri) == {"tiny": client.get_experiment_by_name("tiny").experiment_id}
    client.delete_experiment(client.get_experiment_by_name("tiny").experiment_id)
    told()  # a deleted experiment is restored
    assert len(shown(client, "tiny")) == VARIANTS


def test_a_failed_job_is_shown_and_stays_when_it_succeeds_later(client):
    failed("LoaderError: no such file")
    told()
    (run,) = shown(client, "tiny.jobs")
    assert (run["status"], run["tags"]["failure"]) == ("FAILED", "LoaderError: no such file")
    Path("results/toy/codebook/failure.json").unlink()
    record("build_codebook", "results/toy/codebook", [], {})
    told()
    assert sorted(run["status"] for run in shown(client, "tiny.jobs")) == ["FAILED", "FINISHED"]


def test_an_experiment_shows_the_jobs_behind_its_results_whoever_started_them(client):
    ran()
    path = Path("results/toy/triples/openie/0of2/run.json")
    path.write_text(path.read_text().replace('"tiny"', '"another"'))
    failed(experiment="another")
    told()
    own, others = (sorted(r["params"]["stage"] for r in shown(client, f"{e}.jobs")) for e in ("tiny", "another"))
    assert own == ["compare_variants", "evaluate_contexts", "extract_triples", "extract_triples"]
    assert others == ["build_codebook", "extract_triples"]


def test_many_and_odd_metrics_and_many_params_are_logged_in_characters_that_mlflow_takes(client):
    metrics = [(f"m{n}", float(n), 0) for n in range(1900)] + [("nan", float("nan"), 0), ("up", float("inf"), 0)]
    params = {f"p{n}": "x" for n in range(170)}
    run = Run("big", "k", "big", 0, 1, params=params, metrics=metrics, tags={"a": "b"})
    assert tracking.sync([run], client.tracking_uri) == 1
    (logged,) = shown(client, "big")
    assert (len(logged["metrics"]), len(logged["params"])) == (1902, 170)
    assert tracking.sync([run], client.tracking_uri) == 0
    assert mlflow_name("tau kl_first@null") == "tau kl_first_at_null"
    assert mlflow_name("sum(bm25+answer,js)") == "sum_bm25_with_answer_js_"
    RESULTS.mkdir()
    assert tracking.track(RESULTS)[:2] == (0, 0)  # without results nothing is written


def test_runs_are_named_apart_in_the_characters_that_pages_show(client):
    ran()
    systems = ("beam", "hipporag2:controlled", "hipporag2:controlled+sent")
    table("metrics", [figure("evidence_recall@claim", 0.5) | {"system": s} for s in systems], f"{HOME}/metrics.parquet")
    note(*systems)
    told()
    names = [run["name"] for run in shown(client, "tiny")]
    assert names == ["1 · hipporag2:controlled · toy", "2 · hipporag2:controlled+sent · toy", "beam · toy"]
    assert len({name[:20] for name in names}) == len(systems)


def test_a_run_that_is_named_anew_bears_the_new_name(client):
    run = Run("tiny", "k", "one", 0, 1)
    for name in ("one", "two"):
        tracking.sync([replace(run, name=name)], client.tracking_uri)
        assert [made["name"] for made in shown(client, "tiny")] == [name]


def test_the_view_of_an_experiment_has_columns_that_its_runs_fill(client):
    ran()
    told()
    for name, param in (("tiny", "dataset"), ("tiny.jobs", "stage")):
        state = json.loads(client.get_experiment_by_name(name).tags[tracking.VIEW_TAG])
        assert f"params.`{param}`" in state["selectedColumns"]
        for column in state["selectedColumns"]:
            group, _, key = column.partition(".")
            assert all(key.strip("`") in run[group] for run in shown(client, name))
        assert state["orderByKey"] in state["selectedColumns"]
    assert view([Run("tiny", "k", "r", 0, 1)])  # a run without figures
    documents = [Run("tiny", f"k{n}", "r", 0, 1, metrics=[("evidence_recall", 0.5, 0)]) for n in range(3)]
    dialogue = Run("tiny", "k9", "r", 0, 1, metrics=[("f1_at_gold", 0.5, 0), ("rouge_l", 0.5, 0)])
    columns = set(json.loads(view([*documents, dialogue]))["selectedColumns"])  # of every run a figure
    assert columns >= {"metrics.`evidence_recall`", "metrics.`f1_at_gold`"}


def test_tracking_again_changes_nothing(client):
    ran()
    failed()
    told()
    before = all_shown(client)
    files = {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*.parquet")}
    assert told() == 0
    assert all_shown(client) == before
    assert {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*.parquet")} == files


def test_an_edit_makes_a_new_run_and_tags_the_old_one_which_an_edit_taken_back_makes_current(client, monkeypatch):
    ran()
    told()
    assert all("retriever.top_k" not in run["params"] for run in shown(client, "tiny"))  # as the option file has it
    texts, log_text = [], type(client).log_text
    monkeypatch.setattr(type(client), "log_text", lambda *given: (texts.append(given[-1]), log_text(*given)))
    ran(top_k=100, value=0.7, finished=LATER)
    assert told() == 1 + 1 + 2  # the new run, the tags of the old one, two jobs
    assert sorted(texts) == ["config.json", "figures.csv", "record.json", "record.json"]
    runs = {run["metrics"]["evidence_recall"]: run["tags"] for run in shown(client, "tiny")}
    assert set(runs) == {0.5, 0.7}
    assert runs[0.5]["superseded_by"] == runs[0.7]["fingerprint"]
    assert "superseded_by" not in runs[0.7]
    (current,) = client.search_runs([client.get_experiment_by_name("tiny").experiment_id], tracking.CURRENT)
    assert current.data.params["retriever.top_k"] == "100"
    ran()
    told()
    (old,) = (run for run in shown(client, "tiny") if "superseded_by" in run["tags"])
    assert old["params"]["retriever.top_k"] == "100"
    assert len(shown(client, "tiny")) == 2


def test_the_same_settings_run_again_renew_the_run(client):
    ran(value=0.5)
    told()
    ran(value=0.25, finished="2026-01-01T00:09:00+00:00")
    assert told() == 1 + 2  # two stages ended later
    (run,) = shown(client, "tiny")
    assert run["metrics"]["evidence_recall"] == 0.25


def test_a_system_that_an_experiment_no_longer_has_is_not_current_and_a_policy_has_runs_like_all_others(client):
    ran()
    figures = pl.read_parquet(f"{HOME}/metrics.parquet")
    other = figures.with_columns(system=pl.lit("apr"))
    table("metrics", [*figures.to_dicts(), *other.to_dicts()], f"{HOME}/metrics.parquet")
    note("graph_zsum", "apr")
    told()
    assert {run["tags"]["secateur.state"] for run in shown(client, "tiny")} == {"current"}
    ran(finished="2026-01-01T00:09:00+00:00")
    chosen = [figure("policy_utility", value) | {"scorer": s} for s, value in (("policy", 0.5), ("fixed:x", 0.9))]
    table("metrics", chosen, f"{HOME}/metrics.parquet")
    note()
    told()
    runs = {run["tags"]["system"]: run for run in shown(client, "tiny")}
    state = {system: run["tags"]["secateur.state"] for system, run in runs.items()}
    assert state == {"graph_zsum": "current", "apr": "superseded"}
    assert runs["graph_zsum"]["metrics"]["policy_utility"] == 0.5
    assert "interval/policy_utility_low" in runs["graph_zsum"]["metrics"]


def test_a_deleted_store_is_rebuilt_from_the_ledger_alone(client, store, tmp_path):
    ran()
    failed()
    told()
    ran(top_k=100, finished=LATER)
    told()
    before = all_shown(client)
    for path in [*RESULTS.rglob("*.json"), *RESULTS.glob("experiments/tiny/*.parquet")]:
        path.unlink()
    Path("elsewhere.db").write_bytes(store.read_bytes())
    uri = f"sqlite:///{tmp_path}/elsewhere.db"
    tracking.sync(runs_of(*collect(RESULTS)), uri)
    after = all_shown(type(client)(uri))
    for run in (run for runs in (*before, *after) for run in runs):
        run["artifacts"] = [name for name in run["artifacts"] if not name.endswith("parquet")]  # are in results/ only
    assert after == before


def test_a_rebuild_undoes_what_somebody_changed(client):
    ran()
    told()
    before = shown(client, "tiny")
    home = client.get_experiment_by_name("tiny").experiment_id
    for run in client.search_runs([home]):
        client.set_tag(run.info.run_id, "fingerprint", "mine")
    own = client.create_run(home, run_name="somebody's own").info.run_id
    assert told() == 0
    assert told(rebuild=True) == VARIANTS + JOBS
    assert client.get_run(own).info.lifecycle_stage == "active"
    client.delete_run(own)
    assert shown(client, "tiny") == before


@pytest.mark.parametrize("call", ["log_text", "log_batch", "set_terminated"])
def test_a_run_that_was_interrupted_is_completed(client, monkeypatch, call):
    ran()
    with monkeypatch.context() as patch:
        patch.setattr(type(client), call, Mock(side_effect=OSError("interrupted")))
        with pytest.raises(SecateurError, match="interrupted"):
            told()
    assert told() == VARIANTS + JOBS
    assert told() == 0
    assert [run["artifacts"] for run in shown(client, "tiny")] == [["config.json", "figures.csv"]]


@pytest.fixture
def server(client, monkeypatch) -> str:
    """An address at which `client`, of a local store, answers as a tracking server."""
    monkeypatch.setattr(tracking, "_client", lambda uri: nullcontext(client))
    return "http://me:secret@server:5000"


@pytest.mark.parametrize("root", ["/proc/server-only/artifacts", "unheard-of://bucket/x", "ftp://127.0.0.1:9/x"])
def test_an_artifact_root_that_this_machine_cannot_write_to_costs_no_figure(client, server, capsys, root):
    ran()
    failed()
    for name in ("tiny", "tiny.jobs"):
        client.create_experiment(name, artifact_location=root)
    runs = runs_of(*collect(RESULTS))
    assert tracking.sync(runs, server) == len(runs)
    (run,) = client.search_runs([client.get_experiment_by_name("tiny").experiment_id])
    assert (run.data.metrics["evidence_recall"], run.data.params["dataset"]) == (0.5, "toy")
    assert run.info.status == "FINISHED"
    (warning,) = capsys.readouterr().err.splitlines()
    assert all(part in warning for part in ("MLflow at http://***@server:5000: ", f"(artifact root {root}", "Fix:"))
    assert tracking.sync(runs, server) == 0
    assert len(capsys.readouterr().err.splitlines()) == 1  # once a call


def test_artifacts_that_were_refused_are_added_once_they_can_be(client, server, monkeypatch, capsys):
    ran()
    runs = runs_of(*collect(RESULTS))
    with monkeypatch.context() as patch:
        patch.setattr(type(client), "log_text", lambda *_: importlib.import_module("a_package_that_is_missing"))
        assert tracking.sync(runs, server) == len(runs)
    (warning,) = capsys.readouterr().err.splitlines()
    assert "No module named 'a_package_that_is_missing'" in warning
    before = shown(client, "tiny")
    assert before[0]["artifacts"] == []
    assert tracking.sync(runs, server) == len(runs)
    (run,) = shown(client, "tiny")
    assert run["artifacts"] == ["config.json", "figures.csv"]
    assert run["metrics"] == before[0]["metrics"]
    assert tracking.sync(runs, server) == 0
    assert capsys.readouterr().err == ""


def test_all_figures_are_written_before_any_artifact(client, server, monkeypatch):
    ran()
    calls = Mock()
    for name in ("log_batch", "log_text"):
        getattr(calls, name).side_effect = getattr(client, name)
        monkeypatch.setattr(client, name, getattr(calls, name))
    tracking.sync(runs_of(*collect(RESULTS)), server)
    names = [call[0] for call in calls.method_calls]
    figures = 2 * (VARIANTS + JOBS)
    assert names[:figures] == ["log_batch"] * figures
    assert set(names[figures:]) == {"log_text"}


def test_keys_and_passwords_never_reach_the_ledger_or_mlflow(client, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-tellnobody")
    ran()
    path = Path("results/toy/toy/evidence/contexts/run.json")
    path.write_text(path.read_text().replace('"retriever.top_k"', '"lm.url": "http://me:tellnobody2@host/v1", "a.b"'))
    failed("Error: 401 for Bearer sk-tellnobody")
    note()
    told()
    assert not any("tellnobody" in kept.write_json() for kept in collect(RESULTS))
    text = b"".join(p.read_bytes() for p in [*Path("mlruns").rglob("*"), Path("mlflow.db")] if p.is_file())
    assert b"tellnobody" not in text
    assert b"http://***@host" in text  # it was there to be hidden


def test_a_held_lock_ends_with_a_message_and_leaves_the_ledger_alone(client):
    ran()
    (RESULTS / ledger.FOLDER).mkdir()
    with FileLock(RESULTS / ledger.FOLDER / ".lock"), pytest.raises(SecateurError, match=r"another process.*Fix:"):
        tracking.track(RESULTS, seconds=0.1)
    assert not list((RESULTS / ledger.FOLDER).glob("*.parquet"))


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:9", "https://me:secret@localhost:9/base", "http://", "http://host:x"]
)
def test_an_address_without_a_server_is_named_without_its_password(monkeypatch, uri):
    monkeypatch.setenv("no_proxy", "*")
    for name in tracking.LIMITS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SecateurError, match=r"MLflow at http.*the next run catches up") as error:
        tracking.sync([Run("tiny", "k", "r", 0, 1)], uri)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [("folder", "unable to open"), ("text", "not a database"), ("locked", "locked"), ("table", "no such table")],
)
@pytest.mark.parametrize("call", [tracking.experiments, lambda uri: tracking.sync([], uri)])
def test_a_local_store_that_is_broken_or_locked_is_named_with_the_fix(client, monkeypatch, broken, reason, call):
    path = Path(client.tracking_uri.removeprefix("sqlite:///"))
    monkeypatch.setattr(tracking, "WAIT", 0.1)
    if broken == "folder":
        path.unlink()
        path.mkdir()
    if broken == "text":
        path.write_text("no store, but a text of some length\n" * 9)
    if broken == "table":
        call = tracking.experiments  # which reads it
    done = {"table": "drop table experiment_tags", "locked": "begin exclusive"}.get(broken)
    with closing(sqlite3.connect(path if done else ":memory:", isolation_level=None)) as store:
        store.execute(done or "select 1")
        error = message(call, client.tracking_uri)
    assert reason in error
    assert f"delete {path}, then `secateur track --rebuild`" in error
    assert "server" not in error


# Whichever waits for the lock waits as long as the other takes, however busy the machine is.
WRITER = "from pathlib import Path; from secateur.stage import tracking; print(tracking.track(Path('results'), seconds=3600)[0])"


def test_two_processes_at_once_write_each_run_once(client):
    ran()
    two = [subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(int(process.communicate()[0]) for process in two) == [0, VARIANTS + JOBS]
    assert len(shown(client, "tiny")) == VARIANTS
