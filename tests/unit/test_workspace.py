"""A workspace: what is copied into it, how it follows the package, where commands find it; and how a folder is forgotten."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.support.project import ROOT, share_options

from secateur.commands.forgetting import forget
from secateur.commands.shared import at_work
from secateur.core import workspace
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.core.workspace import as_given, enter, is_root, make
from secateur.stage import ledger, tracking

HEAD = f"{workspace.WRITTEN}, which writes it again."
COPIED = {"Snakefile", "conf/eval/default.yaml", "scripts/rank.py", "workflow/rules/one.smk"}


def write(path: str | Path, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


@pytest.fixture
def source(tmp_path, monkeypatch) -> Path:
    """A clone in small."""
    root = tmp_path / "source"
    left_out = {"conf/local/local.yaml": "x: 1\n", "conf/experiment/mine.yaml": HEAD, "workflow/secateur/code.py": "1"}
    for name, text in (dict.fromkeys(COPIED, "1") | {"conf/eval/default.yaml": "a: 1\n"} | left_out).items():
        write(root / name, text)
    monkeypatch.setattr(workspace, "clone", lambda: root)
    monkeypatch.setattr(workspace, "_STOOD", [])
    return root


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_workspace_has_what_a_clone_runs_by_and_nothing_of_its_machine(source, tmp_path):
    make(tmp_path / "work")
    made = {*texts(tmp_path / "work")} - {workspace.STAMP}
    assert made == COPIED
    assert is_root(tmp_path / "work")


def test_a_workspace_follows_the_package_but_for_what_was_edited(source, tmp_path, capsys):
    work = tmp_path / "work"
    make(work)
    (work / "conf/eval/default.yaml").write_text("a: 3\n")
    (work / "conf/eval/own.yaml").write_text("a: 4\n")
    (source / "conf/eval/default.yaml").write_text("a: 2\n")
    (source / "scripts/rank.py").unlink()
    (source / "Snakefile").write_text("2")
    make(work)
    assert capsys.readouterr().err == f"{work}: edited here, and not as this version has them: conf/eval/default.yaml\n"
    found = texts(work)
    expected = {"Snakefile": "2", "conf/eval/default.yaml": "a: 3\n", "conf/eval/own.yaml": "a: 4\n"}
    assert {name: found[name] for name in expected} == expected
    assert "scripts/rank.py" not in found
    make(work)
    assert capsys.readouterr().err == ""


def test_a_folder_with_other_things_is_left_alone(source, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/thesis.tex").write_text("x")
    with pytest.raises(SecateurError, match=r"holds files, and is no workspace\. Fix: another folder"):
        make(tmp_path / "work")
    assert {*texts(tmp_path / "work")} == {"thesis.tex"}


def test_commands_find_the_workspace_beside_them_and_paths_are_those_of_the_user(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    enter()
    assert Path.cwd() == tmp_path  # there is none yet
    enter(Path(workspace.NAME))
    assert (Path.cwd(), as_given(Path("notes"))) == (tmp_path / workspace.NAME, tmp_path / "notes")
    assert capsys.readouterr().err == f"in {workspace.NAME}:\n"
    enter()
    assert Path.cwd() == tmp_path / workspace.NAME
    for folder in (tmp_path, tmp_path / "notes"):  # from beside it, and from within a folder beside it
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        enter()
        assert Path.cwd() == tmp_path / workspace.NAME


@pytest.mark.parametrize(
    ("stood", "made"), [(".", "secateur-work"), ("notes", "secateur-work"), ("else", "else/secateur-work")]
)
def test_a_workspace_is_made_where_the_user_stands_but_not_in_the_folder(source, tmp_path, monkeypatch, stood, made):
    for name in ("notes", "else"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / stood)
    assert at_work(Path(os.path.relpath(tmp_path / "notes"))).resolve() == tmp_path / "notes"
    assert Path.cwd() == tmp_path / made


@pytest.fixture
def evaluated(tmp_path, monkeypatch) -> Path:
    """A workspace in which two folders, `notes` and `other`, were evaluated with a ranker and contexts each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")  # MLflow remembers relative ones
    Path("Snakefile").touch()
    shutil.copytree(ROOT / "conf", "conf")
    share_options(tmp_path)
    for name, systems in {"notes": "[bm25, mine, both]", "other": "[bm25, both]"}.items():
        keys = f"defaults: [custom, _self_]\ntitle: t\ndatasets: [{name}]\nsystems: {systems}\n"
        write(f"conf/experiment/{name}.yaml", f"{HEAD}\n{keys}")
        write(f"conf/dataset/{name}.yaml", f"{HEAD}\ndefaults: [custom, _self_]\nfolder: {tmp_path}\n")
        write(f"results/{name}/passages/passages.parquet", name)
        write(f"results/experiments/{name}@20/report.html", name)
        write(f"logs/prepare_corpus/{name}.log", name)
        write(f"logs/evaluate_contexts/{name}-{name}@20-contexts/lexical/x.log", name)
    for system in ("mine", "both"):
        write(f"conf/system/{system}.yaml", f"{HEAD}\ndefaults: [_default, _self_]\n")
        write(f"conf/rankers/{system}.yaml", HEAD)
    Path("my").mkdir()
    Path("my/mine.py").symlink_to(tmp_path / "elsewhere.py")
    row = {"job": "1", "stage": "x", "finished": "2026-01-01T00:00:00+00:00", "failed": False, "record": "{}"}
    runs = TABLES["job_runs"].frame([row | {"experiment": name} for name in ("notes@20", "other@20")])
    Path("results/ledger").mkdir()
    write_table(TABLES["job_runs"], runs, Path("results/ledger/job_runs.parquet"))
    return tmp_path


def test_a_forgotten_folder_leaves_nothing_and_others_stay(evaluated, capsys):
    with tracking._client(os.environ["MLFLOW_TRACKING_URI"]) as client:
        for name in ("notes@20", "notes@20.jobs", "other@20"):
            client.create_experiment(name)
    forget("notes")
    left = {str(path) for path in Path().rglob("*") if path.is_file() or path.is_symlink()}
    assert [name for name in left if "notes" in name or "mine" in name] == []
    assert {"conf/experiment/other.yaml", "conf/system/both.yaml", "results/other/passages/passages.parquet"} <= left
    kept = pl.read_parquet(f"results/{ledger.FOLDER}/job_runs.parquet")
    assert kept["experiment"].to_list() == ["other@20"]
    with tracking._client(os.environ["MLFLOW_TRACKING_URI"]) as client:
        known = {one.name for one in client.search_experiments(view_type=3)}  # deleted ones, too
    assert known - {"Default"} == {"other@20"}
    assert "MLflow: notes@20" in capsys.readouterr().out


def test_what_others_use_or_took_over_stays(evaluated):
    write("conf/experiment/compare.yaml", "defaults: [custom, _self_]\ntitle: t\nsystems: [bm25, mine]\n")
    write("conf/dataset/notes.yaml", f"defaults: [custom, _self_]\nfolder: {evaluated}\n")  # edited, without its head
    write("conf/experiment/notes-b.yaml", Path("conf/experiment/other.yaml").read_text())
    write("logs/prepare_corpus/notes-b.log", "b")
    write(".snakemake/asked/notes@7.json", "{}")
    forget("notes")
    kept = {"conf/system/mine.yaml", "conf/rankers/mine.yaml", "conf/dataset/notes.yaml"}
    assert all(Path(path).exists() for path in kept | {"logs/prepare_corpus/notes-b.log"})
    assert Path("my/mine.py").is_symlink()
    assert not Path(".snakemake/asked/notes@7.json").exists()


def test_a_workspace_whose_making_was_stopped_is_made_to_its_end(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text, stopped = workspace.write_text, []

    def stop(path, text):
        stopped.append(path)
        if len(stopped) > 2:
            raise KeyboardInterrupt
        write_text(path, text)

    monkeypatch.setattr(workspace, "write_text", stop)
    with pytest.raises(KeyboardInterrupt):
        enter(Path(workspace.NAME))
    monkeypatch.setattr(workspace, "write_text", write_text)
    enter()
    assert {*texts(Path())} >= COPIED


def test_a_folder_that_is_not_there_gets_no_workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SecateurError, match="typo: no such folder"):
        at_work(tmp_path / "typo")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_removal_from_mlflow_is_told_and_can_be_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri := f"sqlite:///{tmp_path}/mlflow.db")
    with tracking._client(uri) as client:
        client.create_experiment("notes")
    with monkeypatch.context() as patch:
        patch.setattr(tracking.sys, "executable", "/bin/false")
        with pytest.raises(SecateurError, match="mlflow gc"):
            tracking.forgotten(["notes"])
    assert tracking.forgotten(["notes"]) == ["notes"]
    assert tracking.forgotten(["notes"]) == []


def test_only_what_evaluate_made_is_forgotten(evaluated):
    with pytest.raises(SecateurError, match="made no such experiment; it made notes, other"):
        forget("quickstart")
