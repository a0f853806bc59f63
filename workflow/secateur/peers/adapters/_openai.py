"""The endpoint, for libraries that ask their user for two functions: one that embeds, one that asks a model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

__all__ = ["calls"]


def calls(url: str) -> tuple[int, Callable[[Sequence[str]], Awaitable[Any]], Callable[..., Awaitable[str]]]:
    """The dimensions of a vector, what embeds strings, and what asks a model, with the package `openai` of a peer's
    environment. They are functions and no methods: libraries copy their settings deeply, and a client cannot be copied."""
    from openai import AsyncOpenAI, OpenAI

    client = AsyncOpenAI(base_url=url)

    async def embed(texts: Sequence[str]) -> Any:
        import numpy as np

        found = await client.embeddings.create(model="served", input=list(texts), encoding_format="float")
        return np.array([one.embedding for one in found.data], dtype=np.float32)

    async def ask(
        prompt: str, system_prompt: str | None = None, history_messages: Sequence[dict] = (), **_: Any
    ) -> str:
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *(history_messages or ()), {"role": "user", "content": prompt}]
        found = await client.chat.completions.create(model="served", messages=messages)
        return found.choices[0].message.content

    size = len(OpenAI(base_url=url).embeddings.create(model="served", input=["size"]).data[0].embedding)
    return size, embed, ask
