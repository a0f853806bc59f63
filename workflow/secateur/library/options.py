"""The pipeline's options in this process, and where caches stand."""

import logging
import os
from pathlib import Path
from typing import Any

from secateur.config.compose import option
from secateur.core.workspace import PACKAGED, clone

__all__ = ["LOG", "cache_folder", "chosen", "context", "home"]

LOG = logging.getLogger("secateur")


def home() -> Path:
    """The folder of options: the clone's conf/, or the copy in an installed package."""
    return clone() / "conf"


def cache_folder() -> Path:
    """The folder of triples, vectors and converted models: SECATEUR_CACHE, the clone's .cache, or one of the user's."""
    if folder := os.environ.get("SECATEUR_CACHE"):
        return Path(folder)
    if clone() != PACKAGED:
        return clone() / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "secateur"


def chosen(group: str, name: str, overrides: tuple[str, ...] = ()) -> Any:
    """An option of the pipeline's configuration. Raises SecateurError for an unknown one, with the allowed names."""
    os.environ.setdefault("SECATEUR_CACHE", str(cache_folder()))
    return option(home(), group, name, overrides, asked_by="the library")


def context() -> Any:
    """What the pipeline's functions get besides data: a logger, the cache, counters."""
    from secateur.stage.contract import Context

    return Context(LOG, cache_folder(), {}, code="library")
