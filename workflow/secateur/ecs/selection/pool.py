"""What a language model reads for a question: the best of a cheap ranking, and passages drawn by chance for the null."""

from collections.abc import Mapping

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.shards import part_of
from secateur.core.tables.catalog import TABLES
from secateur.ecs.names import SPEAKER
from secateur.ecs.scoring.null import draws

__all__ = ["candidates", "pooled", "shard_of", "summed_pairs", "with_before"]

KEY = ["question_id", "passage_id"]
AWARE = "+answer"  # of the ranking that sees the gold answer
EPS = 1e-9  # keeps the z-scores of a constant finite
DIGITS = 9  # of a sum, whose last ones hang on the order of its terms


def candidates(
    rankings: pl.DataFrame, named: pl.DataFrame, weights: Mapping[str, float], count: int, aware: int
) -> pl.DataFrame:
    """(question_id, passage_id, rank, free): a question's `count` best by a weighed sum of rankings, then its `aware` best by
    the sum of their answer-aware forms, each passage once. Answer-free scorers choose among the free ones, answer-aware
    ones among all.

    rankings: question_id, passage_id, scorer, rank, value; named: question_id, passage_id, value, what `names_speaker` says.
    weights: by scorer; z-scores are over a question's passages.
    Raises SecateurError where the table has no such scorer.
    """
    known = rankings["scorer"].unique().to_list()
    for name in weights:
        if name != SPEAKER and name not in known:
            raise SecateurError(
                f"ecs.pooled_by names {name!r}, but conf/rankers has {', '.join(sorted(known))}. Fix: name one of them."
            )
    free, more = (_summed(rankings, named, weights, form) for form in ("", AWARE))
    free, more = free.filter(pl.col("rank") < count), more.filter(pl.col("rank") < aware)
    both = pl.concat([part.with_columns(free=pl.lit(part is free)) for part in (free, more)])
    kept = both.unique(KEY, keep="first", maintain_order=True)
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    return kept.select(*KEY, place.alias("rank"), "free")


def summed_pairs(rankings: pl.DataFrame, weights: Mapping[str, float]) -> pl.DataFrame:
    """(question_id, passage_id), each once, of the rankings that `candidates` sums, the answer-aware forms among them: a long
    dialogue's turns are not all in both."""
    own = [name + form for name in weights for form in ("", AWARE)]
    return rankings.filter(pl.col("scorer").is_in(own)).select(KEY).unique()


def _summed(rankings: pl.DataFrame, named: pl.DataFrame, weights: Mapping[str, float], form: str) -> pl.DataFrame:
    """(question_id, passage_id, rank) of the passages that the rankings in a form hold, best first; ties as they stand there."""
    own = [name + form for name in weights if name != SPEAKER]
    ranked = rankings.filter(pl.col("scorer").is_in(own))
    told = named.join(ranked, on=KEY, how="semi").select(
        *KEY, scorer=pl.lit(SPEAKER), value=pl.col("value").cast(pl.Float64)
    )
    weight = {name + (form if name != SPEAKER else ""): value for name, value in weights.items()}
    both = pl.concat([ranked.select(*KEY, "scorer", pl.col("value").cast(pl.Float64)), told])
    value, over = pl.col("value"), ["question_id", "scorer"]
    z = (value - value.mean().over(over)) / (value.std(ddof=0).over(over) + EPS)
    share = z * pl.col("scorer").replace_strict(weight, default=0.0, return_dtype=pl.Float64)
    total = both.with_columns(share.alias("value")).group_by(KEY).agg(pl.col("value").sum().round(DIGITS))
    place = ranked.group_by(KEY).agg(pl.col("rank").min())
    rank = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    ordered = total.join(place, on=KEY).sort(
        "question_id", "value", "rank", "passage_id", descending=[False, True, False, False]
    )
    return ordered.select(*KEY, rank.alias("rank"))


def pooled(
    chosen: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame, probed: set[str], count: int, seed: int
) -> pl.DataFrame:
    """The table `pool`: the candidates of every question, and `count` + 1 passages of each quartile of length drawn by
    chance for the questions in `probed` (`null.draws`), each passage once.

    passages: passage_id, group_id, tokens.
    """
    own = questions.filter(pl.col("question_id").is_in(list(probed)))
    drawn = draws(own, passages, count, seed).with_columns(
        turn=pl.when("drawn").then(pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "quartile"))
    )
    both = chosen.join(drawn.drop("drawn"), on=KEY, how="left", maintain_order="left")
    chance = drawn.filter("drawn").drop("drawn").join(chosen, on=KEY, how="anti", maintain_order="left")
    asked = pl.col("question_id").is_in(list(probed))
    return pl.concat(
        [
            both.with_columns(probed=asked),
            chance.with_columns(free=pl.lit(False), probed=pl.lit(False)),
        ],
        how="diagonal",
    ).select(TABLES["pool"].empty().columns)


def shard_of(questions: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The questions of a shard "NofCOUNT": consecutive ones, so that those of a conversation stay together and share its
    passages."""
    mine = part_of(questions.height, shard)
    return questions.sort("group_id", "position").slice(mine.start, len(mine))


def with_before(passages: pl.DataFrame, before: int) -> pl.DataFrame:
    """Passages that show so many passages of their document before them: a line each, with its speaker.

    What a turn answers stands in the turn before it. One after it would be shown with two turns, and not tell them apart.
    The date stands before the first line.
    """
    line = pl.concat_str([pl.col("speaker") + ": ", pl.col("text")], ignore_nulls=True)
    ordered = passages.sort("doc_id", "position")
    if not before:
        return ordered
    shown = [line.shift(step).over("doc_id") for step in range(before, -1, -1)]
    text = pl.concat_str(shown, separator="\n", ignore_nulls=True)
    return ordered.with_columns(text=text, speaker=pl.lit(None, pl.String))
