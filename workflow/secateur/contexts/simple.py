"""Contexts that no graph makes: nothing, everything, the gold evidence, the best passages of a ranking."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from secateur.evaluation.evidence import prefix_lengths
from secateur.models.word_pieces import Counter
from secateur.pipeline.tables.catalog import TABLES

__all__ = ["UNITS", "as_blocks", "gold_units", "last_units", "ranked_units", "sizes_of"]

UNITS = ("question_id", "passage_id", "text")


def sizes_of(blocks: pl.DataFrame, budget: int) -> dict[str, list[list[dict[str, Any]]]]:
    """By question: its blocks at a budget and at smaller ones, the largest first, each the rows of its units in order."""
    kept = blocks.filter(pl.col("budget") <= budget).sort("question_id", -pl.col("budget"), "n")
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for (question, _), block in kept.partition_by("question_id", "budget", as_dict=True, maintain_order=True).items():
        found.setdefault(question, []).append(block.to_dicts())
    return found


def ranked_units(ranked: pl.DataFrame, count: Counter, budget: int, best_last: bool) -> pl.DataFrame:
    """The passages of each question, best first, until the first that would overflow the budget; in reverse order
    where the best is to stand next to the question. ranked: question_id, passage_id, text."""
    counted = ranked.with_columns(tokens=pl.Series(count(ranked["text"].to_list()), dtype=pl.Int64))
    found = [ranked.select(UNITS).clear()]
    for part in counted.partition_by("question_id", maintain_order=True):
        (length,) = prefix_lengths(part["tokens"].to_numpy(), [budget])
        kept = part.head(length).select(UNITS)
        found.append(kept.reverse() if best_last else kept)
    return pl.concat(found)


def gold_units(asked: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The gold passages of each question in text order, then evidence that resolves to none, as the source states it.

    What resolves to no passage gets a name of its own.
    """
    own = evidence.join(asked, on="question_id", how="semi")
    placed = own.join(
        passages.select("passage_id", "doc_id", "position", whole="text"), on="passage_id", how="left"
    ).sort("question_id", "doc_id", "position", "n", nulls_last=True)
    name = pl.concat_str([pl.col("question_id"), pl.lit(" evidence "), pl.col("n")])
    units = placed.with_columns(text=pl.coalesce("whole", "text"), passage_id=pl.coalesce("passage_id", name))
    return units.unique(["question_id", "passage_id"], keep="first", maintain_order=True).select(UNITS)


def last_units(asked: pl.DataFrame, passages: pl.DataFrame, sizes: Sequence[int], window: int) -> pl.DataFrame:
    """All passages of each question's group in text order, but for those at the beginning that no prompt of `window`
    tokens can hold. sizes: tokens of each passage, of the answering model."""
    ordered = passages.with_columns(size=pl.Series(sizes, dtype=pl.Int64)).sort("group_id", "doc_id", "position")
    behind = pl.col("size").cum_sum(reverse=True).over("group_id")
    kept = ordered.filter(behind <= window)
    return asked.select("question_id", "group_id").join(kept, on="group_id", maintain_order="left_right").select(UNITS)


def as_blocks(units: pl.DataFrame, count: Counter, budget: int) -> pl.DataFrame:
    """Units in the order of the prompt as the table `blocks`: whole sentences at one budget."""
    texts = units["text"].unique(maintain_order=True).to_list()
    tokens = pl.DataFrame({"text": texts, "tokens": count(texts).astype("int32")}, schema_overrides={"text": pl.String})
    rows = units.join(tokens, on="text", maintain_order="left").with_columns(
        n=pl.int_range(pl.len(), dtype=pl.Int32).over("question_id"),
        budget=pl.lit(budget, pl.Int32),
        kind=pl.lit("sentence"),
        edge_ids=pl.lit([], pl.List(pl.Int32)),
    )
    return rows.select(list(TABLES["blocks"].columns))
