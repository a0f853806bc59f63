"""`secateur forget`: removes what `secateur evaluate` wrote for a folder: options, links, results, logs, runs in MLflow."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from filelock import FileLock
from typer import Argument, Option

from secateur.commands.processes import drivers, workers
from secateur.commands.shared import EXPERIMENTS, at_root
from secateur.config import compose, files
from secateur.config.limits import asked_note, unlimited
from secateur.core.errors import SecateurError
from secateur.core.workspace import OWN, written_here
from secateur.planning.cleaning import COMPUTED, REPLIES, WHOLE
from secateur.stage import ledger

__all__ = ["forget"]

CONF = Path("conf")


def forget(
    name: Annotated[str, Argument(help="Experiment that `secateur evaluate` made of a folder.")],
    cache: Annotated[
        bool,
        Option(
            "--cache", help="Also empty the cache, paid replies of endpoints included: it holds parts of all texts."
        ),
    ] = False,
) -> None:
    """Remove an evaluated folder's options, results, logs and runs in MLflow. The folder itself stays as it is."""
    at_root()
    if drivers() or workers():
        raise SecateurError("a run is active in this folder. Fix: wait until it has ended.")
    evaluated = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml") if written_here(path))
    if name not in evaluated:
        raise SecateurError(
            f"{name!r}: `secateur evaluate` made no such experiment; it made {', '.join(evaluated) or 'none'}."
        )
    if others := [other for other in _users(name) if other != name]:
        raise SecateurError(f"{name}: its data is used by {others[0]}, too. Fix: secateur forget {others[0]}")
    experiments = _experiments(name)
    paths = [*_options(name), Path("results") / name, *Path("results").glob(f"{name}@*")]
    paths += [folder for experiment in experiments for folder in (EXPERIMENTS / experiment, asked_note(experiment))]
    paths += [path for path in Path("logs").glob("*/*") if _folder_of(path.name, evaluated) == name]
    for path in (path for path in paths if path.exists() or path.is_symlink()):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        print(path)
    if cache:
        home = Path(os.environ.get("SECATEUR_CACHE") or compose.local(CONF).cache or ".cache")
        for part in sorted({*COMPUTED, *REPLIES} - {*WHOLE}):
            shutil.rmtree(home / part, ignore_errors=True)
        print(f"{home}, but for models and other systems' packages")
    _forget_runs(experiments)


def _experiments(name: str) -> list[str]:
    """The experiment and its limited runs, finished or not."""
    names = [path.name for path in EXPERIMENTS.glob(f"{name}@*")]
    names += [path.stem for path in asked_note(name).parent.glob(f"{name}@*.json")]
    names += ledger.experiments(Path("results"))
    return sorted({name, *(experiment for experiment in names if unlimited(experiment)[0] == name)})


def _folder_of(log: str, folders: list[str]) -> str | None:
    """The evaluated folder that a log is of: its name begins with the corpus, which may have a dash in it."""
    named = [folder for folder in folders if re.match(rf"{re.escape(folder)}(@\d+)?(-|\.log$|$)", log)]
    return max(named, key=len, default=None)


def _users(name: str) -> Iterator[str]:
    """The experiments that name a data set."""
    for other in files.options(CONF, "experiment"):
        if name in compose.option(CONF, "experiment", other).datasets:
            yield other


def _options(name: str) -> Iterator[Path]:
    """What `evaluate` wrote of an experiment, its data, and its systems that no other experiment has."""
    systems = {
        experiment: compose.option(CONF, "experiment", experiment).systems
        for experiment in files.options(CONF, "experiment")
    }
    elsewhere = {system for experiment, listed in systems.items() if experiment != name for system in listed}
    unshared = [system for system in systems[name] if system not in elsewhere]
    paths = [CONF / f"{group}/{system}.yaml" for system in unshared for group in ("system", "rankers")]
    written = [path for path in paths if path.exists() and written_here(path)]
    links = [Path(OWN, f"{path.stem}.py") for path in written if path.parent.name == "rankers"]
    yield from written
    for link in filter(Path.is_symlink, links):
        yield from (link, *Path(OWN, "__pycache__").glob(f"{link.stem}.*.pyc"))
    yield from (path for group in ("dataset", "experiment") if written_here(path := CONF / f"{group}/{name}.yaml"))


def _forget_runs(experiments: list[str]) -> None:
    """Removes experiments from the ledger and from MLflow, where both have them."""
    from secateur.stage.tracking import forgotten

    results = Path("results")
    if not (results / ledger.FOLDER).is_dir():
        return
    with FileLock(results / ledger.FOLDER / ".lock"):
        ledger.forgotten(results, experiments)
        if names := forgotten(experiments):
            print(f"MLflow: {', '.join(names)}")
