"""The pool of passages that a language model reads for each question: the best of cheap rankings, and the null."""

from collections.abc import Collection, Mapping

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.shards import part_of
from secateur.core.tables.catalog import TABLES
from secateur.ecs.names import SPEAKER
from secateur.ecs.scoring.null import QUARTILES, draws

__all__ = ["candidates", "everything", "max_pairs", "pooled", "shard_of", "summed_pairs", "with_preceding"]

KEY = ["question_id", "passage_id"]
AWARE = "+answer"  # suffix of rankings that see the gold answer
EPS = 1e-9  # keeps the z-scores of a constant finite
DIGITS = 9  # of a sum; its last digits depend on the order of its terms


def candidates(
    rankings: pl.DataFrame, named: pl.DataFrame, weights: Mapping[str, float], count: int, aware: int
) -> pl.DataFrame:
    """(question_id, passage_id, rank, free): best passages by a weighted sum of rankings, each passage once.

    First the `count` best without the answer (free), then the `aware` best by the answer-aware forms of the rankings.
    Answer-free scorers choose among the free ones, answer-aware scorers among all.

    rankings: question_id, passage_id, scorer, rank, value. named: question_id, passage_id, value of `names_speaker`.
    weights: by scorer, of z-scores over a question's passages. Raises SecateurError for a scorer without a ranking.
    """
    scorers = rankings["scorer"].unique().to_list()
    for name in weights:
        if name != SPEAKER and name not in scorers:
            raise SecateurError(
                f"ecs.pooled_by names {name!r}, but conf/rankers has {', '.join(sorted(scorers))}. Fix: name one of them."
            )
    best_free = _summed(rankings, named, weights, "").filter(pl.col("rank") < count)
    best_aware = _summed(rankings, named, weights, AWARE).filter(pl.col("rank") < aware)
    best = pl.concat([best_free.with_columns(free=pl.lit(True)), best_aware.with_columns(free=pl.lit(False))])
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    return best.unique(KEY, keep="first", maintain_order=True).select(*KEY, place.alias("rank"), "free")


def everything(questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The same table with every passage of a question's group, in the order of the text, found without a ranking."""
    ordered = passages.sort("group_id", "doc_id", "position").select("group_id", "passage_id")
    pairs = questions.select("question_id", "group_id").join(ordered, on="group_id", maintain_order="left_right")
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    return pairs.select(*KEY, place.alias("rank"), free=pl.lit(True))


def summed_pairs(rankings: pl.DataFrame, weights: Mapping[str, float]) -> pl.DataFrame:
    """Unique (question_id, passage_id) of the rankings that `candidates` sums, answer-free and answer-aware.

    In a long dialogue the two rank different passages.
    """
    scorers = [name + suffix for name in weights for suffix in ("", AWARE)]
    return rankings.filter(pl.col("scorer").is_in(scorers)).select(KEY).unique()


def _summed(rankings: pl.DataFrame, named: pl.DataFrame, weights: Mapping[str, float], suffix: str) -> pl.DataFrame:
    """(question_id, passage_id, rank) by the weighted sum of rankings with a suffix; ties keep the rankings' order.

    A passage that one ranking keeps and another does not has the lowest score of the latter.
    """
    by_scorer = {name if name == SPEAKER else name + suffix: weight for name, weight in weights.items()}
    ranked = rankings.filter(pl.col("scorer").is_in([name for name in by_scorer if name != SPEAKER]))
    speaker = named.join(ranked, on=KEY, how="semi").select(
        *KEY, scorer=pl.lit(SPEAKER), value=pl.col("value").cast(pl.Float64)
    )
    scores = pl.concat([ranked.select(*KEY, "scorer", pl.col("value").cast(pl.Float64)), speaker])
    value, over = pl.col("value"), ["question_id", "scorer"]
    z = (value - value.mean().over(over)) / (value.std(ddof=0).over(over) + EPS)
    grid = scores.select(KEY).unique().join(scores.select(over).unique(), on="question_id")
    full = grid.join(scores.with_columns(z.alias("value")), on=[*KEY, "scorer"], how="left")
    weight = pl.col("scorer").replace_strict(by_scorer, default=0.0, return_dtype=pl.Float64)
    weighted = weight * value.fill_null(value.min().over(over))
    total = full.with_columns(weighted.alias("value")).group_by(KEY).agg(pl.col("value").sum().round(DIGITS))
    place = ranked.group_by(KEY).agg(pl.col("rank").min())
    rank = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    ordered = total.join(place, on=KEY).sort(
        "question_id", "value", "rank", "passage_id", descending=[False, True, False, False]
    )
    return ordered.select(*KEY, rank.alias("rank"))


def pooled(
    chosen: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame, probed: set[str], count: int, seed: int
) -> pl.DataFrame:
    """The table `pool`: the candidates of every question, and the null of the probed ones, each passage once.

    The null has `count` + 1 random passages of each quartile of length (`null.draws`).
    passages: passage_id, group_id, tokens.
    """
    is_probed = pl.col("question_id").is_in(list(probed))
    drawn = draws(questions.filter(is_probed), passages, count, seed).with_columns(
        turn=pl.when("drawn").then(pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "quartile"))
    )
    best = chosen.join(drawn.drop("drawn"), on=KEY, how="left", maintain_order="left").with_columns(probed=is_probed)
    random = drawn.filter("drawn").drop("drawn").join(chosen, on=KEY, how="anti", maintain_order="left")
    random = random.with_columns(free=pl.lit(False), probed=pl.lit(False))
    return pl.concat([best, random], how="diagonal").select(TABLES["pool"].empty().columns)


def max_pairs(
    questions: pl.DataFrame, passages: pl.DataFrame, probed: Collection[str], pool: int | None, aware: int, draws: int
) -> int:
    """Upper bound of the pairs of question and passage in a pool, from the texts alone, before any ranking.

    A question has no more candidates than its group has passages; without a `pool` it has all of them.
    """
    sizes = passages.group_by("group_id").agg(size=pl.len())
    random = pl.when(pl.col("question_id").is_in(list(probed))).then(QUARTILES * (draws + 1)).otherwise(0)
    by_answer = pl.when(pl.col("answer").is_not_null()).then(aware).otherwise(0)
    limited = pl.col("size") if pool is None else pl.min_horizontal("size", pool + by_answer + random)
    pairs = questions.join(sizes, on="group_id").select(limited)
    return int(pairs.sum().item())


def shard_of(questions: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The questions of a shard "NofCOUNT": consecutive, so that those of a conversation share its passages."""
    places = part_of(questions.height, shard)
    return questions.sort("group_id", "position").slice(places.start, len(places))


def with_preceding(passages: pl.DataFrame, before: int) -> pl.DataFrame:
    """Passages with the `before` preceding ones of their session in front, a line each, with its speaker.

    A turn often answers the one before it; the session before is another talk. The date stands before the first line.
    """
    line = pl.concat_str([pl.col("speaker") + ": ", pl.col("text")], ignore_nulls=True)
    ordered = passages.sort("doc_id", "position")
    if not before:
        return ordered
    shown = [line.shift(step).over("doc_id", "session_id") for step in range(before, -1, -1)]
    text = pl.concat_str(shown, separator="\n", ignore_nulls=True)
    return ordered.with_columns(text=text, speaker=pl.lit(None, pl.String))
