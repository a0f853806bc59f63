"""TF-IDF cosine, fitted on the group's passages (ACE in the ECS paper)."""

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Group, Questions, Scores


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Cosines with scikit-learn's defaults."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def fit():
        vectorizer = TfidfVectorizer()
        return vectorizer, vectorizer.fit_transform(group.texts)

    vectorizer, passages = group.once("tfidf", fit)
    return (vectorizer.transform(questions.queries) @ passages.T).toarray()
