"""What another system gives its reader for each question: part by part, and as a ranking of the passages that it holds."""

from collections import deque

import polars as pl

from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_tables
from secateur.evaluation.rows import long_rows
from secateur.peers.extraction import served
from secateur.peers.tracing import Span, Tracer
from secateur.peers.work import at_work, scratch, unpack
from secateur.peers.worker import PeerFailed
from secateur.stage.contract import main

PATIENCE = 3  # questions in a row that may fail
COSTS = {"calls": "peer_calls", "tokens_in": "peer_tokens_read", "answering": "peer_prompt_tokens"}


def _asked(cfg, worker, endpoint, tracer: Tracer, text: str) -> tuple[list[Span], dict[str, float]]:
    """The parts of the context of one question, and what was asked for it. Raises PeerFailed."""
    with endpoint.counting() as phase:
        worker.ask(text, cfg.peer.question_seconds)
    if phase.context is None:
        raise PeerFailed("it did not ask for an answer")
    if (size := sum(map(len, phase.context))) > cfg.peer.longest:
        raise PeerFailed(f"its context has {size} characters, more than peer.longest ({cfg.peer.longest})")
    costs = {name: float(phase.counts[key]) for key, name in COSTS.items()}
    return [span for part in phase.context for span in tracer.spans(part)], costs


def _all(cfg, inputs, folder, ctx):
    """(question, its spans, its costs) of every question that has a context, and how many have none.

    Raises PeerFailed where several in a row have none.
    """
    passages, questions = inputs["passages"], inputs["questions"].sort("position")
    own = read_tables(TABLES["triples"], inputs.paths("asked"))
    extraction = served(passages, inputs["triples"], questions, own)
    tracer, found, failed, in_a_row = Tracer(passages["text"].to_list()), [], [], 0
    known, todo = {}, deque(questions.select("question_id", "text").rows())
    while todo:
        with at_work(cfg, inputs.paths("environment"), extraction, folder, ctx) as (worker, endpoint):
            while todo and not worker.ended:  # one that hung was ended, and is started again
                question, text = todo.popleft()
                try:
                    if text not in known:  # asked twice, some answer from a cache of their own
                        known[text] = _asked(cfg, worker, endpoint, tracer, text)
                    found.append((question, *known[text]))
                    in_a_row = 0
                except PeerFailed as error:
                    failed.append(f"{question}: {error}")
                    in_a_row += 1
                if in_a_row == PATIENCE:
                    raise PeerFailed(f"{PATIENCE} questions in a row have no context; question {failed[-1]}")
    ctx.note_counts({"questions_without_a_context": len(failed)})
    for said in failed:
        ctx.log.warning("question %s", said)
    return found, len(failed)


def run(cfg, inputs, outputs, ctx):
    failure, found, failed = inputs["peer_costs"]["failure"][0], [], 0
    with scratch() as folder:
        try:
            if failure is None:
                unpack(inputs.paths("workspace")[0], folder)
                found, failed = _all(cfg, inputs, folder, ctx)
        except PeerFailed as error:
            failure = str(error)
    if failure:
        ctx.warn(f"{ctx.axes['peer']} answers no question, its rows are missing: {failure}")
    ids = inputs["passages"]["passage_id"].to_list()
    parts, rankings, costs = [], [], []
    for question, spans, own in found:
        parts += [
            (question, n, one.text, None if one.passage is None else ids[one.passage]) for n, one in enumerate(spans)
        ]
        held = dict.fromkeys(one.passage for one in spans if one.passage is not None)
        rankings += [(question, PEER, n, ids[row], None, float(-n), False) for n, row in enumerate(held)]
        costs += [(question, "aware", None, False, name, value) for name, value in own.items()]
    outputs["sent"] = pl.DataFrame(parts, schema=TABLES["sent"].empty().schema, orient="row")
    outputs["rankings"] = pl.DataFrame(rankings, schema=TABLES["rankings"].empty().schema, orient="row")
    outputs["question_metrics"] = long_rows(costs)
    traced = sum(len(text) for _, _, text, passage in parts if passage is not None)
    length = sum(len(text) for _, _, text, _ in parts)
    own = {"questions": len(found), "failed": failed, "traced": traced / length if length else None, "failure": failure}
    outputs["peer_asked"] = pl.DataFrame([own], schema=TABLES["peer_asked"].empty().schema)
    return {"questions": len(found), "failed": failed}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
