"""TF-IDF cosine with English stop words, fitted on the passages and one question at a time.

Words as for `tfidf`. Only idf changes from question to question, so words are counted once.
"""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.models.words import words
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Cosines, each question under its idf."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(**({"analyzer": words} if group.is_outside_latin else {"stop_words": "english"}))
    if not any(map(vectorizer.build_analyzer(), [*group.texts, *questions.queries])):
        return np.zeros((len(questions.queries), len(group.texts)))
    counts = vectorizer.fit_transform([*group.texts, *questions.queries]).astype(np.float64).tocsr()
    passages, queries = counts[: len(group.texts)], counts[len(group.texts) :]
    df = np.asarray((passages > 0).sum(0)).ravel()
    squared = passages.multiply(passages).tocsr()
    return np.array([_row(passages, squared, df, np.asarray(q.todense()).ravel()) for q in queries]).reshape(
        len(questions.queries), len(group.texts)
    )


def _row(passages, squared, df: np.ndarray, question: np.ndarray) -> np.ndarray:
    """Cosines of one question with every passage. squared: squared counts of the passages; df: their document frequency."""
    n, df = passages.shape[0] + 1, df + (question > 0)
    idf = np.where(df > 0, np.log((1 + n) / (1 + df)) + 1, 0.0)
    norms, query = np.sqrt(squared @ idf**2), question * idf
    lengths = norms * np.linalg.norm(query)
    return (passages @ (idf * query)) / np.where(lengths > 0, lengths, 1.0)
