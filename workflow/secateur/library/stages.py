"""The pipeline's options and stages in this process: tables stay in memory."""

import logging
import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl

from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.vectors import Packed

__all__ = ["Tables", "cache_folder", "chosen", "context", "home", "run"]

Tables = dict[str, pl.DataFrame]
OWN = "_pipeline"  # what a wheel holds of the clone: conf and scripts
LOG = logging.getLogger("secateur")
THREADS = "POLARS_MAX_THREADS"


def home() -> Path:
    """The folder that has `conf` and `scripts`: the clone, or what an installed package brings of it."""
    package = Path(__file__).parents[1]
    own = package / OWN
    return own if own.exists() else package.parents[1]


def cache_folder() -> Path:
    """Where triples, vectors and converted models are kept: SECATEUR_CACHE, the clone's .cache, or one of the user's."""
    if known := os.environ.get("SECATEUR_CACHE"):
        return Path(known)
    if home().name != OWN:
        return home() / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "secateur"


def chosen(group: str, name: str, overrides: tuple[str, ...] = ()) -> Any:
    """An option of the pipeline's configuration. Raises SecateurError for an unknown one, with the allowed names."""
    os.environ.setdefault("SECATEUR_CACHE", str(cache_folder()))
    return option(home() / "conf", group, name, overrides, asked_by="the library")


@cache
def _stage(name: str) -> ModuleType:
    """A rule's script, loaded without running it. It asks Polars for one thread, which a program of one's own decides."""
    before = os.environ.get(THREADS)
    path = home() / "scripts" / f"{name}.py"
    spec = spec_from_file_location(f"secateur_stage_{name}", path)
    if spec is None or spec.loader is None:
        raise SecateurError(f"{path}: not there. Fix: install the package anew.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if before is None:
        os.environ.pop(THREADS, None)
    else:
        os.environ[THREADS] = before
    return module


class _Inputs(dict[str, pl.DataFrame]):
    """Tables by name, as a stage reads them; no files."""

    def paths(self, name: str) -> list[Path]:
        return []

    def vectors(self, name: str) -> Packed:
        return Packed.of(self[name]["embedding"].to_numpy())


class _Outputs(Tables):
    """Tables by name, as a stage writes them."""

    def in_parts(self, name: str, frames: Iterable[pl.DataFrame]) -> None:
        self[name] = pl.concat(frames)


def context(axes: Mapping[str, str] | None = None) -> Any:
    """What a stage gets besides tables."""
    from secateur.stage.contract import Context

    return Context(LOG, cache_folder(), dict(axes or {}), code="library")


def run(name: str, options: Mapping[str, Any], inputs: Tables, **axes: str) -> Tables:
    """What a stage makes of tables. options: by group."""
    outputs = _Outputs()
    _stage(name).run(SimpleNamespace(**options), _Inputs(inputs), outputs, context(axes))
    return {table: _cast(table, frame) for table, frame in outputs.items()}


def _cast(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A table as it would be read again."""
    empty = TABLES[name].empty()
    schema = {c: t for c, t in empty.schema.items() if not isinstance(t, pl.Array | pl.List)}
    return frame.select(empty.columns).cast({c: t for c, t in schema.items() if frame.schema[c] != t})
