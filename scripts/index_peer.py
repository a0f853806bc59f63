"""Index each group of a corpus with another system. A failure is a result: a row with its cause, and no index."""

import time
from collections import Counter
from dataclasses import asdict

from secateur.core.tables.catalog import TABLES
from secateur.models.word_pieces import lm_counter
from secateur.peers.corpus import documents_of, extraction_of, groups_of
from secateur.peers.work import adapter_of, pack, running, scratch_folder
from secateur.peers.worker import PeerFailed
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    adapter, _ = adapter_of(cfg, ctx)
    count = lm_counter(cfg.extra.tokenizer, ctx.cache)
    counts, failure, started, documents = Counter(), None, time.monotonic(), []
    with scratch_folder() as folder:
        try:
            for _, name, passages in groups_of(inputs["passages"]):
                docs = documents_of(passages, count, None if adapter.SPLITS else cfg.peer.chunk)
                documents += docs
                extraction = extraction_of(passages, inputs["triples"])
                with running(cfg, inputs.paths("environment"), extraction, folder / name, ctx) as (worker, endpoint):
                    with endpoint.counting() as phase:
                        worker.index(list(map(asdict, docs)), cfg.peer.start + cfg.peer.document_seconds * len(docs))
                    counts.update(phase.counts)
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
        **{name: counts[name] for name in ("calls", "tokens_in", "tokens_out", "embedded_tokens")},
        "seconds": time.monotonic() - started,
    }
    outputs["peer_costs"] = TABLES["peer_costs"].frame([costs])
    return {"documents": len(documents), "indexed": int(failure is None)}


main(run, globals().get("snakemake"))
