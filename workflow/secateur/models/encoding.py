"""Text to the tokens of a causal model: context and continuation are encoded together and split where the context ends.

The rules are those of lm-evaluation-harness, so log-probabilities are comparable with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from secateur.core.errors import SecateurError
from secateur.models.marks import marks_of, textual

__all__ = ["Encoded", "Encoder", "prefix_of"]

PROBES = ("a", "b c")  # texts whose tokens are looked for among those with special tokens


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


def prefix_of(tokenizer) -> tuple[int, ...]:
    """The tokens that a tokenizer writes before a text: none, BOS, or more; what it writes after a text is left out.

    Raises SecateurError for one that does not write a text's own tokens in a row.
    """
    for text in PROBES:
        ids, bare = (tuple(tokenizer(text, add_special_tokens=special).input_ids) for special in (True, False))
        starts = [n for n in range(len(ids) - len(bare) + 1) if ids[n : n + len(bare)] == bare]
        if not starts:
            raise SecateurError(
                f"{tokenizer.name_or_path}: its tokenizer reads {text!r} as {bare}, and with its special tokens as {ids}. "
                "Fix: a tokenizer whose post-processor adds tokens around a text."
            )
    return ids[: starts[0]]


class Encoder:
    """Contexts and continuations to `Encoded`, within a window of input tokens.

    The tokenizer's own prefix comes first and once, or never. What looks like a control token within a text is text.
    """

    def __init__(self, tokenizer, window: int) -> None:
        self.prefix, self.window = prefix_of(tokenizer), window
        self.marks = marks_of(tokenizer.backend_tokenizer, str(tokenizer.chat_template))
        self._tokens = textual(tokenizer.backend_tokenizer, self.marks)
        self._tokens.no_truncation()
        self._tokens.no_padding()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens."""
        sent = list(map(self.marks.encodable, texts))
        return [len(e.ids) for e in self._tokens.encode_batch_fast(sent, add_special_tokens=False)]

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
        shown = list(map(self.marks.encodable, contexts))
        bare = [c.rstrip() if more else c for c, more in zip(shown, continuations, strict=True)]
        wholes = [context + self.marks.encodable(more) for context, more in zip(shown, continuations, strict=True)]
        encoded = self._tokens.encode_batch(wholes, add_special_tokens=False)
        lengths = [len(e.ids) for e in self._tokens.encode_batch_fast(bare, add_special_tokens=False)]
        sequences = []
        for whole, length, more, span, name in zip(encoded, lengths, continuations, asked, names, strict=True):
            start = min(length, len(whole.ids) - 1) if more else len(whole.ids)
            tokens = _tokens_of(whole, span)
            sequences.append(self._fitted(Encoded(tuple(whole.ids), start, tokens, 0), name))
        return sequences

    def continued(self, sequence: Encoded, path: Sequence[int]) -> Encoded:
        """The same context with another continuation, and no question to score."""
        return self._fitted(
            replace(sequence, ids=sequence.ids[: sequence.start] + tuple(path), asked=None), "a trajectory"
        )

    def _fitted(self, sequence: Encoded, name: str) -> Encoded:
        """The sequence with the prefix, its context cut to the window."""
        # A chat template writes the prefix itself, and the trajectories of a sequence have it.
        written = bool(self.prefix) and sequence.ids[:1] == self.prefix[:1]
        lead = len(self.prefix) if written and sequence.ids[: len(self.prefix)] == self.prefix else 0
        prefix = () if written and not lead else self.prefix
        extra = max(0, len(sequence.read) - lead + len(prefix) - self.window)
        drop = lead + extra
        if sequence.start <= drop:
            raise SecateurError(
                f"{name}: its answer has {len(sequence.ids) - sequence.start} tokens and needs one context token before it; "
                f"the window is {self.window}. Fix: a shorter answer, or a higher lm.window."
            )
        shift = len(prefix) - drop
        in_window = sequence.asked is not None and sequence.asked[0] + (len(prefix) if not extra else 0) > drop
        asked = (sequence.asked[0] + shift, sequence.asked[1] + shift) if in_window else None
        return Encoded(prefix + sequence.ids[drop:], sequence.start + shift, asked, extra)


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
