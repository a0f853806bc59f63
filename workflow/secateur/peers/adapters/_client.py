"""The endpoint, for peers that are written here: the two calls that they make."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHARACTERS", "Client", "fitting"]

SECONDS = 600  # for one call
CHARACTERS = 4  # of a token, where the peer counts for itself


class Client:
    """An OpenAI-compatible endpoint."""

    def __init__(self, url: str) -> None:
        import httpx

        self._client = httpx.Client(base_url=f"{url}/", timeout=SECONDS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) unit vectors."""
        found = self._post("embeddings", {"input": list(texts)})["data"]
        return np.array([one["embedding"] for one in found], np.float32)

    def ask(self, prompt: str) -> str:
        """What the model says."""
        return self._post("chat/completions", {"messages": [{"role": "user", "content": prompt}]})["choices"][0][
            "message"
        ]["content"]

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
