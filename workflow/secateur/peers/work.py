"""Run a peer during one stage: its process, its endpoint, and its folder."""

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
from secateur.peers.endpoint import Endpoint
from secateur.peers.environment import PROJECT, variables
from secateur.peers.replies import controlled, released
from secateur.peers.wire import Extraction
from secateur.peers.worker import PeerFailed, Worker

__all__ = ["adapter_of", "pack", "running", "scratch_folder", "unpack"]


def adapter_of(cfg, ctx) -> tuple[ModuleType, Any]:
    """The module of a peer's plug-in, and its settings."""
    spec = cfg.peer.adapter
    (name,) = plugins.names_in(spec)
    return plugins.load("peer", name), plugins.settings("peer", spec, f"conf/peer/{ctx.axes['peer']}", "peer.adapter")


@contextmanager
def running(
    cfg, environment: Sequence[Path], extraction: Extraction, folder: Path, ctx
) -> Iterator[tuple[Worker, Endpoint]]:
    """The process of a peer and its endpoint. Raises PeerFailed without an environment, or if the peer does not start.

    environment: the file that `prepare_peer` wrote, or nothing for this project's environment. folder: of a group of passages,
    within a scratch folder.
    """
    python = read_json(environment[0]) if environment else PROJECT
    if python["failure"]:
        raise PeerFailed(f"its environment is not installed: {python['failure']}")
    adapter, settings = adapter_of(cfg, ctx)
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    count = lm_counter(cfg.extra.tokenizer, ctx.cache)
    service = cfg.service
    reply = controlled(adapter, extraction) if service.url is None else released(service, ctx.cache, ctx.log)
    endpoint = Endpoint(adapter, reply, embedder.embed, count)
    log = folder.parent.with_name("peer.log")
    folder.mkdir(exist_ok=True)  # an index without files packs no folder
    with endpoint.serving() as url, Worker(python["python"], variables(python["python"]), folder, log) as worker:
        try:
            worker.create(adapter.__name__, asdict(settings), url, cfg.peer.start)
            yield worker, endpoint
        finally:
            if log.exists():
                ctx.log.info("%s", log.read_text(encoding="utf-8", errors="replace"))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder for a peer, removed at the end of the `with` block."""
    with TemporaryDirectory(prefix="secateur-peer-") as parent:
        folder = Path(parent) / "work"
        folder.mkdir()
        yield folder


def pack(folder: Path, path: Path) -> None:
    """Write the files of a folder as one zip file; equal files give equal bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(str(file.relative_to(folder)))  # dated 1980, whenever the file was written
            with file.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)


def unpack(path: Path, folder: Path) -> None:
    """Extract a packed folder."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
