"""`secateur track` is killed while it tells MLflow what was run."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from .drivers import command
from .process import Ended, forked
from .tree import Tree
from .trial import RIGHT, WRONG, Trial

__all__ = ["SCENES"]

STORE, LEDGER = "mlflow.db", "results/ledger"
SAID = """
select e.name, k.value, d.value, r.status, count(*) from runs r join experiments e using (experiment_id)
join tags k on k.run_uuid = r.run_uuid and k.key = 'secateur.key'
left join tags d on d.run_uuid = r.run_uuid and d.key = 'secateur.digest'
where r.lifecycle_stage = 'active' group by 1, 2 order by 1, 2
"""


def _track(tree: Tree, at: int | None = None) -> Ended:
    return forked(tree.root, command("secateur.cli:main", "secateur", "track"), at)


def said(root: Path) -> list[tuple]:
    """Every run that a store shows, by experiment and key: its digest, status, and how many there are of it."""
    with closing(sqlite3.connect(root / STORE)) as store:
        return store.execute(SAID).fetchall()


def _forget(tree: Tree) -> None:
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
    tables = [root / LEDGER / f"{name}.parquet" for name in ("variant_runs", "job_runs")]
    return {path.name: path.read_bytes() for path in tables} | {STORE: said(root)}


def _anew(tree: Tree) -> tuple[int, dict[str, object]]:
    """Where all is told for the first time, undisturbed: the number of events, and what is told."""
    if not hasattr(tree, "told"):
        _forget(tree)
        tree.told = len(_track(tree).events), _shown(tree.root)
    return tree.told


def _same(tree: Tree, right: dict[str, object]) -> str | None:
    found = _shown(tree.root)
    if differs := [name for name in right if found[name] != right[name]]:
        return f"{', '.join(differs)}: other content"
    litter = [path for path in tree.litter() if not path.endswith(".lock")]
    return f"litter: {', '.join(litter)}" if litter else None


def _killed(tree: Tree, rng: Random) -> Trial:
    events, right = _anew(tree)
    _forget(tree)
    at = rng.randrange(1, events + 1)
    ended, again = _track(tree, at=at), _track(tree)
    wrong = f"exit code {again.code}: {again.said}" if again.code else _same(tree, right)
    _restore(tree)
    return Trial("", "track", WRONG if wrong else RIGHT, int(ended.killed), wrong or "", at)


SCENES = {"track is killed": _killed}
