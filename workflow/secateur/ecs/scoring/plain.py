"""Plain features of candidates: length, word overlap with the question, and whether it names the speaker."""

import polars as pl

from secateur.ecs.names import LENGTH, OVERLAP, PLAIN, SPEAKER
from secateur.models.units import content_words, word_list

__all__ = ["length", "names_speaker", "overlap", "plain_feature"]

KEY = ["question_id", "passage_id"]


def length(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, length): log(1 + characters) of the passage of each pair."""
    chars = passages.select("passage_id", pl.col("text").str.len_chars().cast(pl.Float64).log1p().alias(LENGTH))
    return pairs.select(KEY).join(chars, on="passage_id", how="left", maintain_order="left")


def overlap(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, overlap): number of the question's content words in the passage or its speaker's name.

    A word that the question repeats counts each time.
    """
    shown = passages.select("passage_id", shown=pl.concat_str("speaker", "text", separator=": ", ignore_nulls=True))
    pairs = pairs.select(KEY).join(questions.select("question_id", question="text"), on="question_id", how="left")
    pairs = pairs.join(shown, on="passage_id", how="left", maintain_order="left")
    counts = [
        float(sum(word in content_words(shown) for word in word_list(question)))
        for question, shown in pairs.select("question", "shown").iter_rows()
    ]
    return pairs.select(*KEY, pl.Series(OVERLAP, counts))


def names_speaker(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, names_speaker): 1 if the question has a word of the speaker's name, else 0."""
    pairs = pairs.select(KEY).join(questions.select("question_id", question="text"), on="question_id", how="left")
    pairs = pairs.join(passages.select("passage_id", "speaker"), on="passage_id", how="left")
    words = {text: content_words(text or "") for name in ("question", "speaker") for text in pairs[name].unique()}
    named = [float(bool(words[q] & words[speaker])) for q, speaker in pairs.select("question", "speaker").iter_rows()]
    return pairs.select(*KEY, pl.Series(SPEAKER, named))


def plain_feature(name: str, pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, name) of pairs, for a feature of PLAIN."""
    return dict(zip(PLAIN, (length, overlap, names_speaker), strict=True))[name](pairs, questions, passages)
