"""The wheel by itself: outside the clone, with nothing of it in reach; and the types of its face."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.project import copy_project

from secateur.core.errors import EXTRAS, PIPELINE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAM = """
import secateur
from pathlib import Path
assert Path(secateur.__file__).is_relative_to({home!r}), secateur.__file__
memory = secateur.Memory({system!r})
memory.index(["Alder Ltd bought the Finch mill in 2021.", "The Finch mill has stood in Leeds since 1890."])
print(memory.retrieve("Where is the mill that Alder Ltd bought?", budget=40).text)
"""


RANKER = """from secateur.config.plugins import NoSettings as Settings
import numpy as np


def score(settings, group, questions, seed):
    return np.array([[-float(len(text)) for text in group.texts] for _ in questions.queries])
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    project = copy_project(folder / "project")
    for name in ("setup.py", "README.md"):
        (project.root / name).write_text((ROOT / name).read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    done = subprocess.run([*command, str(project.root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder / "site")
    return folder / "site"


def outside(unpacked: Path, folder: Path, program: str, **env: str) -> subprocess.CompletedProcess:
    """A program that reaches the wheel and nothing of the clone."""
    env = os.environ | {"PYTHONPATH": str(unpacked)} | env
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("system", ["title_zsum", "secateur", "beam"])
def test_the_wheel_retrieves_outside_the_clone(unpacked, smoke, tmp_path, system):
    env = {"SECATEUR_CACHE": str(smoke.root / ".cache"), "HF_HUB_OFFLINE": "1"}
    done = outside(unpacked, tmp_path, PROGRAM.format(home=str(unpacked), system=system), **env)
    assert done.returncode == 0, done.stderr
    assert "Leeds" in done.stdout


def test_the_wheel_has_its_types_and_no_settings_of_one_machine(unpacked):
    assert (unpacked / "secateur/py.typed").exists()
    assert not list(unpacked.rglob("local.yaml"))


def test_a_wheel_evaluates_a_folder_without_a_clone_and_forgets_it(unpacked, smoke, tmp_path):
    (tmp_path / "at").mkdir()
    shutil.copytree(ROOT / "data/toy/documents_smoke", tmp_path / "at/notes")
    given = {*(tmp_path / "at/notes").iterdir()}
    (tmp_path / "at/mine.py").write_text(RANKER)
    settings = ["--set", "experiment.systems=[title_zsum,chunks_256,mine]", "--set", "experiment.gains=false"]
    environment = {"SECATEUR_CACHE": str(smoke.root / ".cache"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def secateur(*arguments: str, cwd: Path = tmp_path / "at") -> str:
        program = f"import sys; sys.argv[1:] = {arguments!r}; from secateur.cli import main; main()"
        done = outside(unpacked, cwd, program, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    secateur("evaluate", "notes", "--name", "notes", "--ranker", "mine.py", *settings)
    work = tmp_path / "at/secateur-work"
    assert (work / "results/experiments/notes/report.html").exists()
    assert "chunks_256" in secateur("compare", "notes", "chunks_256", "mine", "--metric", "evidence_recall@claim")
    clone = copy_project(tmp_path / "clone")
    shutil.copytree(work / "conf", clone.root / "conf", dirs_exist_ok=True)
    for part in ("results", ".snakemake", "my"):
        shutil.copytree(work / part, clone.root / part, symlinks=True, dirs_exist_ok=True)
    again = clone.secateur("why", "notes", *settings, SECATEUR_CACHE=environment["SECATEUR_CACHE"])
    assert again.stdout == "notes: nothing to do, everything is up to date\n", again.stdout + again.stderr
    secateur("forget", "notes")
    options = ("experiment/notes", "dataset/notes", "system/mine", "rankers/mine")
    made = [*(work / f"conf/{name}.yaml" for name in options), work / "my/mine.py", *work.glob("my/__pycache__/mine.*")]
    made += [work / "results/notes", work / "results/experiments/notes", *work.glob("logs/*/notes*")]
    assert [path for path in made if path.exists() or path.is_symlink()] == []
    assert {*(tmp_path / "at/notes").iterdir()} == given


LACKED = sorted(PIPELINE - {"networkx", "jinja2"})  # torch needs these
LACKING = """
import sys
for name in {lacking!r}:
    sys.modules[name] = None
sys.argv[1:] = {arguments!r}
"""
CALL = """
import importlib.util
from secateur.core import errors
find_spec = importlib.util.find_spec
errors.find_spec = lambda name: None if sys.modules.get(name, 0) is None else find_spec(name)
from secateur.cli import main
main()
"""


@pytest.mark.parametrize(
    ("system", "extras"), [("secateur", ()), ("beam", ("graph", "endpoints"))]
)  # spaCy needs httpx
def test_the_first_use_of_a_wheel_without_other_extras_prints_nothing_but_the_answer(
    unpacked, tmp_path, system, extras
):
    lacking = {module for name, (modules, _) in EXTRAS.items() if name not in extras for module in modules}
    lacking -= {"networkx", "jinja2"}  # torch needs them
    program = LACKING.format(lacking=sorted(lacking), arguments=[])
    program += PROGRAM.format(home=str(unpacked), system=system)
    program += "secateur.score('Who?', 'Alder', ['Alder did.'])"
    done = outside(unpacked, tmp_path, program, SECATEUR_CACHE=str(tmp_path / "cache"), HF_HUB_OFFLINE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Leeds" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["plan", "x"], ["why", "x"], ["report", "x"], ["resume"], ["ui"], ["track"], ["evaluate", "x"]],
)
def test_a_command_that_needs_the_pipeline_says_so(unpacked, tmp_path, arguments):
    program = LACKING.format(lacking=LACKED, arguments=arguments) + CALL
    if arguments[0] in ("plan", "why", "report"):
        (tmp_path / "conf/experiment").mkdir(parents=True)
        (tmp_path / "conf/experiment/x.yaml").write_text("")
    done = outside(unpacked, tmp_path, program)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert "Fix: pip install 'secateur[pipeline]'" in done.stderr


USER = """
import secateur
memory = secateur.Memory("beam", order="aware")
count: int = memory.index({"a": "A text."})
found: secateur.Retrieved = memory.retrieve("Which?", budget=10)
reveal: str = found.text + str(found.tokens)
memory.retrieve(budget="many")
"""


def test_the_types_of_the_public_face_are_checked(tmp_path):
    face = [str(ROOT / "workflow/secateur/library"), str(ROOT / "workflow/secateur/__init__.py")]
    (tmp_path / "user.py").write_text(USER)
    env = os.environ | {"MYPYPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports"]
    command += ["--cache-dir", str(tmp_path / "cache")]  # the second run reads what the first found
    fine = subprocess.run([*command, *face], capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert fine.returncode == 0, fine.stdout
    wrong = subprocess.run([*command, "user.py"], capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
    assert "user.py:7" in wrong.stdout
    assert "user.py:4" not in wrong.stdout
