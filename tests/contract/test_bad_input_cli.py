"""What a user reads after a mistake: one message with the way out, exit code not zero, nothing half-written.

Of every way a command can end, one case is a real command in a copy of the project, without a network.
"""

import json

import polars as pl
import pytest
from tests.support.project import copy_project, of_folder

from secateur.cli import main
from secateur.core.errors import SecateurError
from secateur.planning.plan import variants

UNIQUE = ("dataset", "system", "order", "scorer", "subset", "metric", "split", "published")


def refused(project, *args: str, **env: str) -> str:
    """The message of a `snakemake ARGS` that must fail and leave nothing."""
    before = project.artifacts()
    done = project.snakemake(*args, **env)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "Traceback" not in said
    assert project.artifacts() == before
    return said


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        (["experiment=lokomo"], ["conf/experiment", "'lokomo'", "quickstart, readers", "did you mean 'locomo'?"]),
        (["experiment=custom"], ["no folder given", "secateur evaluate DIR --experiment custom"]),
        (of_folder("nowhere")[1:], ["nowhere/", ".jsonl: no such file", "name a folder"]),
    ],
    ids=["experiment", "no folder", "empty folder"],
)
def test_a_mistake_in_the_configuration_ends_snakemake_with_what_is_allowed(mistaken, config, parts):
    said = refused(mistaken, "-n", "--config", *config)
    assert [part for part in parts if part not in said] == [], said


@pytest.mark.parametrize(
    ("experiment", "overrides", "parts"),
    [
        ("smoke", ["retriever.topk=100"], ["retriever.topk=100", "conf/retriever", "'topk'", "top_m", "mean 'top_k'?"]),
        ("smoke", ["retriever.top_k=0"], ["conf/retriever/default.yaml", "retriever.top_k is 0", "[1, inf]"]),
        ("typo", [], ["conf/experiment/typo.yaml", "'grpah_zsum'", "did you mean 'graph_zsum'?"]),
    ],
    ids=["key", "range", "option"],
)
def test_a_mistake_in_the_configuration_is_answered_with_what_is_allowed(mistaken, experiment, overrides, parts):
    with pytest.raises(SecateurError) as raised:
        variants(mistaken.root / "conf", experiment, tuple(overrides))
    assert [part for part in parts if part not in str(raised.value)] == []


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory):
    """A copy with an experiment file that holds a mistake."""
    project = copy_project(tmp_path_factory.mktemp("mistaken") / "project")
    text = "title: A mistake\ndatasets: [toy_documents_smoke]\nsystems: [grpah_zsum]\naxes: {}\nexclude: []\n"
    (project.root / "conf/experiment/typo.yaml").write_text(text)
    return project


def custom(project, passages: str) -> tuple[str, ...]:
    """A folder of one's own and the arguments that name it."""
    folder = project.root.parent / "mine"
    folder.mkdir()
    (folder / "passages.jsonl").write_text(passages)
    (folder / "questions.jsonl").write_text('{"id": "q1", "question": "Who?"}\n')
    return tuple(of_folder(folder))


def test_a_malformed_line_is_named_by_file_and_line_and_not_tried_again(project):
    given = custom(project, '{"id": "p1", "text": "Acme bought Bolt."}\n{"id": "p2", "text": \n')
    said = refused(project, "results/custom/passages/passages.parquet", "--retries", "2", *given)
    assert said.count("prepare_corpus: ") == 1
    assert "Trying to restart" not in said
    for part in (f"{project.root.parent}/mine/passages.jsonl", "line 2", "Fix: "):
        assert part in said
    for place in ("results/custom/passages/failure.json", "logs/prepare_corpus/custom.log"):
        assert "line 2" in (project.root / place).read_text()


@pytest.mark.parametrize("server", [None, "http://127.0.0.1:9"], ids=["store", "dead server"])
@pytest.mark.slow
def test_a_failure_is_kept_and_mlflow_adds_no_word_to_its_message(project, server):
    given = custom(project, '{"id": "p1", "text": \n')
    said = refused(project, *given, **({"MLFLOW_TRACKING_URI": server} if server else {}))
    assert "MLflow" not in said
    _, _, after = said.rpartition("Fix: ")
    assert "Exiting because a job execution failed" in after  # Snakemake's own end follows, and nothing else of ours
    (kept,) = pl.read_parquet(project.root / "results/ledger/job_runs.parquet").to_dicts()
    assert (kept["experiment"], kept["stage"], kept["failed"]) == ("custom", "prepare_corpus", True)
    told = (project.root / "logs/mlflow.log").read_text()
    assert ("Nothing is lost" if server else "1 of 1 runs written") in told


@pytest.mark.slow
def test_a_file_that_cannot_be_downloaded_is_answered_with_the_mirror(project, tmp_path):
    said = refused(project, "results/raw/stem_question.json/stem_question.json", SECATEUR_MIRROR=str(tmp_path))
    for part in ("stem_question.json", "could not be downloaded", f"The mirror {tmp_path} has neither", "MIRROR=DIR"):
        assert part in said


@pytest.fixture
def ended(untouched, monkeypatch, capsys):
    """Runs `secateur ARGS` in this process, which must fail; its message."""

    def run(*args: str) -> str:
        monkeypatch.chdir(untouched.root)
        monkeypatch.setattr("sys.argv", ["secateur", *args])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code, said.out) == (2, "")
        assert "Traceback" not in said.err
        return said.err

    return run


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("table", "locomo", "--json"), "make run EXPERIMENT=locomo"),
        (("table", "smokey"), "did you mean 'smoke'?"),
        (("export", "smokey", "--out", "g.graphml"), "did you mean 'smoke'?"),
        (("export", "medical", "--out", "g.graphml"), "make run EXPERIMENT=medical"),
        (("export", "locomo", "--out", "g.graphml"), "no graph"),
    ],
)
def test_a_table_or_an_export_that_is_not_possible_says_why(ended, untouched, args, part):
    assert part in ended(*args)
    assert not (untouched.root / "g.graphml").exists()


def test_a_table_as_json_has_the_promised_fields_and_unique_rows(smoke):
    said = smoke.secateur("table", "smoke", "--json")
    assert said.returncode == 0, said.stderr
    rows = json.loads(said.stdout)
    assert rows
    assert all(row.keys() == {*UNIQUE, "answer_aware", "value", "low", "high", "n", "units"} for row in rows)
    assert len({tuple(row[key] for key in UNIQUE) for row in rows}) == len(rows)
    assert not any(row["published"] for row in rows)
    for row in rows:
        assert isinstance(row["answer_aware"], bool)
        assert row["order"] in ("blind", "aware", None)
        assert row["low"] is None or row["low"] <= row["value"] <= row["high"]
