"""The ledger and MLflow on a SQLite store: told once, told again, told otherwise, and made anew."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from tracking_results import CONF, FIGURES, HOME, RESULTS, failed, figure, note, ran, record, shown, table

from secateur.pipeline import ledger
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.ledger import collect, records, upstream
from secateur.pipeline.tables.catalog import TABLES, TableError
from secateur.report import tracking
from secateur.report.runs import Run, named_for_mlflow, runs_of


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """A store with its tables made, once: that takes seconds."""
    folder = tmp_path_factory.mktemp("store")
    tracking.sync([], f"sqlite:///{folder}/mlflow.db")
    return folder / "mlflow.db"


@pytest.fixture
def client(tmp_path, store, monkeypatch):
    """An empty project with an empty store as its working directory, and a client of the store."""
    from mlflow.tracking import MlflowClient

    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path}/mlflow.db"  # MLflow remembers a relative one's file for as long as the process lives
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    (tmp_path / "mlflow.db").write_bytes(store.read_bytes())
    return MlflowClient(uri)


def told(rebuild: bool = False) -> int:
    """How many runs were written."""
    return tracking.track(RESULTS, rebuild)[0]


def rows(client, name: str = "tiny") -> list[dict]:
    """The runs of systems on data sets, without their parents."""
    return [run for run in shown(client, name) if "system" in run["tags"]]


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
from secateur.pipeline.errors import SecateurError
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
