"""Many questions at once from an event loop: retrieval runs in threads."""

import asyncio
from pathlib import Path

import secateur

QUESTIONS = [
    "Which board game did Rafe Ellerwick think up?",
    "What did Osbert Brellock work as before he took up the law?",
]


async def main():
    memory = secateur.Memory("bm25")
    await memory.aindex(Path(__file__).parents[1] / "data/toy/articles")
    for context in await asyncio.gather(*(memory.aretrieve(question, budget=32) for question in QUESTIONS)):
        print(context.question, context.text, sep="\n  ")


asyncio.run(main())
