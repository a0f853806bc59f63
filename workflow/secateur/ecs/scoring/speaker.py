"""Whether a question names who says a passage."""

import polars as pl

from secateur.ecs.names import SPEAKER
from secateur.models.words import content_words

__all__ = ["names_speaker"]

KEY = ["question_id", "passage_id"]


def names_speaker(pairs: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, passage_id, names_speaker) of pairs: 1 where a word of the speaker's name stands in the question, else 0."""
    pairs = pairs.select(KEY).join(questions.select("question_id", asked="text"), on="question_id", how="left")
    pairs = pairs.join(passages.select("passage_id", "speaker"), on="passage_id", how="left")
    words = {text: content_words(text or "") for name in ("asked", "speaker") for text in pairs[name].unique()}
    said = [float(bool(words[asked] & words[speaker])) for asked, speaker in pairs.select("asked", "speaker").rows()]
    return pairs.select(*KEY, pl.Series(SPEAKER, said))
