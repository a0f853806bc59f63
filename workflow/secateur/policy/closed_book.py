"""What the reader may know of a question already: the answers it gives without a context, and how sure it is of them."""

from dataclasses import replace
from pathlib import Path

from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.expected import pseudo_answers
from secateur.ecs.reading.template import Question
from secateur.models.causal import CausalLM
from secateur.models.words import content_words

__all__ = ["agreement", "closed_book"]


def agreement(first: str, second: str) -> float:
    """Share of the content words of two answers that both have; 1 where neither has one.

    >>> agreement("the red brick", "A red and blue brick.")
    0.6666666666666666
    """
    ours, theirs = content_words(first), content_words(second)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def closed_book(lm: CausalLM, cfg, question: Question, cache: Path) -> tuple[float, float]:
    """(surprise, agreement) of `cfg.pseudo_answers` sampled answers: -log p of an answer per token, in nats, their mean; and
    how far the first two agree. 0 where there is none to ask, or no second one.

    cfg: an `ecs` option, of which it takes what samples and the layout.
    """
    (answers,) = pseudo_answers(lm, cfg, [question], [()])
    each = answer_logprobs(lm, cfg, [(replace(question, answer=answer), CLOSED) for answer in answers], cache)
    return -sum(each) / max(len(each), 1), agreement(*answers[:2]) if len(answers) > 1 else 0.0
