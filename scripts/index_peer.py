"""A corpus indexed by another system. That it fails is a finding: there is a row that says why, and no index."""

import time
from dataclasses import asdict

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.peers.documents import documents
from secateur.peers.extraction import served
from secateur.peers.work import adapter_of, at_work, pack, scratch
from secateur.peers.worker import PeerFailed
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    adapter, _ = adapter_of(cfg, ctx)
    count = lm_counter(cfg.extra.tokenizer, ctx.cache)
    texts = documents(inputs["passages"], count, None if adapter.SPLITS else cfg.peer.chunk)
    extraction = served(inputs["passages"], inputs["triples"])
    counts, failure, started = {}, None, time.monotonic()
    with scratch() as folder:
        try:
            with at_work(cfg, inputs.paths("environment"), extraction, folder, ctx) as (worker, endpoint):
                with endpoint.counting() as phase:
                    worker.index(list(map(asdict, texts)), cfg.peer.start + cfg.peer.document_seconds * len(texts))
                counts = phase.counts
        except PeerFailed as error:
            failure = str(error)
            ctx.warn(f"{ctx.axes['peer']} has no index, its rows are missing: {failure}")
        pack(folder, outputs.path("workspace"))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    own = {"peer": ctx.axes["peer"], "service": ctx.axes["service"], "documents": len(texts)}
    own |= {"corpus_tokens": int(count([one.text for one in texts]).sum()), "bytes": size, "failure": failure}
    own |= {name: counts.get(name, 0) for name in ("calls", "tokens_in", "tokens_out", "embedded_tokens")}
    own |= {"seconds": time.monotonic() - started}
    outputs["peer_costs"] = pl.DataFrame([own], schema=TABLES["peer_costs"].empty().schema)
    return {"documents": len(texts), "indexed": int(failure is None)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
