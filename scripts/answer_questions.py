"""Questions answered by a language model under the context of one system, for one shard of the sessions."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.ask import fitted, generator
from secateur.answers.ending import is_refusal
from secateur.answers.generate import Completion, Generator
from secateur.contexts.table import made_for
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.subsets import answered
from secateur.memory.sessions import of_shard, sessions
from secateur.stage.contract import main


def _told(ctx, made: Generator, answers: Sequence[Completion]) -> dict[str, float]:
    """What the record says of the answers; times are of those that no cache had, and of this machine."""
    spent, several = made.seconds, max(len(answers), 1)
    prompts, completions = (sum(getattr(a, f"{kind}_tokens") for a in answers) for kind in ("prompt", "completion"))
    ctx.counts |= {"tokens_in": prompts, "tokens_out": completions, "answered_anew": spent.prompts}
    return {
        "prompt_tokens": prompts / several,
        "completion_tokens": completions / several,
        "prefill_seconds_per_question": spent.prefill / max(spent.prompts, 1),
        "decode_seconds_per_question": spent.decode / max(spent.prompts, 1),
        "decode_seconds_per_step": spent.decode / max(spent.steps, 1),
    }


def _check(contexts: pl.DataFrame, budget: int) -> None:
    """Raise SecateurError for contexts of which none may be answered with: every answer would be of a closed book."""
    if not made_for(contexts, [budget]):
        raise SecateurError(
            f"no context of the file is of budget {budget}, which questions are answered with. Fix: add them, or set "
            "assembly.budget to one that is there."
        )


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    mine = of_shard(sessions(asked, inputs["passages"]), ctx.axes["shard"])
    mine = mine.join(asked.select("question_id", "text"), on="question_id", maintain_order="left")
    _check(inputs["contexts"], cfg.assembly.budget)
    contexts = inputs["contexts"].filter(pl.col("budget") == cfg.assembly.budget).sort("question_id", "place")
    rows = dict(contexts.group_by("question_id", maintain_order=True).agg("text").iter_rows())
    if not mine.height:
        outputs["answers"] = TABLES["answers"].empty()
        return {"questions": 0}
    made = generator(cfg, ctx)
    prompts = [
        fitted(cfg.answer.instructions, made, qid, text, rows.get(qid, []))
        for qid, text in mine.select("question_id", "text").iter_rows()
    ]
    lacking = sum(cut > 0 for _, cut in prompts)
    if lacking:
        ctx.warn(
            f"{lacking} of {len(prompts)} contexts do not fit the window of {made.window} tokens and were cut at "
            "the end that is farthest from the question"
        )
    answers = made([prompt for prompt, _ in prompts])
    columns = ("prompt_tokens", "completion_tokens", "text", "stopped")
    own = {name: [getattr(answer, name) for answer in answers] for name in columns}
    own |= {"cut": [cut for _, cut in prompts]}
    own |= {"refused": [is_refusal(answer.text, cfg.answer.refusals) for answer in answers]}
    keys = mine.select("question_id", "session_id", "n")
    schema = TABLES["answers"].empty().schema
    outputs["answers"] = keys.with_columns(**{k: pl.Series(v, dtype=schema[k]) for k, v in own.items()})
    return {"questions": mine.height, "contexts_cut": lacking} | _told(ctx, made, answers)


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
