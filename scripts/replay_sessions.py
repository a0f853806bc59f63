"""Replay memory sessions: new prompt tokens, reuse and growth of each question, and evidence recall of its reader."""

import polars as pl

from secateur.contexts.table import Read, sizes_of
from secateur.evaluation.evidence import Case, Gold, gold_of
from secateur.evaluation.metric import measure_all, select_metrics
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import of_split
from secateur.memory.replay import Step, Unit, replay, within
from secateur.memory.sessions import sessions
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main

METRICS = ("evidence_recall", "token_recall")


def _needs(edges: pl.DataFrame, edge_sources: pl.DataFrame) -> dict[str, frozenset[tuple]]:
    """Entities, relations and edges by passage, which join the session's codebook when the passage is shown."""
    rows = edge_sources.join(edges.select("edge_id", "h", "r", "t"), on="edge_id")
    needs: dict[str, set] = {}
    for passage, edge, h, r, t in rows.select("passage_id", "edge_id", "h", "r", "t").iter_rows():
        needs.setdefault(passage, set()).update([("edge", edge), ("entity", h), ("relation", r), ("entity", t)])
    return {passage: frozenset(symbols) for passage, symbols in needs.items()}


def _blocks(cfg, inputs, ctx) -> dict[str, list[list[Unit]]]:
    """Contexts by question id, the largest first."""
    shown = inputs["edge_sources"].join(inputs["contexts"], on="passage_id", how="semi")
    needs, none = _needs(inputs["edges"], shown), frozenset()  # a passage without a triple needs no symbol

    def unit(row: dict) -> Unit:
        passage, whole = row["passage_id"], row["whole"]
        return Unit(row["text"], row["size"], passage, whole, needs.get(passage, none))

    contexts = sizes_of(inputs["contexts"], cfg.assembly.budget, lm_counter(cfg.lm.model, ctx.cache))
    return {question: [[unit(row) for row in block] for block in sizes] for question, sizes in contexts.items()}


def _recall(cfg, gold: Gold, units: list[Unit], suffix: str) -> dict[str, float]:
    """Evidence recall and token recall of units, named `memory_METRIC` and the suffix."""
    read = Read([u.text for u in units], [u.passage for u in units], [u.whole for u in units], 0)
    (values,) = measure_all([Case(gold, read)], (), select_metrics(cfg.eval.metrics, METRICS), "conf/eval/default")
    return {f"memory_{name}{suffix}": value for name, value in values.items()}


def _evidence(cfg, gold: Gold, step: Step, sizes: list[list[Unit]]) -> dict[str, float]:
    """Recall of a later question's reader with memory, without it, and without it at equal tokens (`_equal`).

    `_gain` is recall with memory minus recall without it at equal tokens of sent evidence.
    """
    at_equal_tokens = within(sizes, sum(unit.tokens for unit in step.fresh), cfg.assembly.placement)
    memory, equal = _recall(cfg, gold, step.held, ""), _recall(cfg, gold, at_equal_tokens, "_equal")
    gains = {
        f"{name}_gain": value - equal[f"{name}_equal"] for name, value in memory.items() if f"{name}_equal" in equal
    }
    return memory | equal | gains | _recall(cfg, gold, step.block, "_alone")


def _tokens(count, question: str, units: list[Unit]) -> int:
    """Tokens of a prompt with these units."""
    text = "\n".join([*(u.text for u in units), f"Question: {question}", "Answer:"])
    return int(count([text])[0])


def _figures(step: Step, place: str, sent: int, alone: int, first: int) -> dict[str, float]:
    """Metrics of one question that need no gold evidence."""
    metrics = {
        f"memory_tokens_{place}": sent,
        f"memory_tokens_{place}_alone": alone,
        f"memory_growth_{place}": step.grown,
    }
    if place == "later":
        metrics |= {"memory_tokens_to_first": sent / first}
        metrics |= {"memory_reuse": step.reused} if step.reused is not None else {}
    return metrics


def run(cfg, inputs, outputs, ctx):
    questions, passages = inputs["questions"], inputs["passages"]
    gold = gold_of(questions, inputs["evidence"], passages)
    count = lm_counter(cfg.lm.model, ctx.cache)
    blocks = _blocks(cfg, inputs, ctx)
    questions = of_split(questions, cfg.dataset.split)
    texts, rows, replayed = dict(questions.select("question_id", "text").iter_rows()), [], 0
    by_session = sessions(questions, passages).partition_by("session_id", maintain_order=True)
    for part in ctx.progress(by_session, len(by_session), "sessions"):
        if part.height < 2:  # no earlier question to remember
            continue
        replayed, first = replayed + 1, 0
        for n, step in enumerate(replay(part["question_id"].to_list(), blocks, cfg.memory.window, cfg.memory.fresh)):
            sent, alone = (_tokens(count, texts[step.question_id], units) for units in (step.fresh, step.block))
            first = first or sent
            metrics = _figures(step, "later" if n else "first", sent, alone, first)
            if n and step.question_id in gold:
                metrics |= _evidence(cfg, gold[step.question_id], step, blocks.get(step.question_id, ()))
            row = (step.question_id, cfg.extra.order, None, False)
            rows += [(*row, metric, float(value)) for metric, value in metrics.items()]
    outputs["question_metrics"] = long_rows(rows)
    return {"sessions": replayed, "questions": len({row[0] for row in rows})}


main(run, globals().get("snakemake"))
