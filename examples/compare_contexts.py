"""Do the contexts of one system hold more of the evidence than another's? Two systems, the toy articles, forty questions."""

import json
from pathlib import Path

import secateur

FOLDER = Path(__file__).parents[1] / "data/toy/articles"
QUESTIONS = 40


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


passages = {row["id"]: row["text"] for row in rows("passages.jsonl")}
asked = rows("questions.jsonl")[:QUESTIONS]
questions = {row["id"]: row["question"] for row in asked}
evidence = {row["id"]: {passage: passages[passage] for passage in row["evidence"]} for row in asked}

figures = {}
for system in ("two_step", "chunks/zsum_256"):
    memory = secateur.Memory(system)
    memory.index(FOLDER)
    contexts = {question: memory.retrieve(text, budget=128) for question, text in questions.items()}
    figures[system] = secateur.evaluate(contexts, questions, evidence)

print(secateur.compare(figures["two_step"], figures["chunks/zsum_256"], questions=questions))
