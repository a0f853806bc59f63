"""vLLM: POST /v1/completions with a prompt of token ids.

`prompt_logprobs` 0 gives the log-probability of each prompt token alone. `logprobs` k gives the k most probable next
tokens, `logprob_token_ids` chosen ones. Sampling settings are explicit, so that the server's defaults
(generation_config.json) do not change probabilities.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur.config.plugins import NoSettings as Settings
from secateur.models.served import KEYS, Served, connect

__all__ = [
    "IN_PROCESS",
    "KEYS",
    "PATH",
    "Settings",
    "load",
    "next_logprobs",
    "next_request",
    "prompt_logprobs",
    "prompt_request",
]

IN_PROCESS = False
PATH = "/v1/completions"
PLAIN = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
MARK = "token_id:"


def prompt_request(model: str, ids: Sequence[int], first: int) -> dict[str, Any]:
    """Request for log-probabilities of the prompt's tokens; vLLM gives all, whatever `first` is."""
    return {"model": model, "prompt": list(ids), "prompt_logprobs": 0} | PLAIN


def prompt_logprobs(reply: Mapping[str, Any], ids: Sequence[int], first: int) -> list[float] | None:
    """Log-probabilities of ids[first:]; None where the server gives none.

    Raises KeyError, ValueError or the like for a malformed reply.
    """
    entries = reply["choices"][0].get("prompt_logprobs")
    if entries is None:
        return None
    if len(entries) != len(ids):
        raise ValueError(f"prompt_logprobs of {len(entries)} tokens, asked for {len(ids)}")
    return [entries[n][str(ids[n])]["logprob"] for n in range(first, len(ids))]


def next_request(model: str, ids: Sequence[int], count: int, named: Sequence[int]) -> dict[str, Any]:
    """Request for the `count` most probable tokens after the prompt, or for the named tokens."""
    wanted = {"logprobs": count or len(named), "return_tokens_as_token_ids": True}
    wanted |= {"logprob_token_ids": list(named)} if named else {}
    return {"model": model, "prompt": list(ids)} | PLAIN | wanted


def next_logprobs(reply: Mapping[str, Any], named: bool) -> dict[int, float]:
    """Token -> log-probability, the sampled token included."""
    return {
        int(name.removeprefix(MARK)): value
        for name, value in reply["choices"][0]["logprobs"]["top_logprobs"][0].items()
    }


def load(cfg, cache: Path, device: str) -> Served:
    """The served model, with the local tokenizer."""
    return connect(cfg, cache, sys.modules[__name__])
