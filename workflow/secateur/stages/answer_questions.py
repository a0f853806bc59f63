"""Questions answered by a language model under the context of one system, for one shard of the sessions."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.ending import is_refusal
from secateur.answers.endpoint import Remote
from secateur.answers.generate import Completion, Generator, InProcess
from secateur.answers.prompt import compose, units_cut
from secateur.models.causal import load
from secateur.models.word_pieces import lm_counter
from secateur.sessions import of_shard, sessions
from secateur.subsets import answered
from secateur.tables import TABLES


def _generator(cfg, ctx) -> Generator:
    if cfg.answer.backend == "lm":
        return InProcess(load(cfg.lm, ctx.cache, ctx.device), cfg.answer, ctx.cache)
    return Remote(cfg.answer, lm_counter(cfg.lm.model), cfg.lm.window, ctx.cache, ctx.log)


def _prompt(cfg, generator: Generator, name: str, question: str, units: Sequence[str]) -> tuple[str, int]:
    """The prompt as far as it fits the window, and how many units of the context it lacks."""

    def without(cut: int) -> str:
        return compose(cfg.answer.instructions, units[cut:], question)

    cut = units_cut(len(units), lambda cut: generator.size(without(cut)), generator.window, name)
    return without(cut), cut


def _told(ctx, generator: Generator, answers: Sequence[Completion]) -> dict[str, float]:
    """What the record says of the answers; times are of those that no cache had, and of this machine."""
    spent, several = generator.seconds, max(len(answers), 1)
    prompts, completions = (sum(getattr(a, f"{kind}_tokens") for a in answers) for kind in ("prompt", "completion"))
    ctx.counts |= {"tokens_in": prompts, "tokens_out": completions, "answered_anew": spent.prompts}
    return {
        "prompt_tokens": prompts / several,
        "completion_tokens": completions / several,
        "prefill_seconds_per_question": spent.prefill / max(spent.prompts, 1),
        "decode_seconds_per_question": spent.decode / max(spent.prompts, 1),
        "decode_seconds_per_step": spent.decode / max(spent.steps, 1),
    }


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.answered)
    mine = of_shard(sessions(asked, inputs["passages"]), ctx.axes["shard"])
    mine = mine.join(asked.select("question_id", "text"), on="question_id", maintain_order="left")
    blocks = inputs["blocks"].filter(pl.col("budget") == cfg.prompt.budget).sort("question_id", "n")
    units = dict(blocks.group_by("question_id", maintain_order=True).agg("text").iter_rows())
    if not mine.height:
        outputs["answers"] = TABLES["answers"].empty()
        return {"questions": 0}
    generator = _generator(cfg, ctx)
    prompts = [
        _prompt(cfg, generator, qid, text, units.get(qid, []))
        for qid, text in mine.select("question_id", "text").iter_rows()
    ]
    lacking = sum(cut > 0 for _, cut in prompts)
    if lacking:
        ctx.warn(
            f"{lacking} of {len(prompts)} contexts do not fit the window of {generator.window} tokens and were cut at "
            "the end that is farthest from the question"
        )
    answers = generator([prompt for prompt, _ in prompts])
    columns = ("prompt_tokens", "completion_tokens", "text", "stopped")
    own = {name: [getattr(answer, name) for answer in answers] for name in columns}
    own |= {"cut": [cut for _, cut in prompts]}
    own |= {"refused": [is_refusal(answer.text, cfg.answer.refusals) for answer in answers]}
    keys = mine.select("question_id", "session_id", "n")
    schema = TABLES["answers"].empty().schema
    outputs["answers"] = keys.with_columns(**{k: pl.Series(v, dtype=schema[k]) for k, v in own.items()})
    return {"questions": mine.height, "contexts_cut": lacking} | _told(ctx, generator, answers)
