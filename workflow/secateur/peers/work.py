"""A peer at work: its process, the endpoint that it asks, and its folder, for as long as one stage lasts."""

import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from secateur.config import plugins
from secateur.core.artifacts import read_json
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import lm_counter
from secateur.peers.endpoint import Answer, Endpoint, controlled
from secateur.peers.environment import OWN, variables
from secateur.peers.released import released
from secateur.peers.worker import PeerFailed, Worker

__all__ = ["adapter_of", "at_work", "pack", "scratch", "unpack"]


def adapter_of(cfg, ctx) -> tuple[ModuleType, Any]:
    """The module of a peer's kind, and its settings."""
    spec = cfg.peer.adapter
    (name,) = plugins.names_in(spec)
    return plugins.load("peer", name), plugins.settings("peer", spec, f"conf/peer/{ctx.axes['peer']}", "peer.adapter")


@contextmanager
def at_work(cfg, environment: Sequence[Path], extraction, folder: Path, ctx) -> Iterator[tuple[Worker, Endpoint]]:
    """The peer, started, and its endpoint. Raises PeerFailed where there is no environment, or it does not start."""
    python = read_json(environment[0]) if environment else OWN
    if python["failure"]:
        raise PeerFailed(f"its environment is not installed: {python['failure']}")
    adapter, settings = adapter_of(cfg, ctx)
    embedder, count = Embedder(cfg.embedder, ctx.cache, ctx.log), lm_counter(cfg.extra.tokenizer, ctx.cache)
    endpoint = Endpoint(adapter, _answer(cfg, adapter, extraction, ctx), embedder.embed, count)
    log = folder.with_name("peer.log")
    with endpoint.serving() as url, Worker(python["python"], variables(python["python"]), folder, log) as worker:
        try:
            worker.make(adapter.__name__, asdict(settings), url, cfg.peer.start)
            yield worker, endpoint
        finally:
            if log.exists():
                ctx.log.info("%s", log.read_text(encoding="utf-8", errors="replace"))


def _answer(cfg, adapter: ModuleType, extraction, ctx) -> Answer:
    return controlled(adapter, extraction) if cfg.service.url is None else released(cfg.service, ctx.cache, ctx.log)


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder for a peer, which is removed."""
    with TemporaryDirectory(prefix="secateur-peer-") as parent:
        folder = Path(parent) / "work"
        folder.mkdir()
        yield folder


def pack(folder: Path, path: Path) -> None:
    """The files of a folder as one; the same files always give the same one."""
    with zipfile.ZipFile(path, "w") as packed:
        for one in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(str(one.relative_to(folder)))  # of the year 1980, whenever it was written
            with one.open("rb") as stream, packed.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(stream, target)


def unpack(path: Path, folder: Path) -> None:
    """The folder that was packed."""
    with zipfile.ZipFile(path) as packed:
        packed.extractall(folder)
