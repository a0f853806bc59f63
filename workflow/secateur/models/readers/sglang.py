"""SGLang: POST /generate with `input_ids`.

Log-probabilities of the prompt start at `logprob_start_len`, whose own entry is null. Each entry is [log-probability,
token, text]. `top_logprobs_num` gives the most probable next tokens, `token_ids_logprob` chosen ones. Temperature 1
without truncation leaves the model's probabilities unchanged.
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
PATH = "/generate"
PLAIN = {"max_new_tokens": 1, "temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}


def prompt_request(model: str, ids: Sequence[int], first: int) -> dict[str, Any]:
    """Request for log-probabilities of ids[first:]."""
    wanted = {"return_logprob": True, "logprob_start_len": first - 1}
    return {"input_ids": list(ids), "sampling_params": PLAIN} | wanted


def prompt_logprobs(reply: Mapping[str, Any], ids: Sequence[int], first: int) -> list[float] | None:
    """Log-probabilities of ids[first:]; None where the server gives none.

    Raises KeyError, ValueError or the like for a malformed reply.
    """
    entries = reply["meta_info"].get("input_token_logprobs")
    if entries is None:
        return None
    if len(entries) != len(ids) - first + 1:
        raise ValueError(f"input_token_logprobs of {len(entries)} tokens, asked for {len(ids) - first + 1}")
    return [entry[0] for entry in entries[1:]]


def next_request(model: str, ids: Sequence[int], count: int, named: Sequence[int]) -> dict[str, Any]:
    """Request for the `count` most probable tokens after the prompt, or for the named tokens."""
    wanted = {"return_logprob": True, "logprob_start_len": -1, "top_logprobs_num": count}
    wanted |= {"token_ids_logprob": list(named)} if named else {}
    return {"input_ids": list(ids), "sampling_params": PLAIN} | wanted


def next_logprobs(reply: Mapping[str, Any], named: bool) -> dict[int, float]:
    """Token -> log-probability."""
    name = "output_token_ids_logprobs" if named else "output_top_logprobs"
    return {token: value for value, token, *_ in reply["meta_info"][name][0]}


def load(cfg, cache: Path, device: str) -> Served:
    """The served model, with the local tokenizer."""
    return connect(cfg, cache, sys.modules[__name__])
