"""The ledger and MLflow on a SQLite store: told once, told again, told otherwise, and made anew."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import polars as pl
import pytest
from filelock import FileLock
from tests.support.tracking_results import RESULTS, failed, note, ran, record, rows, shown, told

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES, TableError
from secateur.report import tracking
from secateur.report.runs import Run, named_for_mlflow, runs_of
from secateur.stage import ledger
from secateur.stage.ledger import collect, records, upstream


def test_a_failed_job_is_shown_and_stays_when_it_succeeds_later(client):
    failed("LoaderError: no such file")
    told()
    (run,) = shown(client, "tiny.jobs")
    assert (run["status"], run["tags"]["failure"]) == ("FAILED", "LoaderError: no such file")
    Path("results/toy/codebook/failure.json").unlink()
    record("build_codebook", "results/toy/codebook", [], {})
    told()
    assert sorted(run["status"] for run in shown(client, "tiny.jobs")) == ["FAILED", "FINISHED"]


def test_a_deleted_store_is_made_anew_from_the_ledger_alone(client, store, tmp_path):
    ran()
    failed()
    told()
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    told()
    before = {name: shown(client, name) for name in ("tiny", "tiny.jobs")}
    for path in sorted(RESULTS.rglob("*.json")):
        path.unlink()
    Path("results/experiments/tiny/variant_runs.parquet").unlink()
    Path("results/experiments/tiny/metrics.parquet").unlink()
    Path("elsewhere.db").write_bytes(store.read_bytes())
    uri = f"sqlite:///{tmp_path}/elsewhere.db"
    tracking.sync(runs_of(*collect(RESULTS)), uri)
    after = {name: shown(type(client)(uri), name) for name in before}
    for runs in (*before.values(), *after.values()):
        for run in runs:  # what an experiment's own stages made is kept in results, not in the ledger
            run["artifacts"] = [name for name in run["artifacts"] if not name.endswith("parquet")]
            run["tags"] = {name: value for name, value in run["tags"].items() if not name.startswith("file.")}
    assert after == before


@pytest.mark.parametrize("bulk", [True, False])
def test_the_figures_of_a_limited_run_are_told_by_whatever_name(client, monkeypatch, bulk):
    monkeypatch.setattr(tracking, "_local", lambda _: bulk)
    ran()
    told()
    plot = Path("results/experiments/tiny/figures/differences-toy+x@100.svg")
    plot.parent.mkdir()
    plot.write_text("<svg/>")
    assert told() == 1
    whole = next(run for run in shown(client, "tiny") if plot.name in run["artifacts"])
    assert "file.differences-toy_with_x_at_100" in whole["tags"]


def test_a_rebuild_undoes_what_somebody_changed(client):
    ran()
    told()
    before = shown(client, "tiny")
    home = client.get_experiment_by_name("tiny").experiment_id
    for run in client.search_runs([home]):
        client.set_tag(run.info.run_id, "fingerprint", "mine")
    own = client.create_run(home, run_name="somebody's own").info.run_id
    assert told() == 0
    assert told(rebuild=True) == 2 + 4
    assert client.get_run(own).info.lifecycle_stage == "active"
    client.delete_run(own)
    assert shown(client, "tiny") == before


@pytest.mark.parametrize("bulk", [True, False])
def test_a_run_cut_off_in_the_middle_is_completed(client, monkeypatch, bulk):
    ran()
    monkeypatch.setattr(tracking, "_local", lambda _: bulk)

    def cut(*_):
        raise OSError("cut")

    with monkeypatch.context() as patch:
        patch.setattr(tracking, "_keep", cut)
        with pytest.raises(SecateurError, match="cut"):
            told()
    assert told() == 2 + 4
    assert told() == 0
    assert [run["artifacts"] for run in rows(client)] == [["config.json", "figures.csv"]]


def stored(path: str) -> dict[str, list]:
    """What a store's tables say of runs, with the key of each in place of its random identity."""
    with closing(sqlite3.connect(path)) as store:
        keys = dict(store.execute("select run_uuid, value from tags where key = 'secateur.key'"))
        found = {}
        for table in ("runs", "metrics", "latest_metrics", "params", "tags"):
            cursor = store.execute(f"select * from {table}")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
            for row in rows:
                if "artifact_uri" in row:
                    row["artifact_uri"] = row["artifact_uri"].replace(row["run_uuid"], "IDENTITY")
                row["run_uuid"] = keys[row["run_uuid"]]
                if row.get("key") == "mlflow.parentRunId":
                    row["value"] = keys[row["value"]]
            found[table] = sorted(rows, key=repr)
    return found


def test_what_goes_in_bulk_is_what_mlflows_calls_would_have_written(client, store, tmp_path, monkeypatch):
    ran()
    failed()
    nan, infinite = float("nan"), float("inf")
    odd = [("nan", nan, 0), ("up", infinite, 0), ("down", -infinite, 0), ("whole", 3, 0), ("same", 1.0, 0)]
    odd += [("same", 1.0, 0), ("curve", 5.0, 2), ("curve", 9.0, 1), ("true", True, 0)]
    runs = [*runs_of(*collect(RESULTS)), Run("odd", "k", "odd", 1, 2, params={"a": "b"}, metrics=odd)]
    assert tracking.sync(runs, client.tracking_uri) == len(runs)
    Path("called.db").write_bytes(store.read_bytes())
    monkeypatch.setattr(tracking, "_local", lambda _: False)
    assert tracking.sync(runs, f"sqlite:///{tmp_path}/called.db") == len(runs)
    assert stored("mlflow.db") == stored("called.db")


def test_a_superseded_run_gets_its_tag_and_is_not_written_again(client, monkeypatch):
    ran()
    told()
    kept, keep = [], tracking._keep
    monkeypatch.setattr(tracking, "_keep", lambda run, *rest: (kept.append(run.key), keep(run, *rest)))
    ran(top_k=100, finished="2026-01-01T00:02:00+00:00")
    assert told() == 2 + 1 + 2  # a system and its experiment, the tag of the old one, jobs
    assert len(kept) == 2 + 2


def test_a_deleted_experiment_is_restored(client):
    ran()
    told()
    client.delete_experiment(client.get_experiment_by_name("tiny").experiment_id)
    told()
    assert len(shown(client, "tiny")) == 2


def test_an_experiment_shows_the_jobs_its_results_come_from_whoever_started_them(client):
    ran()
    path = Path("results/toy/triples/openie/0of2/run.json")
    path.write_text(path.read_text().replace('"tiny"', '"another"'))
    failed(experiment="another")
    told()
    stages = {
        name: sorted(run["params"]["stage"] for run in shown(client, f"{name}.jobs")) for name in ("tiny", "another")
    }
    assert stages["tiny"] == ["compare_variants", "evaluate_contexts", "extract_triples", "extract_triples"]
    assert stages["another"] == ["build_codebook", "extract_triples"]


def test_the_fingerprint_is_of_settings_code_and_inputs_and_of_nothing_else(client):
    ran()
    first = set(collect(RESULTS)[0]["fingerprint"])
    path = Path("results/toy/triples/openie/0of2/run.json")
    kept = json.loads(path.read_text())
    for change, same in (
        ({"wall_seconds": 9.0, "commit": "def", "device": "cuda", "finished": "2026-01-01T00:00:30+00:00"}, True),
        ({"code": "other"}, False),
        ({"config": {"extractor.block": 9}}, False),
        ({"inputs": {"data/toy.jsonl": "d2"}}, False),
    ):
        path.write_text(json.dumps(kept | change))
        note()
        current = pl.read_parquet("results/experiments/tiny/variant_runs.parquet")["fingerprint"]
        assert (set(current) == first) == same, change


def test_records_that_are_not_behind_a_figure_do_not_count(client):
    ran()
    record("elsewhere", "results/other", ["results/other/x.parquet"], {})
    behind = upstream(records(RESULTS), ["results/toy/toy/evidence/contexts/question_metrics.parquet"])
    assert [r["stage"] for r in behind] == ["evaluate_contexts", "extract_triples", "extract_triples"]


def test_keys_and_passwords_never_reach_the_ledger_or_mlflow(client, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-tellnobody")
    ran()
    path = Path("results/toy/toy/evidence/contexts/run.json")
    content = json.loads(path.read_text())
    content["config"]["lm.url"] = "http://me:tellnobody2@host/v1"
    path.write_text(json.dumps(content))
    failed("Error: 401 for Bearer sk-tellnobody")
    note()
    told()
    for kept in collect(RESULTS):
        assert "tellnobody" not in kept.write_json()
    texts = [p.read_bytes() for p in Path("mlruns").rglob("*") if p.is_file()] + [Path("mlflow.db").read_bytes()]
    assert not any(b"tellnobody" in text for text in texts)
    assert any(b"http://***@host" in text for text in texts)  # it was there to be hidden


def test_names_that_mlflow_refuses_are_put_into_words():
    assert named_for_mlflow("tau kl_first@null") == "tau kl_first_at_null"
    assert named_for_mlflow("sum(bm25+answer,js)") == "sum_bm25_with_answer_js_"


def test_many_metrics_and_params_are_written_in_parts(client):
    metrics, params = [(f"m{n}", float(n), 0) for n in range(1900)], {f"p{n}": "x" for n in range(170)}
    run = Run("big", "k", "big", 0, 1, params=params, metrics=metrics, tags={"a": "b"})
    assert tracking.sync([run], client.tracking_uri) == 1
    (one,) = shown(client, "big")
    assert (len(one["metrics"]), len(one["params"])) == (1900, 170)
    assert tracking.sync([run], client.tracking_uri) == 0


def test_a_held_lock_ends_with_a_message_and_leaves_the_ledger_alone(client):
    ran()
    (RESULTS / ledger.FOLDER).mkdir()
    with FileLock(RESULTS / ledger.FOLDER / ".lock"), pytest.raises(SecateurError, match=r"another process.*Fix:"):
        tracking.track(RESULTS, seconds=0.1)
    assert not list((RESULTS / ledger.FOLDER).glob("*.parquet"))


KNOCKING = """
import sys
from secateur.report import tracking
from secateur.core.errors import SecateurError
try:
    tracking.sync([], sys.argv[1])
except SecateurError as error:
    print(error, "mlflow" in sys.modules)
"""


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:9", "https://me:secret@localhost:9/base", "http://", "http://host:x"]
)
def test_an_address_without_a_server_is_noticed_before_mlflow_is_loaded(monkeypatch, uri):
    monkeypatch.setenv("no_proxy", "*")
    said = subprocess.run([sys.executable, "-c", KNOCKING, uri], capture_output=True, text=True, check=True).stdout
    assert said.startswith("MLflow at http")
    assert said.endswith("`secateur track`. False\n")
    assert "secret" not in said


@contextmanager
def held(path: Path):
    """Somebody has a store for itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("begin exclusive")
        yield


@pytest.mark.parametrize("broken", ["folder", "text", "locked"])
@pytest.mark.parametrize("ask", [lambda uri: tracking.links(uri, "http://here"), lambda uri: tracking.sync([], uri)])
def test_a_local_store_that_is_broken_or_locked_is_named_with_the_way_out(client, monkeypatch, broken, ask):
    path = Path(client.tracking_uri.removeprefix("sqlite:///"))
    monkeypatch.setattr(tracking, "WAITING", 0.1)
    if broken != "locked":
        path.unlink()
    if broken == "folder":
        path.mkdir()
    if broken == "text":
        path.write_text("no store, but a text of some length\n" * 9)
    with held(path) if broken == "locked" else nullcontext(), pytest.raises(SecateurError) as error:
        ask(client.tracking_uri)
    said = str(error.value)
    assert {"folder": "unable to open", "text": "not a database", "locked": "locked"}[broken] in said
    assert f"delete {path} and make it anew with `secateur track --rebuild`" in said
    assert "server" not in said


def test_a_store_that_breaks_while_it_is_asked_is_named_too(client, monkeypatch):
    """What a first look does not find: tables that are not MLflow's."""
    path = Path(client.tracking_uri.removeprefix("sqlite:///"))
    monkeypatch.setattr(tracking, "_knock", lambda _: None)
    with closing(sqlite3.connect(path)) as store:
        store.execute("drop table experiment_tags")
    with pytest.raises(SecateurError, match=r"no such table.*Fix: .*--rebuild"):
        tracking.links(client.tracking_uri, "http://here")


# The one that waits for the lock waits as long as the other takes, however busy the machine is.
WRITER = "from pathlib import Path; from secateur.report import tracking; print(tracking.track(Path('results'), seconds=3600)[0])"


def test_two_at_once_write_each_run_once(client):
    ran()
    two = [subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(int(one.communicate()[0]) for one in two) == [0, 6]
    assert len(shown(client, "tiny")) == 2


def test_a_ledger_of_another_version_is_refused(client):
    ran()
    told()
    path = RESULTS / ledger.FOLDER / "job_runs.parquet"
    pl.read_parquet(path).write_parquet(path)
    with pytest.raises(TableError, match=r"no table identity.*Fix:"):
        told()


def test_the_ledgers_tables_are_declared():
    assert {"variant_runs", "job_runs"} <= set(TABLES)


def test_nothing_run_is_nothing_told(client):
    RESULTS.mkdir()
    assert tracking.track(RESULTS)[:2] == (0, 0)
