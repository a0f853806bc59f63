"""Copies of the project to run and to edit; the repository itself is never written to."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from secateur.config.compose import literal
from secateur.planning.dry_run import arguments

__all__ = ["PARTS", "ROOT", "Project", "copy_project", "in_folder", "of_folder", "share_options"]

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "workflow", "scripts", "conf", "envs", "profiles", "data", "docs", "pyproject.toml")
COMPUTED = (".cache", ".snakemake", "logs", "results")
UNSEEN = shutil.ignore_patterns("__pycache__", "*.egg-info", "local.yaml")  # build output, one machine's settings
OF_OTHERS = ("MAKE", "MFLAGS", "MKL_", "SECATEUR_", "SLURM_", "SNAKEMAKE_")  # variables that a run would go by
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@dataclass(frozen=True)
class Project:
    """A copy of the project; commands run in it, with its own library, without a network."""

    root: Path

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OF_OTHERS)}
        own = {"PYTHONPATH": f"{self.root / 'workflow'}{os.pathsep}{self.root}"}
        own |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        # Scripts run as `python SCRIPT` of the PATH: the one of these tests.
        own |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"} | NO_NETWORK
        return subprocess.run(command, cwd=self.root, env=kept | own | env, capture_output=True, text=True, check=False)

    def snakemake(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "snakemake", "--cores", "2", *args, **env)

    def secateur(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-c", "from secateur.cli import main; main()", *args, **env)

    def artifacts(self) -> set[str]:
        """Everything under results/ that another job could read; the ledger and a failure's record are none of it."""
        files = (path for path in (self.root / "results").rglob("*") if path.is_file())
        made = {str(path.relative_to(self.root)) for path in files if path.name != "failure.json"}
        return {path for path in made if not path.startswith("results/ledger/")}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands exactly once in a file."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")

    def copied(self, target: Path) -> "Project":
        shutil.copytree(self.root, target, symlinks=True, copy_function=_copied)
        return Project(target)

    def take_over(self, made: Path) -> None:
        """Copy what was computed elsewhere, but for the runs in MLflow's store, which are tracked again."""
        shutil.rmtree(self.root / ".cache")
        for part in COMPUTED:
            shutil.copytree(made / part, self.root / part, symlinks=True, copy_function=_copied)
        (self.root / "logs/snakemake.log").unlink(missing_ok=True)  # of `secateur run`
        for tracked in (self.root / "results/experiments").glob("*/track"):
            shutil.rmtree(tracked)


def _copied(source: str, target: str) -> None:
    """A copy of a file; converted weights, which nobody writes to again, are the same file on one file system."""
    if ".cache/models/" in source:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)


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
    share_options(target)
    return Project(target)


def share_options(root: Path) -> None:
    """Let a copy of conf/ read what was composed before, by content: composing takes .2 s an option."""
    composed = ROOT / ".cache/config"
    composed.mkdir(parents=True, exist_ok=True)
    (root / ".cache").mkdir(exist_ok=True)
    (root / ".cache/config").symlink_to(composed)


def in_folder(folder: Path) -> tuple[str, ...]:
    """Overrides under which an experiment that inherits `custom` reads a folder."""
    return tuple(f"{group}.folder={literal(str(folder))}" for group in ("corpus", "dataset"))


def of_folder(folder: Path, experiment: str = "custom") -> list[str]:
    """Snakemake's arguments for an experiment that inherits `custom` on a folder."""
    return arguments(experiment, in_folder(folder))
