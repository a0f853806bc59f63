"""A price for tokens: each question gets as many passages as their expected evidence is worth."""

from pathlib import Path

import secateur

QUESTIONS = (
    "Which board game did the astronomer Rafe Ellerwick think up?",
    "Who ruled the islands of Ellismar before the Treaty of Lowen Sound?",
)
memory = secateur.Memory()
memory.index(Path(__file__).parents[1] / "data/toy/articles")

for question in QUESTIONS:
    print(question)
    for price in (0.25, 0.5, 1, 2):  # of 512 tokens, in shares of the question's evidence
        context = memory.retrieve(question, budget=512, price=price)
        print(f"  price {price}: {context.tokens} tokens in {len(context.sources)} passages")
