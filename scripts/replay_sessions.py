"""What memory saves: new prompt tokens, reuse and growth of each question of a session, and the evidence its reader holds."""

import polars as pl

from secateur.contexts.table import Read, sizes_of
from secateur.evaluation.evidence import Case, Gold, gold_of
from secateur.evaluation.metric import measured, only
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import of_split
from secateur.memory.replay import Step, Unit, replay, within
from secateur.memory.sessions import sessions
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main


def _needs(edges: pl.DataFrame, edge_sources: pl.DataFrame) -> dict[str, frozenset[tuple]]:
    """By passage: its entities, relations and edges, which are the session's codebook once it was shown."""
    rows = edge_sources.join(edges.select("edge_id", "h", "r", "t"), on="edge_id")
    found: dict[str, set] = {}
    for passage, edge, h, r, t in rows.select("passage_id", "edge_id", "h", "r", "t").iter_rows():
        found.setdefault(passage, set()).update([("edge", edge), ("entity", h), ("relation", r), ("entity", t)])
    return {passage: frozenset(needs) for passage, needs in found.items()}


def _blocks(cfg, inputs, ctx) -> dict[str, list[list[Unit]]]:
    """Each question's prompt as used, and under smaller budgets: the largest first."""
    shown = inputs["edge_sources"].join(inputs["contexts"], on="passage_id", how="semi")
    needs, nothing = _needs(inputs["edges"], shown), frozenset()  # a sentence without a triple needs no symbol

    def unit(row: dict) -> Unit:
        passage, whole = row["passage_id"], row["whole"]
        return Unit(row["text"], row["size"], passage, whole, needs.get(passage, nothing))

    found = sizes_of(inputs["contexts"], cfg.assembly.budget, lm_counter(cfg.lm.model, ctx.cache))
    return {question: [[unit(row) for row in block] for block in sizes] for question, sizes in found.items()}


KEPT = ("evidence_recall", "token_recall")


def _recall(cfg, gold: Gold, units: list[Unit], suffix: str) -> dict[str, float]:
    """The evidence in what a reader has before it."""
    read = Read([u.text for u in units], [u.passage for u in units], [u.whole for u in units], 0)
    (found,) = measured([Case(gold, read)], (), only(cfg.eval.metrics, KEPT), "conf/eval/default")
    return {f"memory_{name}{suffix}": value for name, value in found.items()}


def _evidence(cfg, gold: Gold, step: Step, sizes: list[list[Unit]]) -> dict[str, float]:
    """The evidence before the reader of a later question: with memory, in its own context, and in its own context cut to
    the tokens of evidence that memory lets it send; and what memory gives beyond the last."""
    equal = within(sizes, sum(unit.tokens for unit in step.fresh))
    held, cut = _recall(cfg, gold, step.held, ""), _recall(cfg, gold, equal, "_equal")
    gains = {f"{name}_gain": value - cut[f"{name}_equal"] for name, value in held.items() if f"{name}_equal" in cut}
    return held | cut | gains | _recall(cfg, gold, step.block, "_alone")


def _tokens(count, question: str, units: list[Unit]) -> int:
    """Tokens of a prompt that carries these units."""
    text = "\n".join([*(u.text for u in units), f"Question: {question}", "Answer:"])
    return int(count([text])[0])


def _figures(step: Step, place: str, sent: int, alone: int, first: int) -> dict[str, float]:
    """The figures of one question that need no gold."""
    found = {
        f"memory_tokens_{place}": sent,
        f"memory_tokens_{place}_alone": alone,
        f"memory_growth_{place}": step.grown,
    }
    if place == "later":
        found |= {"memory_tokens_to_first": sent / first}
        found |= {"memory_reuse": step.reused} if step.reused is not None else {}
    return found


def run(cfg, inputs, outputs, ctx):
    questions, passages = inputs["questions"], inputs["passages"]
    gold, count, blocks = (
        gold_of(questions, inputs["evidence"], passages),
        lm_counter(cfg.lm.model, ctx.cache),
        _blocks(cfg, inputs, ctx),
    )
    chosen = of_split(questions, cfg.dataset.split)
    asked, rows, several = dict(chosen.select("question_id", "text").iter_rows()), [], 0
    parts = sessions(chosen, passages).partition_by("session_id", maintain_order=True)
    for part in ctx.progress(parts, len(parts), "sessions"):
        if part.height < 2:  # nothing to remember
            continue
        several, first = several + 1, 0
        for n, step in enumerate(replay(part["question_id"].to_list(), blocks, cfg.memory.window, cfg.memory.fresh)):
            sent, alone = (_tokens(count, asked[step.question_id], units) for units in (step.fresh, step.block))
            first = first or sent
            found = _figures(step, "later" if n else "first", sent, alone, first)
            if n and step.question_id in gold:
                found |= _evidence(cfg, gold[step.question_id], step, blocks.get(step.question_id, ()))
            rows += [
                (step.question_id, cfg.extra.order, None, False, metric, float(value))
                for metric, value in found.items()
            ]
    outputs["question_metrics"] = long_rows(rows)
    return {"sessions": several, "questions": len({row[0] for row in rows})}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
