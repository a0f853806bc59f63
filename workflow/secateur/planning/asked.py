"""What was asked of an experiment last, and whether its figures are that."""

import os
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur.config import plugins
from secateur.config.limits import asked_note, command
from secateur.core.artifacts import read_json, write_json
from secateur.core.cache import digest
from secateur.core.errors import SecateurError
from secateur.planning.dry_run import jobs_to_run
from secateur.planning.progress import CODE
from secateur.stage.ledger import records, run_overrides
from secateur.stage.lineage import upstream

__all__ = ["check_current", "is_settled", "note_asked", "settle", "tree_state"]

UNSET = "not set"  # in the cause of a setting that only one of two versions of the code has
HOME = Path("results/experiments")
DOTTED = re.compile(r"[A-Za-z_]\w*(\.\w+)+")  # a module
SETTINGS = ("SECATEUR_", "MLFLOW_")  # variables that settings come from
TREE = ("Snakefile", "workflow", "scripts", "conf", "data", "my")  # what decides which jobs run


def note_asked(experiment: str, overrides: Sequence[str], **settled: Any) -> None:
    """Note what was asked of an experiment last. settled: what `settle` knows of it."""
    write_json(asked_note(experiment), {"overrides": list(overrides), "state": None, "files": [], **settled})


def is_settled(experiment: str, overrides: Sequence[str], whole: bool) -> bool:
    """Whether an experiment's figures, or all of its jobs, were current when last asked for, and no file has changed since."""
    note = asked_note(experiment)
    last = read_json(note) if note.exists() else {"state": None}
    is_known = bool(last["state"]) and (last.get("whole") or not whole)
    return is_known and last["state"] == _state(overrides, last["files"])


def settle(experiment: str, overrides: Sequence[str], tree: str, whole: bool) -> None:
    """Note that an experiment's figures are current, or all of its jobs: MLflow's record, too.

    tree: state of code and options before they were planned.
    """
    if tree == tree_state():
        behind = upstream(records(Path("results")), [str(HOME / experiment / "metrics.parquet")])
        files = {path for record in behind for path in (*record["inputs"], *record["outputs"].values())}
        # Folders of data, which may get more files.
        files |= {str(Path(path).parent) for path in files if not path.startswith("results/")}
        files |= {str(path) for path in (HOME / experiment).rglob("*") if "unfinished" not in path.parts}
        files |= {str(path) for record in behind for path in _named(record["config"])} | {sysconfig.get_path("purelib")}
        files = sorted(files)
        note_asked(experiment, overrides, state=_state(overrides, files), files=files, whole=whole)


def _named(value: Any) -> Iterator[Path]:
    """Files and folders that settings name: a model, a plug-in of the user's."""
    if isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _named(part)
    if isinstance(value, str) and DOTTED.fullmatch(value) and (module := plugins.source_of(value)):
        yield from (module.parent, *module.parent.rglob("*.py"))
    elif isinstance(value, str) and (path := _path(value)):
        yield from (path, *path.rglob("*"))


def _path(text: str) -> Path | None:
    try:
        is_place = "/" in text or Path(text, "config.json").exists()
        return Path(text) if is_place and Path(text).exists() else None
    except (OSError, ValueError):  # a prompt, longer than a name may be
        return None


def check_current(experiment: str) -> str:
    """Raises SecateurError unless the figures of an experiment are those asked for last.

    Returns a note on figures that other code has made, else an empty text.
    """
    note, tree = asked_note(experiment), tree_state()
    overrides = tuple(read_json(note)["overrides"] if note.exists() else run_overrides(Path(), experiment))
    if is_settled(experiment, overrides, whole=False):
        return ""
    # The page reads all figures; MLflow's record is left out: it is missing while its server is away.
    jobs = jobs_to_run(experiment, overrides, HOME / experiment / "report/run.json")
    caused = [job for job in jobs if job.cause]
    if not caused:
        settle(experiment, overrides, tree, whole=False)
        return ""
    fix = f"Fix: {command(experiment, overrides)}"
    if all(_is_code(job.cause) for job in caused):
        commit = read_json(HOME / experiment / "run.json")["commit"] or "an unknown commit"
        return f"{experiment}: figures of {commit}; the code has changed since, and {len(caused)} jobs would run. {fix}"
    raise SecateurError(
        f"{experiment}: its figures are not those asked for last{' (' + ' '.join(overrides) + ')' if overrides else ''}; "
        f"{caused[0].message}: {caused[0].cause} ({len(caused)} jobs, secateur why {experiment}). {fix}"
    )


def _is_code(cause: str) -> bool:
    """Whether other code alone causes a job: new code may also have other settings than the old."""
    clauses = cause.split("; ")
    return any(p.startswith(CODE) for p in clauses) and all(p.startswith(CODE) or UNSET in p for p in clauses)


def tree_state() -> str:
    """State of the code, the options and the project's data, without their content."""
    library = [] if Path("workflow/secateur").is_dir() else [plugins.LIBRARY]  # a workspace has none of its own
    paths = (path for name in (*TREE, *library) for path in (Path(name), *sorted(Path(name).rglob("*"))))
    return digest(_stats(path for path in paths if path.suffix != ".pyc" and path.name != "__pycache__"))


def _state(overrides: Sequence[str], files: Sequence[str]) -> str:
    """State of the files of an experiment and behind it, and of all that decides what it would run."""
    around = sorted((name, value) for name, value in os.environ.items() if name.startswith(SETTINGS))
    return digest(list(overrides), tree_state(), _stats(map(Path, files)), around)


def _stats(paths: Iterable[Path]) -> list[tuple]:
    return [
        (str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        for path in paths
        if path.exists() and (stat := path.stat())
    ]
