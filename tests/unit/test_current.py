"""A job is current if its record states its settings, its code, and the contents of its files; figures follow their jobs."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from secateur.config.limits import asked_note, not_run
from secateur.core.artifacts import file_digest, read_json, write_json
from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted
from secateur.planning import asked as notes
from secateur.planning.asked import check_current, is_settled, note_asked, settle, tree_state
from secateur.planning.progress import CODE
from secateur.planning.progress import Job as Planned
from secateur.stage.contract import Job
from secateur.stage.current import change

PASSAGES, TRIPLES = "results/stem/passages/passages.parquet", "results/stem/triples/openie/triples.parquet"
LEAVES = {"extractor.kind": '"openie"', "extractor.block": "128", "rankers.weights": '{"b":1,"a":[1,2]}'}
SECRET = "sk-0123456789abcdef"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A project's folder, in which paths of jobs are relative."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def job(folder) -> Job:
    """A job that has finished: it reads what another stage wrote, and a file of the user's."""
    _written(PASSAGES, "some passages")
    _recorded(Path(PASSAGES).with_name("run.json"), {}, {"passages": Path(PASSAGES)}, {}, "1")
    _written("mine/names.txt", "names")
    _written(TRIPLES, "some triples")
    made = Job(
        rule="extract_triples",
        inputs={"passages": [Path(PASSAGES)], "names": [Path("mine/names.txt")]},
        outputs={"triples": Path(TRIPLES)},
        record=Path(TRIPLES).with_name("run.json"),
        leaves=LEAVES,
        code="c0de",
        axes={},
        threads=1,
        log=Path("logs/a.log"),
        root=folder,
    )
    _finished(made)
    return made


def _written(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def _recorded(record: Path, inputs, outputs, config, code) -> None:
    """The record of a stage, as far as it is compared."""
    read = {str(path): file_digest(path) for paths in inputs.values() for path in paths}
    written = {str(path): file_digest(path) for path in outputs.values()}
    content = {"config": config, "code": code, "inputs": read, "written": written, "failure": None}
    named = {"outputs": {name: str(path) for name, path in outputs.items()}, "commit": "0a1b2c3"}
    write_json(record, json.loads(redacted(json.dumps(content | named))))


def _finished(job: Job) -> None:
    config = {path: json.loads(text) for path, text in job.leaves.items()}
    _recorded(job.record, job.inputs, job.outputs, config, job.code)


def _changed(job: Job) -> tuple[set[str], set[str]]:
    return change(job, Path(".cache/files"))


def _wrong(job: Job) -> str:
    """What is said to be wrong with a job's files."""
    before, (text,) = _changed(job)
    assert before == set()
    return text.removeprefix("record=")


def _with_old_date(path: str, text: str) -> None:
    """Give a file another content of the same size, and its old date."""
    before = Path(path).stat()
    assert before.st_size == len(text.encode())
    _written(path, text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("now", "before", "after"),
    [
        ({}, set(), set()),
        (
            {"leaves": LEAVES | {"rankers.weights": '{"a": [1, 2], "b": 1}'}},
            set(),
            set(),
        ),  # the same, written otherwise
        ({"leaves": LEAVES | {"extractor.block": "64"}}, {"extractor.block=128"}, {"extractor.block=64"}),
        ({"leaves": LEAVES | {"extractor.new": "null"}}, set(), {"extractor.new=null"}),
        ({"leaves": {k: v for k, v in LEAVES.items() if k != "extractor.block"}}, {"extractor.block=128"}, set()),
        ({"code": "0ther"}, {"code=c0de"}, {"code=0ther"}),
    ],
)
def test_a_job_is_current_unless_a_setting_is_changed_new_or_gone_or_its_code_is_another(job, now, before, after):
    assert _changed(replace(job, **now)) == (before, after)


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"config": {}, "code": "c0de"}', "null"])
def test_a_missing_or_damaged_record_is_none(job, text):
    job.record.unlink()
    if text is not None:
        job.record.write_text(text, encoding="utf-8")
    assert _wrong(job) == f"{job.record}: no record"


def test_a_deleted_table_is_no_change_as_it_is_made_again_when_it_is_needed(job):
    Path(TRIPLES).unlink()
    Path(PASSAGES).unlink()
    assert _changed(job) == (set(), set())
    Path(PASSAGES).with_name("run.json").unlink()
    assert _wrong(job) == f"{PASSAGES}: missing"


def test_a_copy_of_an_output_is_no_change(job):
    content = Path(TRIPLES).read_bytes()
    Path(TRIPLES).unlink()
    Path(TRIPLES).write_bytes(content)
    assert _changed(job) == (set(), set())


ANEW = f"record={PASSAGES}: changed since, or not read then"


@pytest.mark.parametrize(("text", "code", "said"), [("some passages", "2", set()), ("other passages", "1", {ANEW})])
def test_an_input_that_its_stage_has_written_anew_is_named_unless_it_is_the_same(job, text, code, said):
    _written(PASSAGES, text)
    _recorded(Path(PASSAGES).with_name("run.json"), {}, {"passages": Path(PASSAGES)}, {}, code)
    assert _changed(job) == (set(), said)


def test_another_content_with_its_old_date_is_named(job):
    _with_old_date(TRIPLES, "some tripleS")
    assert _wrong(job) == f"{TRIPLES}: differs from its record"
    _finished(job)
    _with_old_date("mine/names.txt", "nameS")
    assert _wrong(job) == "mine/names.txt: changed since, or not read then"


def test_an_input_that_was_not_read_then_or_is_no_longer_read_or_is_missing_is_named(job):
    _written("mine/more.txt", "more")
    more = replace(job, inputs=job.inputs | {"more": [Path("mine/more.txt")]})
    assert _wrong(more) == "mine/more.txt: changed since, or not read then"
    fewer = replace(job, inputs={"passages": [Path(PASSAGES)]})
    assert _wrong(fewer) == "mine/names.txt: no longer read"
    Path("mine/names.txt").unlink()
    assert _wrong(job) == "mine/names.txt: missing"


def test_a_secret_in_a_setting_is_named_nowhere_and_no_change_though_its_record_hides_it(job, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    served = replace(job, leaves=job.leaves | {"lm.url": json.dumps(f"http://me:pass@host/{SECRET}")})
    assert SECRET not in str(_changed(served))
    _finished(served)
    assert SECRET not in served.record.read_text() and "me:pass" not in served.record.read_text()
    assert _changed(served) == (set(), set())


HOME = Path("results/experiments/mine")
CODE_CHANGED = [("Compare variants", f"{CODE}: evaluation/comparison.py")]
SETTING_CHANGED = [("Rank by the graph", "retriever.w_dense was 1, is 0")]


@pytest.fixture
def planned(job, monkeypatch):
    """An experiment that has run, and a dry run that finds what a test says; gives the overrides of each dry run."""
    _written(str(HOME / "metrics.parquet"), "figures")
    _recorded(HOME / "run.json", {"triples": [Path(TRIPLES)]}, {"metrics": HOME / "metrics.parquet"}, {}, "1")
    _written("conf/experiment/mine.yaml", "title: mine")
    asked_for: list[tuple[str, ...]] = []

    def plan(*causes: tuple[str, str]) -> list[tuple[str, ...]]:
        def jobs_to_run(experiment: str, overrides: tuple[str, ...], target: Path) -> list[Planned]:
            assert target == HOME / "report/run.json"  # it reads all figures; MLflow's server may be away
            asked_for.append(overrides)
            return [Planned("a", "a/run.json", *cause) for cause in causes]

        monkeypatch.setattr(notes, "jobs_to_run", jobs_to_run)
        return asked_for

    return plan


def test_figures_of_a_plan_without_jobs_are_current_and_need_no_second_plan_but_mlflows_record_a_run(planned):
    runs = planned()
    assert check_current("mine") == ""
    assert read_json(asked_note("mine"))["state"]
    assert check_current("mine") == ""
    assert runs == [()]
    assert is_settled("mine", (), whole=False)
    assert not is_settled("mine", (), whole=True)


@pytest.mark.parametrize(
    "changed",
    [PASSAGES, TRIPLES, "mine/names.txt", "mine/more.txt", "conf/experiment/mine.yaml", str(HOME / "metrics.parquet"),
     "model/config.json", "a page is gone", "a variable is set", "a run begins", "other overrides"],
)  # fmt: skip
def test_a_run_is_planned_unless_the_last_one_ended_and_nothing_has_changed_since(planned, monkeypatch, changed):
    _written("model/config.json", "{}")
    write_json(HOME / "run.json", read_json(HOME / "run.json") | {"config": {"lm.model": "./model"}})
    page = HOME / "report.html"
    page.write_text("a page")
    assert not is_settled("mine", (), whole=True)
    settle("mine", (), tree_state(), whole=True)
    assert is_settled("mine", (), whole=True)
    if changed == "a page is gone":
        page.unlink()
    elif changed == "a variable is set":
        monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:1")
    elif changed == "a run begins":
        note_asked("mine", ())
    elif changed == "mine/more.txt":
        _written(changed, "another document")
    elif changed != "other overrides":
        _with_old_date(changed, Path(changed).read_text(encoding="utf-8").upper().replace("{}", "[]"))
    assert not is_settled("mine", ("retriever.w_dense=0",) if changed == "other overrides" else (), whole=True)


@pytest.mark.parametrize(
    ("causes", "parts"),
    [
        (SETTING_CHANGED, ["mine: ", *SETTING_CHANGED[0]]),
        ([*CODE_CHANGED, *SETTING_CHANGED], ["not those asked for last"]),
        ([("Rank by the graph", "output missing")], ["output missing"]),
    ],
)
def test_figures_of_other_settings_or_of_lost_outputs_are_refused_with_cause_and_command(planned, causes, parts):
    planned(*causes)
    note_asked("mine", ("retriever.w_dense=0",))
    with pytest.raises(SecateurError) as refused:
        check_current("mine")
    for part in (*parts, "Fix: ", "retriever.w_dense=0"):
        assert part in str(refused.value)


def test_the_plan_is_of_the_overrides_asked_for_last_else_of_those_of_the_run(planned):
    runs = planned()
    write_json(HOME / "run.json", read_json(HOME / "run.json") | {"overrides": ["eval.seed=3"]})
    check_current("mine")
    note_asked("mine", ("retriever.w_dense=0",))
    check_current("mine")
    assert runs == [("eval.seed=3",), ("retriever.w_dense=0",)]


@pytest.mark.parametrize("new", ["", "; eval.new was not set, is 1"])  # an upgrade that brings settings is other code
def test_figures_that_other_code_has_made_are_shown_with_its_commit_and_not_noted(planned, new):
    planned(("Compare variants", f"{CODE}: evaluation/comparison.py{new}"))
    note = check_current("mine")
    assert all(part in note for part in ("the code has changed since", "0a1b2c3", "Fix: "))
    assert not asked_note("mine").exists()


def test_code_that_changed_during_a_run_leaves_its_figures_unnoted(planned):
    planned()
    tree = tree_state()
    _written("conf/experiment/mine.yaml", "title: another")
    settle("mine", (), tree, whole=True)
    assert not asked_note("mine").exists()


def test_figures_that_a_failed_run_has_deleted_are_refused_with_the_command_asked_for_last(folder):
    note_asked("mine", ("retriever.w_dense=0",))
    assert str(not_run("mine")).endswith("Fix: make run EXPERIMENT=mine OVERRIDES=retriever.w_dense=0")
