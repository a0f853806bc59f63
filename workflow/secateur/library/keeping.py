"""A memory in a folder: tables (Parquet), vectors (safetensors), settings (memory.json)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.artifacts import made_once, read_json, write_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table
from secateur.library.graph import GRAPH

__all__ = ["Saved", "load", "save"]

SETTINGS, VECTORS, NAME = "memory.json", "vectors.safetensors", "texts_read"
KEYS = {"system", "assembly", "reader", "order", "overrides", "embedder"}  # of memory.json


@dataclass(frozen=True)
class Saved:
    """What a folder holds. embedder: whose vectors they are, None where there are none."""

    settings: dict[str, Any]
    embedder: Any
    passages: pl.DataFrame
    tables: dict[str, pl.DataFrame]
    vectors: NDArray[np.float32] | None


def save(path: Path, tables: Mapping[str, pl.DataFrame], vectors: NDArray | None, settings: Mapping[str, Any]) -> Path:
    """Writes a memory's folder, which appears whole or not at all. Raises SecateurError for a folder that exists."""
    from safetensors.numpy import save_file

    if path.exists():
        raise SecateurError(f"{path}: exists already. Fix: another folder, or remove it.")

    def write(into: Path) -> None:
        for name, frame in tables.items():
            write_table(TABLES[name], frame, into / f"{name}.parquet")
        if vectors is not None:
            save_file({NAME: np.ascontiguousarray(vectors)}, into / VECTORS)
        write_json(into / SETTINGS, dict(settings))

    return made_once(path, write)


def load(path: Path) -> Saved:
    """Reads a memory's folder. Raises SecateurError for one without a memory, and for a damaged file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if not (path / SETTINGS).exists():
        raise SecateurError(f"{path}: holds no memory ({SETTINGS} is missing). Fix: a folder that save() wrote.")
    settings = read_json(path / SETTINGS)
    if not isinstance(settings, dict) or settings.keys() != KEYS:
        raise SecateurError(
            f"{path / SETTINGS}: its keys are not {', '.join(sorted(KEYS))}. Fix: save the memory again."
        )
    embedder, vectors = settings.pop("embedder"), None
    tables = {
        name: read_table(TABLES[name], path / f"{name}.parquet")
        for name in GRAPH
        if (path / f"{name}.parquet").exists()
    }
    passages = read_table(TABLES["passages"], path / "passages.parquet").sort("doc_id", "position")
    try:
        vectors = None if embedder is None else load_file(path / VECTORS)[NAME]
    except (OSError, SafetensorError, KeyError) as error:
        raise SecateurError(f"{path / VECTORS}: not readable ({error}). Fix: index the texts again.") from error
    return Saved(settings, embedder, passages, tables, vectors)
