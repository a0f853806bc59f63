"""Your RAG against a ranking of Secateur within as many tokens, question by question; scikit-learn's TF-IDF stands for yours."""

import json
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer

import secateur

FOLDER = Path(__file__).parents[1] / "data/toy/articles"
QUESTIONS, SENT = 40, 4


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


passages = {row["id"]: row["text"] for row in rows("passages.jsonl")}
asked = rows("questions.jsonl")[:QUESTIONS]
questions = {row["id"]: row["question"] for row in asked}
evidence = {row["id"]: {passage: passages[passage] for passage in row["evidence"]} for row in asked}

vectorizer = TfidfVectorizer()
index, ids = vectorizer.fit_transform(passages.values()), list(passages)


def yours(question):
    scores = (index @ vectorizer.transform([question]).T).toarray().ravel()
    return [(ids[n], passages[ids[n]]) for n in scores.argsort()[::-1][:SENT]]


contexts = {question: yours(text) for question, text in questions.items()}
mine = secateur.evaluate(contexts, questions, evidence)
tokens = dict(mine.filter(metric="tokens").select("question_id", "value").iter_rows())

memory = secateur.Memory("named_two_step")
memory.index(FOLDER)
ours = {question: memory.retrieve(text, budget=int(tokens[question])) for question, text in questions.items()}
print(secateur.compare(mine, secateur.evaluate(ours, questions, evidence), questions=questions))
