"""TF-IDF cosine with English stop words, fitted anew for each question on passages and question.

Only idf changes from question to question, so the counts are made once.
"""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Cosine under each question's own idf."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(stop_words="english")
    counts = vectorizer.fit_transform([*group.texts, *asked.queries]).astype(np.float64).tocsr()
    passages, own = counts[: len(group.texts)], counts[len(group.texts) :]
    df, squared = np.asarray((passages > 0).sum(0)).ravel(), passages.multiply(passages).tocsr()
    return np.array([_row(passages, squared, df, np.asarray(q.todense()).ravel()) for q in own]).reshape(
        len(asked.queries), len(group.texts)
    )


def _row(passages, squared, df: np.ndarray, question: np.ndarray) -> np.ndarray:
    """Cosines of one question with every passage."""
    n, have = passages.shape[0] + 1, df + (question > 0)
    idf = np.where(have > 0, np.log((1 + n) / (1 + have)) + 1, 0.0)
    norms, query = np.sqrt(squared @ idf**2), question * idf
    lengths = norms * np.linalg.norm(query)
    return (passages @ (idf * query)) / np.where(lengths > 0, lengths, 1.0)
