"""The end of an answer that runs on, and refusals."""

from collections.abc import Sequence

from secateur.datasets.sentences import sentences

__all__ = ["FAILED", "finished", "is_over", "is_refusal"]

FAILED = "failed"  # how an answer ends whose prompt was refused, or whose reply a filter emptied


def _kept_of_repeats(text: str, times: int, least: int) -> int | None:
    """Characters to keep of a text that ends in repeats: up to the first repeat's last word. None without repeats.

    The number of repeats makes no difference.
    """
    for period in range(1, len(text) // times + 1):
        span = max(times * period, least)
        if span <= len(text) and text[-span:-period] == text[-span + period :]:
            start = len(text) - span
            while start and text[start - 1] == text[start - 1 + period]:
                start -= 1
            kept, most = start + period, start + 2 * period
            return next((n for n in range(kept - 1, most) if text[n].isspace()), kept)
    return None


def is_over(text: str, cfg) -> bool:
    """Whether the answer has ended: at a stop string, or in repeats. cfg: an `answer` option."""
    text = text.lstrip()
    return any(stop in text for stop in cfg.stop) or _kept_of_repeats(text, cfg.repeats, cfg.least_repeated) is not None


def finished(text: str, cfg) -> tuple[str, str | None]:
    """(answer, reason): the answer in a text, and why it is cut: stop, repeats or None."""
    text, why = text.lstrip(), None
    places = [place for stop in cfg.stop if (place := text.find(stop)) >= 0]
    if places:
        text, why = text[: min(places)], "stop"
    for length in range(cfg.least_repeated, len(text) + 1):
        kept = _kept_of_repeats(text[:length], cfg.repeats, cfg.least_repeated)
        if kept is not None:
            return text[:kept].strip(), "repeats"
    return text.strip(), why


def is_refusal(text: str, phrases: Sequence[str]) -> bool:
    """Whether an answer is a refusal: each of its sentences has one of the phrases.

    >>> phrases = ["i don't know", "not mention"]
    >>> is_refusal("I’m sorry, I  don’t know.", phrases), is_refusal("In Leeds. It does not mention when.", phrases)
    (True, False)
    """
    plain = (" ".join(sentence.lower().replace("’", "'").split()) for sentence, *_ in sentences(text))
    refuses = [any(phrase in sentence for phrase in phrases) for sentence in plain]
    return any(refuses) and all(refuses)
