"""Answers and what was read for them, judged by a language model; and what its verdicts are worth."""

from collections.abc import Sequence

import polars as pl

from secateur.answers.endpoint import Remote
from secateur.answers.generate import Generator, InProcess
from secateur.config.models import Lm
from secateur.contexts.table import reached
from secateur.core.cache import digest
from secateur.core.fields import from_dict
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import answered
from secateur.judging.controls import controls
from secateur.judging.protocol import Item, judged
from secateur.models.embedder import Embedder
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter
from secateur.stage.contract import main


class _Asked:
    """A judge that is asked, with all that it said."""

    def __init__(self, made: Generator) -> None:
        self._made, self.replies = made, {}

    def __call__(self, prompts: Sequence[str]) -> list[str | None]:
        fitting = [
            p for p in dict.fromkeys(prompts) if p not in self.replies and self._made.size(p) <= self._made.window
        ]
        self.replies |= {p: None for p in prompts if p not in self.replies}
        self.replies |= {p: one.text for p, one in zip(fitting, self._made(fitting), strict=True)}
        return [self.replies[p] for p in prompts]


def _judge(cfg, ctx) -> Generator:
    """The model in this process, or an endpoint, whose tokens the reader's tokenizer counts."""
    if cfg.judge.backend == "lm":
        return InProcess(
            load(from_dict(Lm, cfg.extra.model, f"conf/lm/{cfg.judge.lm}"), ctx.cache, ctx.device), cfg.judge, ctx.cache
        )
    count = lm_counter(cfg.lm.model, ctx.cache)
    return Remote(cfg.judge, count, cfg.judge.window + cfg.judge.max_tokens, ctx.cache, ctx.log)


def _judged(inputs, most: int) -> pl.DataFrame:
    """The answered questions that are judged."""
    said = inputs["answers"].select("question_id", "refused", "cut", said="text")
    own = inputs["questions"].join(said, on="question_id")
    return answered(own, "all", most or own.height).sort("position")


def _items(own: pl.DataFrame, inputs, budget: int) -> dict[str, Item]:
    """What is judged of each question: its answer, what of its context reached the prompt, its gold passages."""
    read = reached(inputs["contexts"], own, budget)
    texts = dict(read.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join("")).iter_rows())
    named = (
        inputs["evidence"]
        .drop_nulls("passage_id")
        .join(inputs["passages"].select("passage_id", gold="text"), on="passage_id")
    )
    gold = dict(named.group_by("question_id", maintain_order=True).agg("gold").iter_rows())
    columns = ("question_id", "text", "said", "answer", "refused")
    return {
        q: Item(text, said, answer, texts.get(q, ""), tuple(dict.fromkeys(gold.get(q, ()))), refused)
        for q, text, said, answer, refused in own.select(columns).iter_rows()
    }


def run(cfg, inputs, outputs, ctx):
    judge, name = cfg.judge, ctx.axes["judge"]
    questions = _judged(inputs, judge.judged)
    items = _items(questions, inputs, cfg.assembly.budget)
    asked = _Asked(_judge(cfg, ctx))
    found = judged(list(items.values()), asked)
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    ours, theirs = (
        embedder.embed([getattr(item, side) or " " for item in items.values()]) for side in ("answer", "gold")
    )
    figures = []
    for question, one, near in zip(items, found, (ours * theirs).sum(1), strict=True):
        own = {f"judged_{metric}": value for metric, value in one.figures.items()}
        if one.facts is not None:
            own["judged_acc"] = judge.facts * one.facts + (1 - judge.facts) * (1 + float(near)) / 2
        figures += [(question, metric, value) for metric, value in own.items()]
    checked = answered(questions, "all", judge.checked)["question_id"].to_list()
    own = dict(zip(items, found, strict=True))
    ctx.log.info("%d answers judged; the judge is checked on %d", len(items), len(checked))
    for question, one in zip(
        checked, controls([items[q] for q in checked], [own[q] for q in checked], asked, judge.padding), strict=True
    ):
        figures += [(question, f"judge_{metric}", value) for metric, value in one.items()]
    outputs["question_metrics"] = long_rows(
        [(q, cfg.extra.order, None, False, f"{metric}@{name}", value) for q, metric, value in figures]
    )
    replies = [(digest(prompt), len(prompt), reply) for prompt, reply in asked.replies.items()]
    outputs["verdicts"] = pl.DataFrame(replies, schema=TABLES["verdicts"].empty().schema, orient="row").sort("prompt")
    unread, wanted = sum(one.unread for one in found), sum(one.asked for one in found)
    ctx.counts |= {"verdicts": wanted, "unread": unread, "too_long": sum(reply is None for *_, reply in replies)}
    if unread:
        ctx.warn(f"{unread} of {wanted} verdicts of judge {name} could not be read; they are missing, not 0")
    return {"questions": len(items), "unread": unread / max(wanted, 1)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
