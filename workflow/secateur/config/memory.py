"""Options of memory."""

from dataclasses import dataclass

from secateur.core.fields import key

__all__ = ["Memory"]


@dataclass(frozen=True)
class Memory:
    """What a session keeps from question to question (paper 1.1, P3)."""

    enabled: bool = key("remember questions, answers and what was shown; else every question stands alone")
    questions: int = key("earlier questions recalled, at most", low=0)
    answers: int = key("earlier answers recalled, at most", low=0)
    gold: bool = key("training questions store their gold answer; else what the model says, as all others do")
    window: int = key("tokens of shown evidence that the reader still has before it", low=0)
    fresh: int | None = key(
        "tokens of new evidence that a later prompt carries: smaller blocks are tried until one has no more; no "
        "limit where null",
        low=0,
    )
    policy_of: str | None = key("the option whose policy chooses what an answered prompt shows; all of it where null")
    theta: float = key("cosine from which units of a channel are one cluster under `unique`", low=-1, high=1)
