"""The endpoint's client, context and budget for the peers that are written here."""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from secateur.peers.wire import Prompt

__all__ = ["CHARACTERS", "PART", "QUESTION", "Client", "answer_context", "fitting", "joined"]

BLANK = re.compile(r"\n\s*\n")
TIMEOUT = 600  # seconds for one call
CHARACTERS = 4  # of a token, where the peer counts tokens itself
QUESTION, PART = "\nQuestion: ", "\n\n"  # of an answering prompt: before its question, between the parts of its context


class Client:
    """Client of an OpenAI-compatible endpoint."""

    def __init__(self, url: str) -> None:
        import httpx

        self._client = httpx.Client(base_url=f"{url}/", timeout=TIMEOUT)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors."""
        rows = self._post("embeddings", {"input": list(texts)})["data"]
        return np.array([row["embedding"] for row in rows], np.float32)

    def ask(self, prompt: str) -> str:
        """The model's reply."""
        reply = self._post("chat/completions", {"messages": [{"role": "user", "content": prompt}]})
        return reply["choices"][0]["message"]["content"]

    def _post(self, path: str, body: dict) -> dict:
        return self._client.post(path, json={"model": "served"} | body).raise_for_status().json()


def fitting(texts: Iterable[str], tokens: int) -> Iterator[str]:
    """The first texts, as many as fit.

    >>> list(fitting(["four", "four", "four"], 2))
    ['four', 'four']
    """
    room = tokens * CHARACTERS
    for text in texts:
        if len(text) > room:
            return
        room -= len(text)
        yield text


def joined(parts: Iterable[str]) -> str:
    """The parts of a context, which blank lines part; inside of a part they are line breaks.

    >>> joined(["one\\n\\ntwo", "three"])
    'one\\ntwo\\n\\nthree'
    """
    return PART.join(BLANK.sub("\n", part) for part in parts)


def answer_context(prompt: Prompt, instruction: str) -> list[str] | None:
    """Parts of the context of an answering prompt, which begins with `instruction`; None for any other prompt."""
    if not prompt.last.startswith(instruction):
        return None
    return (
        prompt.last.removeprefix(instruction).rpartition(QUESTION)[0].split(PART)
    )  # a passage may hold a question too
