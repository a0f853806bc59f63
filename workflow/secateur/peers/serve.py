"""The endpoint by itself: any system of a known kind can be pointed at it, on this machine, without a key."""

import os
import signal
import threading
from pathlib import Path

from secateur.config import plugins
from secateur.config.compose import option
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, read_tables
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import lm_counter
from secateur.peers.endpoint import Endpoint, controlled
from secateur.peers.extraction import served

__all__ = ["serve"]


def serve(root: Path, corpus: str, adapter: str, extractor: str, port: int) -> None:
    """Print the address, answer until interrupted, print what was asked.

    Raises SecateurError where the corpus has no passages or triples here, or the port is taken.
    """
    conf, options = root / "conf", {"corpus": corpus, "extractor": extractor}
    wanted = layout.triples(options, option(conf, "extractor", extractor).shards)
    passages, triples = root / layout.passages(options), [root / path for path in wanted]
    if not all(path.exists() for path in (passages, *triples)):
        raise SecateurError(f"{corpus} has no triples of {extractor} here. Fix: snakemake --cores 2 {' '.join(wanted)}")
    cache = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
    module = plugins.load("peer", adapter)
    extraction = served(read_table(TABLES["passages"], passages), read_tables(TABLES["triples"], triples))
    embedder = Embedder(option(conf, "embedder", "minilm"), cache)
    endpoint = Endpoint(module, controlled(module, extraction), embedder.embed, lm_counter(_tokenizer(conf), cache))
    for ending in (signal.SIGINT, signal.SIGTERM):  # also where a shell started it in the background
        signal.signal(ending, signal.default_int_handler)
    try:
        with endpoint.serving(port) as url:
            print(
                f"{url} answers as {adapter} asks, from {extractor}'s triples of {corpus}; Ctrl-C ends it", flush=True
            )
            threading.Event().wait()
    except KeyboardInterrupt:
        counts = endpoint.phase.counts
        print(", ".join(f"{name} {counts[name]}" for name in ("calls", "tokens_in", "tokens_out", "embedded")))
    except OSError as error:
        raise SecateurError(
            f"port {port}: {error.strerror}. Fix: another --port, or none for any that is free."
        ) from error


def _tokenizer(conf: Path) -> str:
    return option(conf, "lm", option(conf, "system", "secateur").reader).model
