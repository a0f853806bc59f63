"""Where experiments run: a clone, or a workspace, which holds a copy of a clone's rules, stages, options and toy data.

A workspace follows the installed package: what a newer one brings replaces what stands there unedited. So Snakemake, the
commands and a cluster find the same files in both, and code has the same digests.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from secateur.core.artifacts import read_json, write_json, write_text
from secateur.core.errors import SecateurError
from secateur.core.events import tell

__all__ = ["NAME", "OWN", "PACKAGED", "PARTS", "STAMP", "WRITTEN"]
__all__ += ["as_given", "clone", "enter", "is_root", "make", "own_code", "written_here"]

NAME = "secateur-work"  # a workspace's folder, where none is named
PACKAGED = Path(__file__).parents[1] / "_clone"  # the copy in a wheel
PARTS = ("Snakefile", "workflow/rules", "scripts", "conf", "profiles", "envs/peers", "data")
STAMP = ".secateur.json"  # digests of the copied files
_STOOD: list[Path] = []  # the folders that this process left
OWN = "my"  # the folder of a user's plug-ins: my/NAME.py is `my.NAME`
WRITTEN = "# Written by `secateur evaluate`"


def clone() -> Path:
    """The clone that this package is in, or the copy of one that a wheel brings."""
    return PACKAGED if PACKAGED.exists() else Path(__file__).parents[3]


def is_root(folder: Path) -> bool:
    """Whether a folder is a clone or a workspace."""
    return (folder / "Snakefile").exists() and (folder / "conf").is_dir()


def own_code() -> None:
    """Makes the plug-ins in `my/` of this folder importable here and in processes started from here."""
    root = str(Path.cwd())
    if root not in sys.path:
        sys.path.append(root)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*paths, root]))


def written_here(path: Path) -> bool:
    """Whether `secateur evaluate` wrote an option file, and its user has not taken it over."""
    return path.suffix == ".yaml" and path.read_text(encoding="utf-8", errors="replace").startswith(WRITTEN)


def _files(source: Path) -> Iterator[Path]:
    """The files of a workspace, relative to a clone: none of one machine, none of a folder that was evaluated there."""
    for part in PARTS:
        for path in [source / part] if (source / part).is_file() else sorted((source / part).rglob("*")):
            name = path.relative_to(source)
            is_local = "__pycache__" in name.parts or name.parts[:2] == ("conf", "local")
            if path.is_file() and not path.is_symlink() and not is_local and not written_here(path):
                yield name


def make(folder: Path) -> None:
    """A workspace in a folder, or one that follows the package again; files that were edited there stay, which is told.

    Raises SecateurError for a folder that holds other things.
    """
    source, stamp = clone(), folder / STAMP
    if not stamp.exists() and folder.exists() and any(folder.iterdir()):
        fix = "Fix: another folder, or an empty one"
        raise SecateurError(f"{folder}: holds files, and is no workspace. {fix}")
    before = read_json(stamp) if stamp.exists() else {}
    brought = {str(name): (source / name).read_bytes() for name in _files(source)}
    now = {name: hashlib.sha256(content).hexdigest() for name, content in brought.items()}
    if now == before:
        return
    if not stamp.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(stamp, before)  # a copy that is stopped goes on with the next call
    kept = []
    for name in sorted({*now, *before}):
        path = folder / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        if digest not in (None, before.get(name), now.get(name)):
            kept.append(name)
        elif name not in now:
            path.unlink(missing_ok=True)
        elif digest != now[name]:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, brought[name].decode())
    (folder / "slurm").unlink(missing_ok=True)
    (folder / "slurm").symlink_to("profiles/slurm")
    write_json(stamp, now)
    if kept:
        tell(f"{folder}: edited here, and not as this version has them: {', '.join(kept)}")


def enter(named: Path | None = None) -> None:
    """Changes into a workspace, which is made where it is not there; without a name into secateur-work here or beside this folder.

    A clone or a workspace that the process stands in is entered already.
    """
    stood = Path.cwd()
    if named is None:
        near = [] if is_root(stood) else [stood / NAME, stood.parent / NAME]
        folder = next((place for place in near if (place / STAMP).exists()), stood)
    else:
        folder = stood / named
    if named or (folder / STAMP).exists():
        make(folder)
    if folder.resolve() != stood:
        _STOOD.append(stood)
        os.chdir(folder)
        tell(f"in {os.path.relpath(folder, _STOOD[0])}:")


def as_given(path: Path) -> Path:
    """A path of the command line, which is relative to where the user stands."""
    return _STOOD[0] / path if _STOOD else path
