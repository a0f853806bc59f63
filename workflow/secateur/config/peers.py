"""Options of other systems, and of who answers what they ask a language model."""

from dataclasses import dataclass
from typing import Any

from secateur.core.fields import ADDRESS, key

__all__ = ["Peer", "Service", "service_problems"]


@dataclass(frozen=True)
class Peer:
    """Another system: how it is run, in which environment, and how long it may take."""

    adapter: Any = key("how it is run: {kind: NAME, its settings} (peers/adapters)", family="peer")
    environment: str | None = key("envs/peers/NAME.txt, what it needs; this project's own packages where null")
    chunk: int = key(
        "tokens of the parts that documents are cut into, for a peer that cuts none itself", low=1, default=256
    )
    start: float = key(
        "seconds in which it must have started, and again in which an index must be done", low=1, default=300.0
    )
    document_seconds: float = key("and so many more for each document", low=0, default=10.0)
    question_seconds: float = key("seconds in which a question must be answered", low=0, default=120.0)
    longest: int = key("characters of a context; a longer one is a failure", low=1, default=2_000_000)
    indexed_by: str | None = key(
        "the option of conf/peer whose index is asked, where only asking differs", default=None
    )


@dataclass(frozen=True)
class Service:
    """Who answers what a peer asks a language model: the extraction, or a model behind an endpoint."""

    url: str | None = key("an OpenAI-compatible endpoint; null: the extraction answers, in the peer's format")
    model: str | None = key("the model it is asked for")
    timeout: float = key("seconds for one reply", low=0)
    delays: tuple[float, ...] = key("seconds to wait before each further attempt", low=0)
    max_wait: float = key("seconds that an endpoint may ask to wait, at most", low=0)


def service_problems(service: Service) -> list[str]:
    """What keeps an endpoint from being asked, each in a clause."""
    if service.url is None:
        return []
    wrong = [] if ADDRESS.fullmatch(service.url) else [f"service.url is {service.url!r}, http://host:port/v1 is needed"]
    return wrong + ([] if service.model else ["service.model is null, and service.url names an endpoint"])
