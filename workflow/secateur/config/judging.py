"""Options of judges: language models that say what an answer is worth."""

from dataclasses import dataclass
from typing import Literal

from secateur.config.answers import ANSWERERS
from secateur.core.fields import key, misfits

__all__ = ["Judge", "judge_problems"]


@dataclass(frozen=True)
class Judge:
    """Who judges answers, and how many. Of the keys that may be null an endpoint needs all but `lm`, a model in process `lm`."""

    backend: Literal["lm", "chat", "completions"] = key(
        "who judges: a model in process, or an OpenAI-compatible endpoint"
    )
    judged: int = key("answered questions that are judged, the first by hash of their id; 0: all", low=0)
    checked: int = key("of these, questions on which the judge itself is checked", low=2)
    facts: float = key("weight of the F1 of statements in ACC, beside the cosine of both answers", low=0, high=1)
    padding: str = key(
        "what is added to an answer to see whether length pleases the judge; {question} stands for the question"
    )
    window: int = key("tokens of a prompt at most; a longer one is not asked, its verdict is missing", low=64)
    max_tokens: int = key("tokens of a reply at most", low=1)
    stop: tuple[str, ...] = key("texts that end a reply")
    repeats: int = key("times in a row that a reply may say the same before it is cut", low=2)
    least_repeated: int = key("characters that must be nothing but such repeats", low=1)
    lm: str | None = key("in process: the option of conf/lm", default=None)
    url: str | None = key("endpoint: its address, up to /v1", default=None)
    model: str | None = key("endpoint: its name for its model", default=None)
    concurrency: int | None = key("endpoint: requests under way at once", low=1, high=100, default=None)
    timeout: float | None = key(
        "endpoint: seconds until a whole reply has come, else the request has failed", low=0.01, default=None
    )
    delays: tuple[float, ...] | None = key("endpoint: seconds waited before each repeated attempt", low=0, default=None)
    max_wait: float | None = key("endpoint: longest wait in seconds that it may ask for", low=0, default=None)


JUDGES = ANSWERERS | {"lm": frozenset({"lm"})}  # backend: the optional keys it needs


def judge_problems(judge: Judge) -> list[str]:
    """What does not fit together in a judge, each in a clause."""
    found = misfits("judge", judge, "backend", JUDGES)
    if judge.judged and judge.checked > judge.judged:
        found.append(f"judge.checked is {judge.checked}, only {judge.judged} questions are judged (judge.judged)")
    return found
