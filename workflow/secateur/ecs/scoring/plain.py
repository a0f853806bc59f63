"""Plain features of candidates for joined scorers: length, overlap with the question, whether it names the speaker."""

import polars as pl

from secateur.ecs.names import LENGTH, OVERLAP, PLAIN, SPEAKER
from secateur.models.words import content_words, word_list

__all__ = ["length", "names_speaker", "overlap", "plain"]

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


def names_speaker(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, names_speaker) of pairs: 1 where a word of the speaker's name stands in the question, else 0."""
    pairs = pairs.select(KEY).join(questions.select("question_id", asked="text"), on="question_id", how="left")
    pairs = pairs.join(passages.select("passage_id", "speaker"), on="passage_id", how="left")
    words = {text: content_words(text or "") for name in ("asked", "speaker") for text in pairs[name].unique()}
    shared = [float(bool(words[asked] & words[speaker])) for asked, speaker in pairs.select("asked", "speaker").rows()]
    return pairs.select(*KEY, pl.Series(SPEAKER, shared))


def plain(name: str, pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, name) of pairs, for a name of PLAIN."""
    return dict(zip(PLAIN, (length, overlap, names_speaker), strict=True))[name](pairs, questions, passages)
