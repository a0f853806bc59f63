"""Index a corpus with another system. A failure is a result: a row with its cause, and no index."""

import time
from dataclasses import asdict

from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.peers.corpus import documents_of, extraction_of
from secateur.peers.work import adapter_of, pack, running, scratch_folder
from secateur.peers.worker import PeerFailed
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    adapter, _ = adapter_of(cfg, ctx)
    count = lm_counter(cfg.extra.tokenizer, ctx.cache)
    documents = documents_of(inputs["passages"], count, None if adapter.SPLITS else cfg.peer.chunk)
    extraction = extraction_of(inputs["passages"], inputs["triples"])
    counts, failure, started = {}, None, time.monotonic()
    with scratch_folder() as folder:
        try:
            with running(cfg, inputs.paths("environment"), extraction, folder, ctx) as (worker, endpoint):
                with endpoint.counting() as phase:
                    limit = cfg.peer.start + cfg.peer.document_seconds * len(documents)
                    worker.index(list(map(asdict, documents)), limit)
                counts = phase.counts
        except PeerFailed as error:
            failure = str(error)
            ctx.warn(f"{ctx.axes['peer']} has no index, its rows are missing: {failure}")
        pack(folder, outputs.path("workspace"))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    costs = {
        "peer": ctx.axes["peer"],
        "service": ctx.axes["service"],
        "documents": len(documents),
        "corpus_tokens": int(count([document.text for document in documents]).sum()),
        "bytes": size,
        "failure": failure,
        **{name: counts.get(name, 0) for name in ("calls", "tokens_in", "tokens_out", "embedded_tokens")},
        "seconds": time.monotonic() - started,
    }
    outputs["peer_costs"] = TABLES["peer_costs"].frame([costs])
    return {"documents": len(documents), "indexed": int(failure is None)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
