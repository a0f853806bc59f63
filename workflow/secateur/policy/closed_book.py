"""What the reader knows without a context: its sampled answers, and how probable it holds them."""

import hashlib
from dataclasses import replace
from pathlib import Path

from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.decode import generate, sampling
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Question
from secateur.models.causal import CausalLM
from secateur.models.units import content_words

__all__ = ["agreement", "closed_book", "sampled_answers"]


def sampled_answers(lm: CausalLM, cfg, question: Question) -> list[str]:
    """The first lines of `cfg.pseudo_answers` answers sampled without a context; blank ones are left out.

    They depend on `cfg.seed` and the question's id alone.
    """
    (encoded,) = encode(lm, cfg, [question], [()], answered=False)
    seeds = [_seed(cfg.seed, question.id, n) for n in range(cfg.pseudo_answers)]
    paths = generate(lm, [encoded.ids] * len(seeds), cfg.pseudo_tokens, sampling(cfg.temperature, seeds))
    texts = [lm.tokenizer.decode(path.tokens, skip_special_tokens=True) for path in paths]
    lines = [text.strip().split("\n")[0].strip() for text in texts]
    return [line for line in lines if line]


def _seed(*components: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(components).encode(), digest_size=7).digest())


def agreement(first: str, second: str) -> float:
    """Jaccard overlap of the content words of two answers; 1 where neither has any.

    >>> agreement("the red brick", "A red and blue brick.")
    0.6666666666666666
    """
    ours, theirs = content_words(first), content_words(second)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def closed_book(lm: CausalLM, cfg, question: Question, cache: Path) -> tuple[float, float]:
    """(surprise, agreement) of `cfg.pseudo_answers` sampled answers.

    surprise: mean of -log p per token of an answer, in nats; agreement: of the first two answers. Both are 0 where answers
    are missing. cfg: an `ecs` option.
    """
    answers = sampled_answers(lm, cfg, question)
    each = answer_logprobs(lm, cfg, [(replace(question, answer=answer), CLOSED) for answer in answers], cache)
    return -sum(each) / max(len(each), 1), agreement(*answers[:2]) if len(answers) > 1 else 0.0
