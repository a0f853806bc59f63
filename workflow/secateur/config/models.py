"""Options of models: embedders and language models."""

from dataclasses import dataclass
from typing import Literal

from secateur.config import plugins
from secateur.core.fields import key, misfits

__all__ = ["FIT", "Embedder", "Lm", "device_problems", "in_process", "lm_problems"]

SECONDS = {"call", "read", "write"}
FIT = "measure them for this model (make bench NAME=ecs ARGS=seconds)"


@dataclass(frozen=True)
class Embedder:
    """From strings to unit vectors."""

    model: str = key("sentence-transformers model: folder, hub id, or package:PACKAGE/FOLDER inside a PyPI package")
    dim: int = key("dimension of the vectors", low=1)
    max_tokens: int = key("window of the model; longer strings are cut, counted and logged", low=8)
    engine: Literal["openvino", "openvino_bf16", "torch"] = key(
        "engine on a CPU; a GPU always takes torch. openvino_bf16 is faster where the CPU multiplies bfloat16; its "
        "vectors differ from CPU to CPU"
    )
    batch_tokens: dict[str, int] = key("tokens per batch on cpu and on cuda, padding included, sorted by length", low=1)
    block: dict[str, int] = key("strings embedded and cached together, on cpu and on cuda", low=1)
    tau: float = key("fit threshold of a run for this model (paper 2.3)", low=-1, high=1)
    query_prompt: str | None = key('text before a question; null: as the model\'s files say, "": none', default=None)
    document_prompt: str | None = key("text before a passage or a name; as query_prompt", default=None)
    shards: int = key("jobs that share the strings of a codebook; raise it on a cluster", low=1, high=1000, default=1)


@dataclass(frozen=True)
class Lm:
    """A causal language model: reader of prompts and scorer of context utility; its backend decides which keys it needs."""

    backend: str = key("who computes scores: this process, or a server (models/readers)", family="reader")
    model: str = key(
        "folder or hub id, a GGUF file (also as package:PACKAGE/FILE.gguf), or assemble:PACKAGE for a GGUF file in pieces; "
        "server: folder or hub id of the tokenizer, and the model that the server must report"
    )
    window: int = key("tokens read at once; longer contexts are cut from the left, counted and logged", low=16)
    dtype: dict[str, Literal["float32", "bfloat16", "float16"]] | None = key(
        "transformers: data type on cpu and on cuda", default=None
    )
    pack: dict[str, int] | None = key(
        "transformers: tokens per forward pass on cpu and on cuda, where a card with less memory gets fewer",
        low=16,
        default=None,
    )
    exact: bool | None = key(
        "transformers: compute cached scores in batches of one shape, so that they are equal to the bit on a GPU and with "
        "several threads; takes about twice as long",
        default=None,
    )
    seconds: dict[str, float] | None = key(
        "seconds of a `call`, of a token `read` and of a token to `write`, by make bench NAME=ecs ARGS=seconds; a policy's "
        "latency is modelled from them; null: not measured",
        low=0,
        default=None,
    )
    url: str | None = key("server: address up to where /v1 or /generate begins", default=None)
    top_logprobs: int | None = key(
        "server: most probable first answer tokens to request, in a separate request; kl_topk:paper needs ecs.top_k of "
        "them; 0: none",
        low=0,
        default=None,
    )
    concurrency: int | None = key("server: requests at the same time", low=1, high=100, default=None)
    timeout: float | None = key(
        "server: seconds for a whole reply, after which the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("server: seconds before each further attempt", low=0, default=None)
    max_wait: float | None = key("server: maximum seconds of a wait that it asks for", low=0, default=None)


def in_process(lm: Lm) -> bool:
    """Whether the model runs in this process; only then can it write and give whole distributions."""
    return plugins.load("reader", lm.backend).IN_PROCESS


def lm_problems(lm: Lm) -> list[str]:
    """Conflicts between settings of a language model, each in a clause."""
    needs = {name: frozenset(plugins.load("reader", name).KEYS) for name in {*plugins.names("reader"), lm.backend}}
    problems = misfits("lm", lm, "backend", needs)
    if lm.url and lm.url.rstrip("/").endswith("/v1"):
        problems.append("lm.url ends in /v1, the address before it is needed")
    seconds = getattr(lm, "seconds", None)  # which a stage that reads with the model does not have
    if seconds is not None and (set(seconds) != SECONDS or not any(seconds.values())):
        problems.append(f"lm.seconds has {dict(seconds)}, needs exactly call, read and write, not all 0")
    return problems + device_problems("lm", lm, ("dtype", "pack"))


def device_problems(group: str, option: object, names: tuple[str, ...] = ("batch_tokens", "block")) -> list[str]:
    """Settings of an option that are not given for each device, each in a clause."""
    settings = {name: getattr(option, name) for name in names}
    return [
        f"{group}.{name} has entries for {sorted(devices)}, needs exactly cpu and cuda"
        for name, devices in settings.items()
        if devices is not None and set(devices) != {"cpu", "cuda"}
    ]
