"""Answer questions with a language model under the contexts of one system, for one shard of the sessions."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.ask import fitted, generator, losses
from secateur.answers.ending import is_refusal
from secateur.answers.generate import Completion, Generator
from secateur.contexts.table import at
from secateur.core import layout
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.subsets import answered
from secateur.memory.sessions import of_shard, sessions
from secateur.stage.contract import main


def _costs(ctx, model: Generator, answers: Sequence[Completion]) -> dict[str, float]:
    """Mean tokens and seconds of an answer; the seconds of uncached answers on this machine."""
    seconds, count = model.seconds, max(len(answers), 1)
    prompts, completions = (sum(getattr(a, f"{kind}_tokens") for a in answers) for kind in ("prompt", "completion"))
    ctx.counts |= {"tokens_in": prompts, "tokens_out": completions, "answered_anew": seconds.prompts}
    return {
        "prompt_tokens": prompts / count,
        "completion_tokens": completions / count,
        "prefill_seconds_per_question": seconds.prefill / max(seconds.prompts, 1),
        "decode_seconds_per_question": seconds.decode / max(seconds.prompts, 1),
        "decode_seconds_per_step": seconds.decode / max(seconds.steps, 1),
    }


def run(cfg, inputs, outputs, ctx):
    sample = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    turns = of_shard(sessions(sample, inputs["passages"]), ctx.shard)
    turns = turns.join(sample.select("question_id", "text"), on="question_id", maintain_order="left")
    contexts = at(inputs["contexts"], cfg.assembly.budget).sort("question_id", "place")
    rows = dict(contexts.group_by("question_id", maintain_order=True).agg("text").iter_rows())
    if layout.own_length(layout.options_of(ctx.axes)):  # what no context was made for elsewhere is not answered
        turns = turns.filter(pl.col("question_id").is_in(list(rows)))
    if cfg.extra.sees_gold:  # under no passage, an upper bound would be a closed book
        bounded = turns.filter(pl.col("question_id").is_in(list(rows)))
        ctx.note_counts({"questions_without_gold_passages": turns.height - bounded.height})
        turns = bounded
    if not turns.height:
        outputs["answers"] = TABLES["answers"].empty()
        return {"questions": 0}
    model = generator(cfg, ctx)
    prompts = [
        fitted(cfg.answer.instructions, model, qid, text, rows.get(qid, []))
        for qid, text in turns.select("question_id", "text").iter_rows()
    ]
    cut = sum(units > 0 for _, units in prompts)
    if cut:
        ctx.warn(
            f"{cut} of {len(prompts)} contexts do not fit the window of {model.window} tokens and were cut at "
            "the end that is farthest from the question"
        )
    answers = model([prompt for prompt, _ in prompts])
    lost = losses(answers, cfg.answer, "answer")
    ctx.note_counts(lost)
    if lost["thoughts_without_answer"]:
        template = ", or answer.template={enable_thinking: false}" if cfg.answer.backend != "completions" else ""
        ctx.warn(f"these answers are empty. Fix: a higher answer.max_tokens{template}")
    names = ("prompt_tokens", "completion_tokens", "text", "stopped")
    columns = {name: [getattr(answer, name) for answer in answers] for name in names}
    columns |= {"cut": [units for _, units in prompts]}
    columns |= {"refused": [is_refusal(answer.text, cfg.answer.refusals) for answer in answers]}
    keys = turns.select("question_id", "session_id", "n")
    schema = TABLES["answers"].empty().schema
    outputs["answers"] = keys.with_columns(**{k: pl.Series(v, dtype=schema[k]) for k, v in columns.items()})
    return {"questions": turns.height, "contexts_cut": cut} | _costs(ctx, model, answers)


main(run, globals().get("snakemake"))
