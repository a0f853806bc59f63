"""Addresses of model files: a folder, a hub id, or files of an installed package.

`package:PACKAGE/PATH` is a folder or file of a package; `zipped:PATTERN` is a zip file that packages hold in pieces.
"""

import hashlib
import os
import shutil
import sysconfig
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from secateur.core.artifacts import made_once
from secateur.core.errors import SecateurError

__all__ = ["locate"]

PACKAGE, ZIPPED = "package:", "zipped:"


def locate(model: str) -> str:
    """The path of an address inside a package, which is not imported; any other address unchanged.

    Pieces of a zip file are joined and unpacked once, under SECATEUR_CACHE. Raises SecateurError for a missing package or
    file.
    """
    if model.startswith(PACKAGE):
        return str(_inside(model))
    return str(_unpacked(model)) if model.startswith(ZIPPED) else model


def _inside(model: str) -> Path:
    package, _, inside = model.removeprefix(PACKAGE).partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SecateurError(
            f"model {model}: package {package} is not installed. Fix: make setup (requirements/models.txt)."
        )
    path = Path(spec.submodule_search_locations[0]) / inside
    if not path.exists():
        raise SecateurError(f"model {model}: {path} does not exist. Fix: correct the path or reinstall {package}.")
    return path


def _unpacked(model: str) -> Path:
    """The model's folder in a zip file, whose pieces match a pattern in site-packages and are joined by name."""
    pieces = sorted(Path(sysconfig.get_path("purelib")).glob(model.removeprefix(ZIPPED)))
    if not pieces:
        raise SecateurError(f"model {model}: in no installed package. Fix: install its packages (docs/data.md).")
    sizes = [(piece.name, piece.stat().st_size) for piece in pieces]
    key = hashlib.sha256(repr((model, sizes)).encode()).hexdigest()
    cache = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
    folder = made_once(cache / "models" / key, lambda folder: _unpack(model, pieces, folder))
    return next(path.parent for path in sorted(folder.rglob("config.json"), key=lambda path: len(path.parts)))


def _unpack(model: str, pieces: list[Path], folder: Path) -> None:
    with tempfile.TemporaryFile() as whole:
        for piece in pieces:
            with piece.open("rb") as part:
                shutil.copyfileobj(part, whole)
        try:
            with zipfile.ZipFile(whole) as packed:
                packed.extractall(folder)
        except zipfile.BadZipFile as error:
            names = ", ".join(piece.name for piece in pieces)
            raise SecateurError(
                f"model {model}: {names} form no zip file ({error}). Fix: install all of its packages."
            ) from error
