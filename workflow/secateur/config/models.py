"""Options of models: embedders and language models."""

from dataclasses import dataclass
from typing import Literal

from secateur.config import plugins
from secateur.core.fields import key, misfits

__all__ = ["Embedder", "Lm", "in_process", "lm_problems"]


@dataclass(frozen=True)
class Embedder:
    """Strings to unit vectors."""

    model: str = key(
        "folder or hub id of a sentence-transformers model, or package:PACKAGE/FOLDER inside a PyPI package"
    )
    dim: int = key("dimension of the vectors", low=1)
    max_tokens: int = key("the model's window; longer strings are cut, counted and logged", low=8)
    engine: Literal["openvino", "openvino_bf16", "torch"] = key(
        "what runs it on a CPU; a GPU always takes torch. openvino_bf16 is faster where the CPU multiplies bfloat16; its "
        "vectors are not the same on another CPU"
    )
    batch: int = key("strings in one batch of torch, after sorting by length", low=1)
    batch_tokens: int = key("tokens in one batch of openvino, padding included, after sorting by length", low=1)
    block: int = key("strings embedded and cached together", low=1)
    tau: float = key("fit threshold of a run for this model (paper 2.3)", low=-1, high=1)


@dataclass(frozen=True)
class Lm:
    """A causal language model: the reader whose tokens a prompt costs, and the scorer of context utility. Its backend says
    which of the keys that may be null it needs."""

    backend: str = key("what computes scores: this process, or a server (models/readers)", family="reader")
    model: str = key(
        "folder or hub id, a GGUF file (also as package:PACKAGE/FILE.gguf), or assemble:PACKAGE for a GGUF file in pieces; "
        "for a server the tokenizer's folder or hub id, and the model that the server must state"
    )
    window: int = key("tokens read at once; longer contexts are cut from the left, counted and logged", low=16)
    dtype: dict[str, Literal["float32", "bfloat16", "float16"]] | None = key(
        "transformers: data type on cpu and on cuda", default=None
    )
    pack: dict[str, int] | None = key(
        "transformers: tokens read in one forward pass, on cpu and on cuda; bounds memory", low=16, default=None
    )
    url: str | None = key("server: its address, up to where /v1 or /generate begins", default=None)
    top_logprobs: int | None = key(
        "server: most probable first answer tokens that are asked for, by a request of their own; kl_topk:paper needs "
        "ecs.top_k of them; 0 for none",
        low=0,
        default=None,
    )
    concurrency: int | None = key("server: requests under way at once", low=1, high=100, default=None)
    timeout: float | None = key(
        "server: seconds until a whole reply has come, else the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("server: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("server: longest wait in seconds that it may ask for", low=0, default=None)


def in_process(lm: Lm) -> bool:
    """Whether the model is read in this process: then it also writes, and tells whole distributions."""
    return plugins.load("reader", lm.backend).IN_PROCESS


def lm_problems(lm: Lm) -> list[str]:
    """What does not fit together in a language model, each in a clause."""
    own = {name: frozenset(plugins.load("reader", name).KEYS) for name in {*plugins.names("reader"), lm.backend}}
    found = misfits("lm", lm, "backend", own)
    if lm.url and lm.url.rstrip("/").endswith("/v1"):
        found.append("lm.url ends in /v1, the address before it is needed")
    for name in ("dtype", "pack"):
        if (given := getattr(lm, name)) is not None and set(given) != {"cpu", "cuda"}:
            found.append(f"lm.{name} has entries for {sorted(given)}, needs exactly cpu and cuda")
    return found
