"""TF-IDF cosine, fitted on the group's passages (ACE in the ECS paper).

Words are scikit-learn's; where most letters of the passages are outside Latin, those of models/words.py.
"""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.models.words import words
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Cosines with scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def fit():
        vectorizer = TfidfVectorizer(**({"analyzer": words} if group.is_outside_latin else {}))
        analyse = vectorizer.build_analyzer()
        return (vectorizer, vectorizer.fit_transform(group.texts)) if any(map(analyse, group.texts)) else None

    index = group.once("tfidf", fit)
    if index is None:  # no passage has a word
        return np.zeros((len(questions.queries), len(group.texts)))
    vectorizer, passages = index
    return (vectorizer.transform(questions.queries) @ passages.T).toarray()
