"""Options of other systems, and of who answers their requests to a language model."""

from dataclasses import dataclass
from typing import Any

from secateur.core.fields import ADDRESS, key, parameter_problems

__all__ = ["Peer", "Service", "service_problems"]


@dataclass(frozen=True)
class Peer:
    """Another system: its adapter, its environment and its time limits."""

    adapter: Any = key("how it is run: {kind: NAME, its settings} (peers/adapters)", family="peer")
    environment: str | None = key("requirements, envs/peers/NAME.txt; null: the packages of this project")
    chunk: int = key("tokens per chunk of a document, for a peer that does not chunk", low=1, default=256)
    start: float = key("seconds to start, and base of the seconds to index", low=1, default=300.0)
    document_seconds: float = key("seconds to index, added for each document", low=0, default=10.0)
    question_seconds: float = key("seconds to answer a question", low=0, default=120.0)
    longest: int = key("maximum characters of a context; a longer one is a failure", low=1, default=2_000_000)
    indexed_by: str | None = key("option of conf/peer whose index is shared, if only asking differs", default=None)


@dataclass(frozen=True)
class Service:
    """Who answers a peer's requests to a language model: our extraction, or a model behind an endpoint."""

    url: str | None = key("OpenAI-compatible endpoint; null: the extraction answers, in the peer's format")
    model: str | None = key("name of the endpoint's model")
    timeout: float = key("seconds for one reply", low=0)
    delays: tuple[float, ...] = key("seconds before each further attempt", low=0)
    max_wait: float = key("maximum seconds of a wait that an endpoint asks for", low=0)
    parameters: dict[str, Any] = key("parameters of each request besides the peer's; null leaves one out", default={})
    template: dict[str, Any] = key("arguments of the chat template, e.g. {enable_thinking: false}", default={})


def service_problems(service: Service) -> list[str]:
    """Settings that keep an endpoint from being used, each in a clause."""
    if service.url is None:
        return []
    wrong = [] if ADDRESS.fullmatch(service.url) else [f"service.url is {service.url!r}, http://host:port/v1 is needed"]
    wrong += parameter_problems("service", service.parameters)
    return wrong + ([] if service.model else ["service.model is null, and service.url names an endpoint"])
