"""TF-IDF cosine, fitted on the group's passages (ACE in the ECS paper).

Words are scikit-learn's; where most letters of the passages are outside Latin, those of models/words.py.
"""

from secateur.config.plugins import NoSettings as Settings
from secateur.models.words import words
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Cosines with scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def fit():
        vectorizer = TfidfVectorizer(**({"analyzer": words} if group.is_outside_latin else {}))
        return vectorizer, vectorizer.fit_transform(group.texts)

    vectorizer, passages = group.once("tfidf", fit)
    return (vectorizer.transform(questions.queries) @ passages.T).toarray()
