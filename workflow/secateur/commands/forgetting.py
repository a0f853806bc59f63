"""`secateur forget`: removes what `secateur evaluate` wrote for a folder: options, links, results, logs, runs in MLflow."""

import os
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
        bool, Option("--cache", help="Also empty the cache, which holds parts of all texts by their content alone.")
    ] = False,
) -> None:
    """Remove an evaluated folder's options, results, logs and runs in MLflow. The folder itself stays as it is."""
    at_root()
    if drivers() or workers():
        raise SecateurError("a run is active in this folder. Fix: wait until it has ended.")
    made = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml") if written_here(path))
    if name not in made:
        raise SecateurError(
            f"{name!r}: `secateur evaluate` made no such experiment; it made {', '.join(made) or 'none'}."
        )
    if others := [other for other in _users(name) if other != name]:
        raise SecateurError(f"{name}: its data is used by {others[0]}, too. Fix: secateur forget {others[0]}")
    experiments = {name} | {path.name for path in EXPERIMENTS.glob(f"{name}@*") if unlimited(path.name)[0] == name}
    _forget_runs(experiments)
    paths = [
        *_options(name, made),
        Path("results") / name,
        *Path("results").glob(f"{name}@*"),
        *(EXPERIMENTS / one for one in sorted(experiments)),
    ]
    paths += [path for path in Path("logs").glob("*/*.log") if path.stem.split("-")[0].partition("@")[0] == name]
    paths += [asked_note(one) for one in experiments | {name}]
    for path in (one for one in paths if one.exists() or one.is_symlink()):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        print(path)
    if cache:
        home = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
        for part in sorted({*COMPUTED, *REPLIES} - {*WHOLE}):
            shutil.rmtree(home / part, ignore_errors=True)
        print(f"{home}, but for models and other systems' packages")


def _users(name: str) -> Iterator[str]:
    """The experiments that name a data set."""
    for other in files.options(CONF, "experiment"):
        if name in compose.option(CONF, "experiment", other).datasets:
            yield other


def _options(name: str, made: list[str]) -> Iterator[Path]:
    """The option files of an experiment and its data, and of systems that no other evaluated folder has."""
    systems = {one: set(compose.option(CONF, "experiment", one).systems) for one in made}
    elsewhere = set().union(*(of for one, of in systems.items() if one != name))
    for system in sorted(systems[name] - elsewhere):
        for path in (CONF / f"system/{system}.yaml", CONF / f"rankers/{system}.yaml"):
            if path.exists() and written_here(path):
                yield path
        if (link := Path(OWN, f"{system}.py")).is_symlink():
            yield link
    yield from (CONF / f"{group}/{name}.yaml" for group in ("dataset", "experiment"))


def _forget_runs(experiments: set[str]) -> None:
    """Removes experiments from the ledger and from MLflow, where both have them."""
    from secateur.stage.tracking import forgotten

    results = Path("results")
    if not (results / ledger.FOLDER).is_dir():
        return
    with FileLock(results / ledger.FOLDER / ".lock"):
        ledger.forgotten(results, experiments)
        if told := forgotten(experiments):
            print(f"MLflow: {', '.join(told)}")
