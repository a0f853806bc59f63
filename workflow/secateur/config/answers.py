"""Options of answering."""

from dataclasses import dataclass
from typing import Literal

from secateur.config.models import Lm, in_process
from secateur.core.fields import key, misfits

__all__ = ["ANSWERERS", "Answer", "answer_problems"]


@dataclass(frozen=True)
class Answer:
    """How a language model answers questions under a context. Which of the keys that may be null a backend needs is in
    `ANSWERERS`."""

    instructions: str = key("what the model is told before the context; the same for every system")
    window: int | None = key(
        "tokens of a prompt at most; context is cut from the end that is farthest from the question; what `lm.window` "
        "leaves where null",
        low=16,
    )
    max_tokens: int = key("tokens of an answer at most", low=1)
    stop: tuple[str, ...] = key("texts that end an answer; they are no part of it")
    repeats: int = key("times in a row that an answer may say the same before it is cut", low=2)
    least_repeated: int = key("characters that must be nothing but such repeats", low=1)
    refusals: tuple[str, ...] = key("phrases by which an answer counts as a refusal, in lower case")
    shards: int = key("jobs the sessions are spread over", low=1, high=1000)
    backend: Literal["lm", "chat", "completions"] = key(
        "what answers: the system's `lm` in process, or an OpenAI-compatible endpoint"
    )
    url: str | None = key("endpoint: its address, up to /v1", default=None)
    model: str | None = key("endpoint: its name for its model", default=None)
    concurrency: int | None = key("endpoint: requests under way at once", low=1, high=100, default=None)
    timeout: float | None = key(
        "endpoint: seconds until a whole reply has come, else the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("endpoint: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: longest wait in seconds that it may ask for", low=0, default=None)


ANSWERERS: dict[str, frozenset[str]] = {"lm": frozenset()}  # backend: the optional keys it needs
ANSWERERS |= dict.fromkeys(
    ("chat", "completions"), frozenset({"url", "model", "concurrency", "timeout", "delays", "max_wait"})
)


def answer_problems(answer: Answer, lm: Lm) -> list[str]:
    """What does not fit together in the answering of questions by a language model, each in a clause."""
    found = misfits("answer", answer, "backend", ANSWERERS)
    if answer.backend == "lm" and not in_process(lm):
        found.append(f"answer.backend lm writes in process, lm.backend is {lm.backend}; take answer.backend chat")
    if answer.max_tokens >= lm.window:
        found.append(f"answer.max_tokens is {answer.max_tokens}, lm.window ({lm.window}) must hold a prompt besides")
    found += [f"answer.refusals holds {p!r}, which is not in lower case" for p in answer.refusals if p != p.lower()]
    return found + ["answer.stop holds an empty text" for text in answer.stop if not text]
