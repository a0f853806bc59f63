"""Text to the tokens of a causal model: context and continuation are encoded together and split where the context ends.

The rules are those of lm-evaluation-harness, so log-probabilities are comparable with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from secateur.core.errors import SecateurError

__all__ = ["Encoded", "Encoder", "starts_with_bos"]


@dataclass(frozen=True)
class Encoded:
    """One sequence. ids: context, then continuation; start: the first token of the continuation, len(ids) without one.

    asked: [first, end) of the question's tokens, where its log-probability is defined; cut: context tokens beyond the
    window.
    """

    ids: tuple[int, ...]
    start: int
    asked: tuple[int, int] | None
    cut: int

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens that the model reads; the last token of a continuation is only predicted."""
        return self.ids[: max(self.start, len(self.ids) - 1)]

    @property
    def predicting(self) -> list[int]:
        """Positions whose predictions are needed: those before the question's tokens, then those before the answer's.

        Without an answer, the last position.
        """
        low, high = self.asked or (1, 1)
        return [*range(low - 1, high - 1), *range(self.start - 1, max(self.start, len(self.ids) - 1))]


def starts_with_bos(tokenizer) -> bool:
    """Whether a tokenizer starts a text with its BOS token (SmolLM2 has one and does not)."""
    return tokenizer.bos_token_id is not None and tokenizer("a").input_ids[:1] == [tokenizer.bos_token_id]


class Encoder:
    """Contexts and continuations to `Encoded`, within a window of input tokens. BOS comes first and once, or never."""

    def __init__(self, tokenizer, window: int) -> None:
        self._tokens, self.window = tokenizer.backend_tokenizer, window
        self.bos = (tokenizer.bos_token_id,) if starts_with_bos(tokenizer) else ()
        self._tokens.no_truncation()
        self._tokens.no_padding()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens."""
        return [len(e.ids) for e in self._tokens.encode_batch_fast(list(texts), add_special_tokens=False)]

    def encode(
        self,
        contexts: Sequence[str],
        continuations: Sequence[str],
        asked: Sequence[tuple[int, int] | None],
        names: Sequence[str],
    ) -> list[Encoded]:
        """One sequence for each context, continuation ("" for none) and character span of the question in the context.

        Trailing spaces of a context move to its continuation. Where both do not fit, the context is cut from the left.
        Raises SecateurError, with the sequence's name, where the continuation and one context token do not fit.
        """
        bare = [c.rstrip() if more else c for c, more in zip(contexts, continuations, strict=True)]
        wholes = [context + more for context, more in zip(contexts, continuations, strict=True)]
        encoded = self._tokens.encode_batch(wholes, add_special_tokens=False)
        lengths = self.count(bare)
        sequences = []
        for whole, length, more, span, name in zip(encoded, lengths, continuations, asked, names, strict=True):
            start = min(length, len(whole.ids) - 1) if more else len(whole.ids)
            tokens = _tokens_of(whole, span)
            sequences.append(self._fitted(Encoded(tuple(whole.ids), start, tokens, 0), name))
        return sequences

    def continued(self, one: Encoded, path: Sequence[int]) -> Encoded:
        """The same context with another continuation, and no question to score."""
        return self._fitted(replace(one, ids=one.ids[: one.start] + tuple(path), asked=None), "a trajectory")

    def _fitted(self, one: Encoded, name: str) -> Encoded:
        """The sequence with BOS, its context cut to the window."""
        lead = int(bool(self.bos) and one.ids[:1] == self.bos)  # a chat template writes it itself
        extra = max(0, len(one.read) - lead + len(self.bos) - self.window)
        drop = lead + extra
        if one.start <= drop:
            raise SecateurError(
                f"{name}: its answer has {len(one.ids) - one.start} tokens and needs one context token before it; "
                f"the window is {self.window}. Fix: a shorter answer, or a higher lm.window."
            )
        shift = len(self.bos) - drop
        known = one.asked is not None and one.asked[0] + (len(self.bos) if not extra else 0) > drop
        asked = (one.asked[0] + shift, one.asked[1] + shift) if known else None
        return Encoded(self.bos + one.ids[drop:], one.start + shift, asked, extra)


def _tokens_of(encoding, span: tuple[int, int] | None) -> tuple[int, int] | None:
    """[first, end) of the tokens that cover the characters [low, high) of a text."""
    if span is None or span[0] >= span[1]:
        return None
    first, last = encoding.char_to_token(span[0]), encoding.char_to_token(span[1] - 1)
    if first is None or last is None:
        return None
    while last + 1 < len(encoding.ids) and encoding.token_to_chars(last + 1)[0] < span[1]:
        last += 1  # a character may span several tokens
    return first, last + 1
