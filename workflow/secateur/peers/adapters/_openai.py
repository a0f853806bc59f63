"""The endpoint for libraries that take two functions, through the package `openai` of their environment."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

__all__ = ["calls", "dimensions"]


def dimensions(url: str) -> int:
    """Length of the endpoint's vectors."""
    from openai import OpenAI

    return len(OpenAI(base_url=url).embeddings.create(model="served", input=["size"]).data[0].embedding)


def calls(url: str) -> tuple[Callable[[Sequence[str]], Awaitable[Any]], Callable[..., Awaitable[str]]]:
    """(embed, ask): functions that embed strings and ask a model.

    They are no methods: libraries deep-copy their settings, and a client cannot be copied.
    """
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url)

    async def embed(texts: Sequence[str]) -> Any:
        import numpy as np

        reply = await client.embeddings.create(model="served", input=list(texts), encoding_format="float")
        return np.array([row.embedding for row in reply.data], dtype=np.float32)

    async def ask(
        prompt: str, system_prompt: str | None = None, history_messages: Sequence[dict] = (), **_: Any
    ) -> str:
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *(history_messages or ()), {"role": "user", "content": prompt}]
        reply = await client.chat.completions.create(model="served", messages=messages)
        return reply.choices[0].message.content

    return embed, ask
