"""The endpoint without a peer's process: point any system with an adapter at it, on this machine, without a key."""

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
from secateur.peers.corpus import extraction_of
from secateur.peers.endpoint import Endpoint
from secateur.peers.replies import controlled

__all__ = ["serve"]


def serve(root: Path, corpus: str, adapter: str, extractor: str, port: int) -> None:
    """Print the address, reply until interrupted, then print the counts of the calls.

    Raises SecateurError where the corpus has no passages or triples here, or the port is taken.
    """
    conf, options = root / "conf", {"corpus": corpus, "extractor": extractor}
    targets = layout.triples(options, option(conf, "extractor", extractor).shards)
    passages, triples = root / layout.passages(options), [root / path for path in targets]
    if not all(path.exists() for path in (passages, *triples)):
        raise SecateurError(
            f"{corpus} has no triples of {extractor} here. Fix: snakemake --cores 2 {' '.join(targets)}"
        )
    cache = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
    module = plugins.load("peer", adapter)
    extraction = extraction_of(read_table(TABLES["passages"], passages), read_tables(TABLES["triples"], triples))
    embedder = Embedder(option(conf, "embedder", "minilm"), cache)
    count = lm_counter(option(conf, "lm", option(conf, "system", "secateur").reader).model, cache)
    endpoint = Endpoint(module, controlled(module, extraction), embedder.embed, count)
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell lets background processes ignore SIGINT
        signal.signal(number, signal.default_int_handler)
    try:
        with endpoint.serving(port) as url:
            print(f"{url} replies to {adapter} from the triples of {extractor} on {corpus}; stop: Ctrl-C", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        counts = endpoint.phase.counts
        print(", ".join(f"{name} {counts[name]}" for name in ("calls", "tokens_in", "tokens_out", "embedded")))
    except OSError as error:
        raise SecateurError(f"port {port}: {error.strerror}. Fix: another --port, or 0 for any free port.") from error
