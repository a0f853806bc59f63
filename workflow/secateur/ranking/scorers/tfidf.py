"""TF-IDF cosine, fitted on the group's passages (the ECS paper's ACE)."""

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def made():
        vectorizer = TfidfVectorizer()
        return vectorizer, vectorizer.fit_transform(group.texts)

    vectorizer, passages = group.once("tfidf", made)
    return (vectorizer.transform(asked.queries) @ passages.T).toarray()
