"""A causal language model behind a server: tokens are made here, log-probabilities come over HTTP.

Prompts are token ids of the local tokenizer, so scores are of the same tokens as in process. A server gives
log-probabilities of the prompt's tokens and of a few next tokens, never of the whole vocabulary.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from secateur.core.cache import digest
from secateur.core.errors import SecateurError
from secateur.models.encoding import Encoded, Encoder
from secateur.models.http import Endpoint, Refused, Unusable
from secateur.models.prepare import fast_tokenizer, prepare

__all__ = ["KEYS", "Served", "Wire", "connect"]

KEYS = frozenset({"url", "top_logprobs", "concurrency", "timeout", "delays", "max_wait"})  # of conf/lm

ROUNDING = 1e-3  # a log-probability may exceed 0 by this much
LEAST = -500.0  # less is no log-probability: servers write -9999.0, or the least number of a type, for one they lack
LOG = logging.getLogger(__name__)
Item, Value = TypeVar("Item"), TypeVar("Value")


class Wire(Protocol):
    """Requests and replies of a server: a module in readers/."""

    PATH: str
    prompt_request: Callable[..., dict[str, Any]]
    prompt_logprobs: Callable[..., list[float] | None]
    next_request: Callable[..., dict[str, Any]]
    next_logprobs: Callable[..., dict[int, float]]


class Served:
    """A served model with the local tokenizer. cfg: an `lm` option with a url; wire: requests and replies.

    Raises SecateurError where the server does not answer, serves another model, or takes fewer tokens than the window.
    """

    pack = None  # the server decides how it packs

    def __init__(self, cfg, tokenizer, wire: Wire, log: logging.Logger = LOG) -> None:
        self.cfg, self.tokenizer, self.backend, self.name = cfg, tokenizer, cfg.backend, cfg.model
        self.top_logprobs, self.encoder = cfg.top_logprobs, Encoder(tokenizer, cfg.window)
        self._wire, self._endpoint = wire, Endpoint(cfg, "lm", log)
        self._stated = self._find(self._ask("/v1/models", None, _cards))
        log.info("%s: serves %s; it does not state the data type", cfg.url, self._stated["id"])

    @cached_property
    def identity(self) -> str:
        """Digest of backend, model, its name on the server, tokenizer and window.

        The server's data type is unknown. The address is left out: a server may move.
        """
        tokenizer = (self.tokenizer.backend_tokenizer.to_str(), str(self.tokenizer.chat_template), self.encoder.prefix)
        stated = (self._stated["id"], self._stated.get("root"))
        return digest(self.backend, self.name, *stated, *tokenizer, self.encoder.window, self.top_logprobs)

    def read(self, sequences: Sequence[Encoded]) -> Iterator[tuple[list[float], dict[int, float]]]:
        """For each sequence, in order: (log-probabilities, first).

        Log-probabilities are of its tokens from the question on, or from the answer on without a question. first: token ->
        log-probability of the most probable first answer tokens, empty where lm.top_logprobs is 0.
        """
        return self._each(self._read, sequences)

    def named(self, sequences: Sequence[Encoded], tokens: Sequence[int]) -> Iterator[list[float]]:
        """For each sequence, in order: log-probabilities of `tokens` at the first answer position."""
        return self._each(lambda sequence: self._named(sequence.ids[: sequence.start], tokens), sequences)

    def _read(self, sequence: Encoded) -> tuple[list[float], dict[int, float]]:
        first = sequence.asked[0] if sequence.asked else sequence.start
        asked = self._prompt(sequence.ids, first) if first < len(sequence.ids) else []
        return asked, self._top(sequence.ids[: sequence.start])

    def _prompt(self, ids: Sequence[int], first: int) -> list[float]:
        request = self._wire.prompt_request(self._stated["id"], ids, first)
        logprobs = self._ask(
            self._wire.PATH, request, lambda reply: _logprobs(self._wire.prompt_logprobs(reply, ids, first))
        )
        if logprobs is None:
            raise self._lacking("no log-probabilities of the prompt", f"lm.url of a {self.backend} server")
        return logprobs

    def _top(self, ids: Sequence[int]) -> dict[int, float]:
        if not self.top_logprobs:
            return {}
        top = self._next(ids, self.top_logprobs, ())
        if len(top) < self.top_logprobs:
            raise self._lacking(f"{len(top)} of {self.top_logprobs} most probable tokens", "a lower lm.top_logprobs")
        return dict(sorted(top.items(), key=lambda item: -item[1])[: self.top_logprobs])

    def _named(self, ids: Sequence[int], tokens: Sequence[int]) -> list[float]:
        logprobs = self._next(ids, 0, tokens)
        if not set(tokens) <= set(logprobs):
            raise self._lacking("no log-probabilities of named tokens", "a newer server, or leave the judges out")
        return [logprobs[token] for token in tokens]

    def _next(self, ids: Sequence[int], count: int, named: Sequence[int]) -> dict[int, float]:
        request = self._wire.next_request(self._stated["id"], ids, count, named)
        return self._ask(
            self._wire.PATH, request, lambda reply: _by_token(self._wire.next_logprobs(reply, bool(named)))
        )

    def _each(self, call: Callable[[Item], Value], items: Sequence[Item]) -> Iterator[Value]:
        """Results in order, `concurrency` calls at once; after a failure no call starts."""
        with ThreadPoolExecutor(self.cfg.concurrency) as pool:
            yield from pool.map(call, items)

    def _ask(self, path: str, body: dict[str, Any] | None, read: Callable[[Any], Value]) -> Value:
        def usable(response) -> Value:
            try:
                return read(response.json())
            except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
                raise Unusable(f"no usable reply ({type(error).__name__}: {error})") from error

        try:
            return self._endpoint.ask(path, body, usable)
        except Refused as problem:
            raise SecateurError(str(problem)) from problem
        except Unusable as problem:
            raise SecateurError(
                f"{self.cfg.url}{path}: {problem}, after {len(self.cfg.delays) + 1} attempts. "
                "Fix: check the server and run again; scored blocks are cached."
            ) from problem

    def _find(self, cards: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The server's entry for the model. A request needs two tokens beyond the window: one sent, one generated."""
        matching = [card for card in cards if self.name in (card["id"], card.get("root"))]
        if not matching:
            raise SecateurError(
                f"{self.cfg.url}: serves {', '.join(card['id'] for card in cards) or 'no model'}, not lm.model "
                f"{self.name}. Fix: lm.model as it is served, or a server with --served-model-name {self.name}."
            )
        longest = matching[0].get("max_model_len")
        if longest is not None and longest < self.encoder.window + 2:
            raise SecateurError(
                f"{self.cfg.url}: takes {longest} tokens, a window of {self.encoder.window} needs two more than that. "
                f"Fix: lm.window={longest - 2}, or a server with a longer one."
            )
        return matching[0]

    def _lacking(self, what: str, instead: str) -> SecateurError:
        return SecateurError(f"{self.cfg.url}: its replies have {what}. Fix: {instead}.")


def _logprobs(values: list[float] | None) -> list[float] | None:
    """The values, unchanged. Raises ValueError for values that cannot be log-probabilities."""
    if values is not None and not all(LEAST <= value <= ROUNDING for value in values):
        odd = next(value for value in values if not LEAST <= value <= ROUNDING)
        raise ValueError(
            f"{odd} is no log-probability; allowed: {LEAST:g} to 0. Above 0, take vLLM's --logprobs-mode raw_logprobs"
        )
    return values


def _by_token(logprobs: dict[int, float]) -> dict[int, float]:
    _logprobs([*logprobs.values()])
    return logprobs


def _cards(reply: Any) -> list[dict[str, Any]]:
    """The models of a server: id, with root and max_model_len where it states them."""
    return [
        {"id": str(card["id"]), **{k: card[k] for k in ("root", "max_model_len") if k in card}}
        for card in reply["data"]
    ]


def connect(cfg, cache: Path, wire: Wire) -> Served:
    """The served model of an `lm` option. Raises SecateurError where the address holds no tokenizer."""
    return Served(cfg, fast_tokenizer(cfg.model, prepare(cfg.model, cache, weights=False)), wire)
