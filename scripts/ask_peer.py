"""Ask another system each question; its answering prompt gives parts of text and a ranking of the passages in them."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from secateur.contexts.tracing import Span, Tracer
from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_tables
from secateur.evaluation.rows import long_rows
from secateur.peers.corpus import extraction_of, groups_of
from secateur.peers.work import running, scratch_folder, unpack
from secateur.peers.worker import PeerFailed
from secateur.stage.contract import main

PATIENCE = 3  # consecutive questions that may fail
COSTS = {"calls": "peer_calls", "tokens_in": "peer_tokens_read", "answering": "peer_prompt_tokens"}


@dataclass(frozen=True)
class Context:
    """The context of one question in parts, and the costs of asking it."""

    spans: list[Span]
    costs: dict[str, float]


def _ask(cfg, worker, endpoint, tracer: Tracer, rows: Sequence[int], text: str) -> Context:
    """Ask one question. rows: of the tracer's passages among all. Raises PeerFailed."""
    with endpoint.counting() as phase:
        worker.ask(text, cfg.peer.question_seconds)
    if phase.context is None:
        raise PeerFailed("it did not ask for an answer")
    if (size := sum(map(len, phase.context))) > cfg.peer.longest:
        raise PeerFailed(f"its context has {size} characters, more than peer.longest ({cfg.peer.longest})")
    costs = {name: float(phase.counts[key]) for key, name in COSTS.items()}
    spans = (span for part in phase.context for span in tracer.spans(part))
    return Context([Span(s.text, None if s.passage is None else rows[s.passage]) for s in spans], costs)


def _attempt(cfg, worker, endpoint, tracer: Tracer, rows: Sequence[int], text: str) -> Context | PeerFailed:
    """The context of one question, or why it has none."""
    try:
        return _ask(cfg, worker, endpoint, tracer, rows, text)
    except PeerFailed as error:
        return error


def _check_patience(outcomes: Mapping[str, Context | PeerFailed]) -> None:
    """Raise PeerFailed where the last few questions have no context."""
    last = list(islice(reversed(outcomes.items()), PATIENCE))
    if len(last) == PATIENCE and all(isinstance(outcome, PeerFailed) for _, outcome in last):
        question, error = last[0]
        raise PeerFailed(f"{PATIENCE} questions in a row have no context; question {question}: {error}")


def _ask_all(cfg, inputs, folder, ctx) -> tuple[dict[str, Context], int]:
    """The context of each question that has one, and the number of those without.

    Raises PeerFailed after several consecutive questions without a context.
    """
    questions = inputs["questions"].sort("position")
    question_triples = read_tables(TABLES["triples"], inputs.paths("question_triples"))
    outcomes: dict[str, Context | PeerFailed] = {}
    for group, name, passages in groups_of(inputs["passages"]):
        queue = deque(questions.filter(group_id=group).select("question_id", "text").rows())
        extraction = extraction_of(passages, inputs["triples"], questions, question_triples)
        tracer = Tracer(passages["text"].to_list())
        rows = passages["row"].to_list()
        by_text: dict[str, Context | PeerFailed] = {}  # some peers answer a repeated question from a cache
        while queue:
            with running(cfg, inputs.paths("environment"), extraction, folder / name, ctx) as (worker, endpoint):
                while queue and not worker.ended:  # a process that hung was ended; the outer loop starts another
                    question, text = queue.popleft()
                    if not isinstance(by_text.get(text), Context):
                        by_text[text] = _attempt(cfg, worker, endpoint, tracer, rows, text)
                    outcomes[question] = by_text[text]
                    _check_patience(outcomes)
    failures = {question: error for question, error in outcomes.items() if isinstance(error, PeerFailed)}
    ctx.note_counts({"questions_without_a_context": len(failures)})
    for question, error in failures.items():
        ctx.log.warning("question %s: %s", question, error)
    return {question: outcome for question, outcome in outcomes.items() if isinstance(outcome, Context)}, len(failures)


def run(cfg, inputs, outputs, ctx):
    failure, contexts, failed = inputs["peer_costs"]["failure"][0], {}, 0
    with scratch_folder() as folder:
        try:
            if failure is None:
                unpack(inputs.paths("workspace")[0], folder)
                contexts, failed = _ask_all(cfg, inputs, folder, ctx)
        except PeerFailed as error:
            failure = str(error)
    if failure:
        ctx.warn(f"{ctx.axes['peer']} answers no question, its rows are missing: {failure}")
    ids = inputs["passages"]["passage_id"].to_list()
    excluded = dict(inputs["questions"].select("question_id", "excluded").drop_nulls().iter_rows())
    sent, rankings, costs = [], [], []
    for question, context in contexts.items():
        spans = [s for s in context.spans if s.passage is None or ids[s.passage] != excluded.get(question)]
        sent += [
            (question, n, span.text, None if span.passage is None else ids[span.passage])
            for n, span in enumerate(spans)
        ]
        rows = dict.fromkeys(span.passage for span in spans if span.passage is not None)
        rankings += [(question, PEER, n, ids[row], None, float(-n), False) for n, row in enumerate(rows)]
        costs += [(question, "aware", None, False, name, value) for name, value in context.costs.items()]
    outputs["sent"] = TABLES["sent"].frame(sent)
    outputs["rankings"] = TABLES["rankings"].frame(rankings)
    outputs["question_metrics"] = long_rows(costs)
    traced = sum(len(text) for _, _, text, passage in sent if passage is not None)
    length = sum(len(text) for _, _, text, _ in sent)
    share = traced / length if length else None
    row = {"questions": len(contexts), "failed": failed, "traced": share, "failure": failure}
    outputs["peer_asked"] = TABLES["peer_asked"].frame([row])
    return {"questions": len(contexts), "failed": failed}


main(run, globals().get("snakemake"))
