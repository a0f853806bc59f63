"""Where a model's files are: a folder, a hub id, or `package:PACKAGE/PATH` inside an installed package."""

from importlib.util import find_spec
from pathlib import Path

from secateur.pipeline.errors import SecateurError

__all__ = ["locate"]

PREFIX = "package:"


def locate(model: str) -> str:
    """A path for `package:` addresses (the package is found, not imported), else the address as it is.

    Raises SecateurError where the package or the file in it is missing.
    """
    if not model.startswith(PREFIX):
        return model
    package, _, inside = model.removeprefix(PREFIX).partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SecateurError(
            f"model {model}: package {package} is not installed. Fix: make setup (requirements/models.txt)."
        )
    path = Path(spec.submodule_search_locations[0]) / inside
    if not path.exists():
        raise SecateurError(f"model {model}: {path} does not exist. Fix: correct the path or reinstall {package}.")
    return str(path)
