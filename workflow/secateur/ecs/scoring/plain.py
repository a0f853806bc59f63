"""What is seen of a candidate without a language model and without a ranking: plain features of joined scorers."""

import polars as pl

from secateur.ecs.names import LENGTH, OVERLAP, PLAIN
from secateur.ecs.scoring.speaker import names_speaker
from secateur.models.words import content_words, word_list

__all__ = ["length", "overlap", "plain"]

KEY = ["question_id", "passage_id"]


def length(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, length) of pairs: log(1 + characters) of the passage."""
    chars = passages.select("passage_id", pl.col("text").str.len_chars().cast(pl.Float64).log1p().alias(LENGTH))
    return pairs.select(KEY).join(chars, on="passage_id", how="left", maintain_order="left")


def overlap(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, overlap) of pairs: how many content words of the question, each place counted, the passage or
    its speaker's name holds."""
    said = passages.select("passage_id", said=pl.concat_str("speaker", "text", separator=": ", ignore_nulls=True))
    pairs = pairs.select(KEY).join(questions.select("question_id", asked="text"), on="question_id", how="left")
    pairs = pairs.join(said, on="passage_id", how="left", maintain_order="left")
    held = [
        float(sum(word in content_words(said) for word in word_list(asked)))
        for asked, said in pairs.select("asked", "said").iter_rows()
    ]
    return pairs.select(*KEY, pl.Series(OVERLAP, held))


def plain(name: str, pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, name) of pairs, for a name of PLAIN."""
    return dict(zip(PLAIN, (length, overlap, names_speaker), strict=True))[name](pairs, questions, passages)
