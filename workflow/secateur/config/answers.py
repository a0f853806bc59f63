"""Options of answering questions and of judging the answers."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.config.models import Lm, in_process
from secateur.core.fields import key, misfits, parameter_problems

__all__ = ["Answer", "Judge", "Writer", "answer_problems", "judge_problems"]

ENDPOINT = dict.fromkeys(
    ("chat", "completions"), frozenset({"url", "model", "concurrency", "timeout", "delays", "max_wait"})
)
ANSWERERS = ENDPOINT | {"lm": frozenset()}  # backend: optional keys that it needs
JUDGES = ENDPOINT | {"lm": frozenset({"lm"})}


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A language model that writes. An endpoint needs the keys that start with "endpoint", but for `parameters`."""

    backend: Literal["lm", "chat", "completions"] = key(
        "who writes: a model in process (an answer: the system's `lm`), or an OpenAI-compatible endpoint"
    )
    max_tokens: int = key("maximum tokens of a reply, its thoughts included", low=1)
    stop: tuple[str, ...] = key("texts that end a reply; they are not part of it")
    repeats: int = key("repetitions in a row after which a reply is cut", low=2)
    least_repeated: int = key("minimum characters that such repetitions must cover", low=1)
    template: dict[str, Any] = key("arguments of the chat template, e.g. {enable_thinking: false}", default={})
    max_failed: float = key(
        "maximum share of prompts that an endpoint may refuse (too long, filtered)", low=0, high=1, default=0.1
    )
    url: str | None = key("endpoint: address up to /v1", default=None)
    model: str | None = key("endpoint: name of the model", default=None)
    parameters: dict[str, Any] = key(
        "endpoint: parameters of each request, e.g. {max_completion_tokens: 256}; null leaves out a default "
        "(temperature, max_tokens)",
        default={},
    )
    concurrency: int | None = key("endpoint: requests at the same time", low=1, high=100, default=None)
    timeout: float | None = key(
        "endpoint: seconds for a whole reply, after which the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("endpoint: seconds before each further attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: maximum seconds of a wait that it asks for", low=0, default=None)


@dataclass(frozen=True, kw_only=True)
class Answer(Writer):
    """How a language model answers questions under a context."""

    instructions: str = key("text before the context, the same for every system")
    window: int | None = key(
        "maximum tokens of a prompt; a longer context is cut at the end far from the question; null: what `lm.window` "
        "leaves",
        low=16,
    )
    refusals: tuple[str, ...] = key("phrases that make an answer a refusal, in lower case")
    shards: int = key("jobs that share the sessions", low=1, high=1000)


@dataclass(frozen=True, kw_only=True)
class Judge(Writer):
    """Who judges answers, and how many. A model in process needs `lm`."""

    judged: int = key("answered questions to judge, the first by hash of their id; 0: all", low=0)
    checked: int = key("judged questions on which the judge itself is checked", low=2)
    facts: float = key(
        "weight of the statements' F1 in ACC; the rest is the cosine of answer and gold answer", low=0, high=1
    )
    padding: str = key(
        "text added to an answer to test whether length pleases the judge; {question} stands for the question"
    )
    window: int = key("maximum tokens of a prompt; a longer one is not sent, and its verdict is missing", low=64)
    lm: str | None = key("in process: option of conf/lm", default=None)


def _writer_problems(group: str, writer: Writer, needs: dict[str, frozenset[str]]) -> list[str]:
    """Conflicts between settings of a language model that writes, each in a clause."""
    problems = misfits(group, writer, "backend", needs) + parameter_problems(group, writer.parameters)
    if writer.parameters and writer.backend == "lm":
        problems.append(f"{group}.parameters does not belong to backend lm")
    if writer.template and writer.backend == "completions":
        problems.append(f"{group}.template does not belong to backend completions, which has no chat template")
    return problems


def answer_problems(answer: Answer, lm: Lm) -> list[str]:
    """Conflicts between settings of an answer option and its language model, each in a clause."""
    problems = _writer_problems("answer", answer, ANSWERERS)
    if answer.backend == "lm" and not in_process(lm):
        problems.append(f"answer.backend lm writes in process, lm.backend is {lm.backend}; take answer.backend chat")
    if answer.max_tokens >= lm.window:
        problems.append(
            f"answer.max_tokens ({answer.max_tokens}) leaves no room for a prompt in lm.window ({lm.window}). "
            "Fix: lower answer.max_tokens"
        )
    problems += [f"answer.refusals holds {p!r}, which is not in lower case" for p in answer.refusals if p != p.lower()]
    return problems + ["answer.stop holds an empty text" for text in answer.stop if not text]


def judge_problems(judge: Judge) -> list[str]:
    """Conflicts between settings of a judge, each in a clause."""
    problems = _writer_problems("judge", judge, JUDGES)
    if judge.judged and judge.checked > judge.judged:
        problems.append(f"judge.checked is {judge.checked}, only {judge.judged} questions are judged (judge.judged)")
    return problems
