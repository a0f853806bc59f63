"""TF-IDF cosine, fitted on the group's passages (the ECS paper's ACE)."""

from secateur.pipeline.kinds import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    passages = vectorizer.fit_transform(group.texts)
    return (vectorizer.transform(asked.queries) @ passages.T).toarray()
