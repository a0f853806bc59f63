"""Copies of the project to run and to edit; the repository itself is never written to."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "workflow", "scripts", "conf", "profiles", "data", "docs", "pyproject.toml")
UNSEEN = shutil.ignore_patterns("__pycache__", "*.egg-info", "local.yaml")  # build output, one machine's settings
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@dataclass(frozen=True)
class Project:
    """A copy of the project; commands run in it, with its own library, without a network."""

    root: Path

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A command's output and exit code."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SECATEUR_", "SLURM_", "SNAKEMAKE_"))}
        own = {"PYTHONPATH": str(self.root / "workflow"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        # Scripts run as `python SCRIPT` of the PATH: the one of these tests.
        path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        return subprocess.run(
            command,
            cwd=self.root,
            env=kept | own | path | NO_NETWORK | env,
            capture_output=True,
            text=True,
            check=False,
        )

    def snakemake(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """`snakemake ARGS` here."""
        return self.run(sys.executable, "-m", "snakemake", "--cores", "2", *args, **env)

    def secateur(self, *args: str) -> subprocess.CompletedProcess[str]:
        """`secateur ARGS` here."""
        return self.run(sys.executable, "-c", "from secateur.cli import main; main()", *args)

    def artifacts(self) -> set[str]:
        """Everything under results/ that another job could read; a failure's record is none of it."""
        files = (path for path in (self.root / "results").rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)) for path in files if path.name != "failure.json"}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands exactly once in a file."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")


def copy_project(target: Path) -> Project:
    """The project's own files, without what was computed."""
    target.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=UNSEEN)
        else:
            shutil.copy2(source, target / part)
    (target / "slurm").symlink_to("profiles/slurm")
    return Project(target)


@pytest.fixture(scope="session", name="copy_project")
def _copy_project():
    """The function itself, for fixtures of other scopes."""
    return copy_project


@pytest.fixture
def project(tmp_path) -> Project:
    """A copy in which nothing has run."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="session")
def untouched(tmp_path_factory) -> Project:
    """The same for tests that write nothing."""
    return copy_project(tmp_path_factory.mktemp("untouched") / "project")


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Project:
    """A copy in which the experiment `smoke` has run. Read only; `rerun` is the one to edit."""
    project = copy_project(tmp_path_factory.mktemp("smoke") / "project")
    done = project.snakemake("--profile", "profiles/smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def rerun(smoke, tmp_path) -> Project:
    """A copy of the finished smoke run, to edit and to run again."""
    shutil.copytree(smoke.root, tmp_path / "rerun", symlinks=True)
    return Project(tmp_path / "rerun")
