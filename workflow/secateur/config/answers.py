"""Options of answering questions and of judging the answers."""

from dataclasses import dataclass
from typing import Literal

from secateur.config.models import Lm, in_process
from secateur.core.fields import key, misfits

__all__ = ["Answer", "Judge", "answer_problems", "judge_problems"]

ENDPOINT = dict.fromkeys(
    ("chat", "completions"), frozenset({"url", "model", "concurrency", "timeout", "delays", "max_wait"})
)
ANSWERERS = ENDPOINT | {"lm": frozenset()}  # backend: optional keys that it needs
JUDGES = ENDPOINT | {"lm": frozenset({"lm"})}


@dataclass(frozen=True)
class Answer:
    """How a language model answers questions under a context. An endpoint needs the keys that start with "endpoint"."""

    instructions: str = key("text before the context, the same for every system")
    window: int | None = key(
        "maximum tokens of a prompt; a longer context is cut at the end far from the question; null: what `lm.window` "
        "leaves",
        low=16,
    )
    max_tokens: int = key("maximum tokens of an answer", low=1)
    stop: tuple[str, ...] = key("texts that end an answer; they are not part of it")
    repeats: int = key("repetitions in a row after which an answer is cut", low=2)
    least_repeated: int = key("minimum characters that such repetitions must cover", low=1)
    refusals: tuple[str, ...] = key("phrases that make an answer a refusal, in lower case")
    shards: int = key("jobs that share the sessions", low=1, high=1000)
    backend: Literal["lm", "chat", "completions"] = key(
        "who answers: the system's `lm` in process, or an OpenAI-compatible endpoint"
    )
    url: str | None = key("endpoint: address up to /v1", default=None)
    model: str | None = key("endpoint: name of the model", default=None)
    concurrency: int | None = key("endpoint: requests at the same time", low=1, high=100, default=None)
    timeout: float | None = key(
        "endpoint: seconds for a whole reply, after which the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("endpoint: seconds before each further attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: maximum seconds of a wait that it asks for", low=0, default=None)


@dataclass(frozen=True)
class Judge:
    """Who judges answers, and how many. An endpoint needs the keys that start with "endpoint", a model in process `lm`."""

    backend: Literal["lm", "chat", "completions"] = key(
        "who judges: a model in process, or an OpenAI-compatible endpoint"
    )
    judged: int = key("answered questions to judge, the first by hash of their id; 0: all", low=0)
    checked: int = key("judged questions on which the judge itself is checked", low=2)
    facts: float = key(
        "weight of the statements' F1 in ACC; the rest is the cosine of answer and gold answer", low=0, high=1
    )
    padding: str = key(
        "text added to an answer to test whether length pleases the judge; {question} stands for the question"
    )
    window: int = key("maximum tokens of a prompt; a longer one is not sent, and its verdict is missing", low=64)
    max_tokens: int = key("maximum tokens of a reply", low=1)
    stop: tuple[str, ...] = key("texts that end a reply")
    repeats: int = key("repetitions in a row after which a reply is cut", low=2)
    least_repeated: int = key("minimum characters that such repetitions must cover", low=1)
    lm: str | None = key("in process: option of conf/lm", default=None)
    url: str | None = key("endpoint: address up to /v1", default=None)
    model: str | None = key("endpoint: name of the model", default=None)
    concurrency: int | None = key("endpoint: requests at the same time", low=1, high=100, default=None)
    timeout: float | None = key(
        "endpoint: seconds for a whole reply, after which the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("endpoint: seconds before each further attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: maximum seconds of a wait that it asks for", low=0, default=None)


def answer_problems(answer: Answer, lm: Lm) -> list[str]:
    """Conflicts between settings of an answer option and its language model, each in a clause."""
    problems = misfits("answer", answer, "backend", ANSWERERS)
    if answer.backend == "lm" and not in_process(lm):
        problems.append(f"answer.backend lm writes in process, lm.backend is {lm.backend}; take answer.backend chat")
    if answer.max_tokens >= lm.window:
        problems.append(f"answer.max_tokens is {answer.max_tokens}, lm.window ({lm.window}) must hold a prompt besides")
    problems += [f"answer.refusals holds {p!r}, which is not in lower case" for p in answer.refusals if p != p.lower()]
    return problems + ["answer.stop holds an empty text" for text in answer.stop if not text]


def judge_problems(judge: Judge) -> list[str]:
    """Conflicts between settings of a judge, each in a clause."""
    problems = misfits("judge", judge, "backend", JUDGES)
    if judge.judged and judge.checked > judge.judged:
        problems.append(f"judge.checked is {judge.checked}, only {judge.judged} questions are judged (judge.judged)")
    return problems
