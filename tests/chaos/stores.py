"""What may happen to the ledger and to MLflow's store: `secateur track` is killed, or what it writes to is harmed."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from random import Random

from . import disks
from .drivers import command
from .faults import cut, flipped, harmed
from .process import Ended, forked
from .tree import Tree
from .trial import REFUSED, RIGHT, WRONG, Trial, refusal

__all__ = ["SCENES"]

STORE, LEDGER = "mlflow.db", "results/ledger"
SAID = """
select e.name, k.value, d.value, r.status, count(*) from runs r join experiments e using (experiment_id)
join tags k on k.run_uuid = r.run_uuid and k.key = 'secateur.key'
left join tags d on d.run_uuid = r.run_uuid and d.key = 'secateur.digest'
where r.lifecycle_stage = 'active' group by 1, 2 order by 1, 2
"""
Strike = Callable[[Tree, Random], object]  # a context manager; it may give a call to be done inside the process


def _track(tree: Tree, *args: str, at: int | None = None, inside: Callable[[], None] = lambda: None) -> Ended:
    def call() -> None:
        inside()
        command("secateur.cli:main", "secateur", "track", *args)()

    return forked(tree.root, call, at)


def said(root: Path) -> list[tuple]:
    """Every run that a store shows, by experiment and key: its digest, status, and how many there are of it."""
    with closing(sqlite3.connect(root / STORE)) as store:
        return store.execute(SAID).fetchall()


def _forget(tree: Tree) -> None:
    """The store and the ledger as before the first run."""
    (tree.root / STORE).unlink(missing_ok=True)
    for path in (tree.root / LEDGER).glob("*.parquet"):
        path.unlink()


def _restore(tree: Tree) -> None:
    for name in ("mlruns", LEDGER):
        shutil.rmtree(tree.root / name, ignore_errors=True)
        shutil.copytree(tree.kept / name, tree.root / name)
    shutil.copy2(tree.kept / STORE, tree.root / STORE)
    tree.swept()


def _shown(root: Path) -> dict[str, object]:
    """What the ledger and MLflow's store hold."""
    tables = [root / LEDGER / f"{name}.parquet" for name in ("variant_runs", "job_runs")]
    return {path.name: path.read_bytes() for path in tables} | {STORE: said(root)}


def _anew(tree: Tree) -> dict[str, object]:
    """The same where all is told for the first time, undisturbed; of a clone that has run once, what it had told."""
    if not tree.told:
        _forget(tree)
        tree.told = len(_track(tree).events)
        tree.anew = _shown(tree.root)
    return tree.anew


def _same(tree: Tree, right: dict[str, object]) -> str | None:
    """What differs from what is right; None where nothing."""
    found = _shown(tree.root)
    if differs := [name for name in right if found[name] != right[name]]:
        return f"{', '.join(differs)}: other content"
    litter = [path for path in tree.litter() if not path.endswith(".lock")]
    return f"litter: {', '.join(litter)}" if litter else None


def _killed(tree: Tree, rng: Random) -> Trial:
    """Nothing has been told yet, and whoever tells it is killed."""
    right = _anew(tree)
    _forget(tree)
    at = rng.randrange(1, tree.told + 1)
    ended, again = _track(tree, at=at), _track(tree)
    wrong = f"exit code {again.code}: {again.said}" if again.code else _same(tree, right)
    _restore(tree)
    return Trial("", "track", WRONG if wrong else RIGHT, int(ended.killed), wrong or "", at)


def _struck(
    strike: Strike, rebuild: bool = False, anew: bool = False, names: str = STORE
) -> Callable[[Tree, Random], Trial]:
    """A scene in which something is harmed. rebuild: what a refusal says is done, the store made anew from the ledger; anew: nothing had been
    told."""

    def scene(tree: Tree, rng: Random) -> Trial:
        right = _anew(tree) if anew else _shown(tree.kept)
        with strike(tree, rng) as inside:
            ended = _track(tree, inside=inside or (lambda: None))
            wrong = refusal(ended.said, "(?=.*Fix: )", (names,)) if ended.code else None
            if ended.code not in (0, 2):
                wrong = f"exit code {ended.code}: {ended.said}"
        if rebuild and not wrong:
            (tree.root / STORE).unlink(missing_ok=True)
            shutil.rmtree(tree.root / "mlruns", ignore_errors=True)
        again = _track(tree, *(["--rebuild"] if rebuild else []))
        wrong = wrong or (f"exit code {again.code}: {again.said}" if again.code else _same(tree, right))
        _restore(tree)
        return Trial("", "track", WRONG if wrong else REFUSED if ended.code else RIGHT, 0, wrong or "")

    return scene


@contextmanager
def _deleted(tree: Tree, rng: Random) -> Iterator[None]:
    (tree.root / STORE).unlink()
    if rng.random() < 0.5:
        shutil.rmtree(tree.root / "mlruns")
    yield


def _broken(name: str) -> Strike:
    @contextmanager
    def strike(tree: Tree, rng: Random) -> Iterator[None]:
        path = tree.root / name
        with harmed(path, rng.choice((cut, flipped))(path.read_bytes(), rng)):
            yield

    return strike


@contextmanager
def _folder(tree: Tree, rng: Random) -> Iterator[None]:
    aside = (tree.root / STORE).rename(tree.root / f"{STORE}.aside")
    (tree.root / STORE).mkdir()
    yield
    (tree.root / STORE).rmdir()
    aside.rename(tree.root / STORE)


@contextmanager
def _locked(tree: Tree, rng: Random) -> Iterator[None]:
    with closing(sqlite3.connect(tree.root / STORE, isolation_level=None)) as store:
        store.execute("begin exclusive")
        yield


def _full(place: str) -> Strike:
    def strike(tree: Tree, rng: Random):
        _forget(tree)
        room = rng.randrange(8) * disks.PAGE
        return nullcontext(lambda: disks.full(tree.root / place, room))

    return strike


@contextmanager
def _no_right(tree: Tree, rng: Random) -> Iterator[Callable[[], None]]:
    _forget(tree)
    folder = tree.root / LEDGER
    folder.chmod(0o555)
    yield disks.without_rights
    folder.chmod(0o755)


SCENES = {
    "track is killed": _killed,
    "MLflow's store is deleted": _struck(_deleted),
    "MLflow's store is broken": _struck(_broken(STORE), rebuild=True),
    "a folder stands in its place": _struck(_folder),
    "MLflow's store is locked": _struck(_locked),
    "the disk of the ledger is full": _struck(_full(LEDGER), anew=True, names=LEDGER),
    "no right to write to the ledger": _struck(_no_right, anew=True, names=LEDGER),
}
MOUNTING = ("the disk of the ledger is full",)
