"""The shift of answers the model itself holds likely: what is left of definition 1 where the gold answer is unknown."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from secateur.ecs.reading.decode import follow, sampling
from secateur.ecs.reading.engine import read_on
from secateur.ecs.reading.pairs import Pairs, encode, logprobs
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.reading.trunk import Trunk
from secateur.models.causal import CausalLM

__all__ = ["answered_alone", "expected_shift", "pseudo_answers"]

TOGETHER = 8  # questions whose contexts are held at once, some 14 MB each with SmolLM2


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest())


def pseudo_answers(
    lm: CausalLM, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]]
) -> list[list[str]]:
    """Answers sampled for each question under the passages shown to it: their first lines, blank ones left out.

    The samples of a question depend on cfg.seed and its id alone. Some questions are gone on from together: a step of
    twenty paths takes some twice as long as one of a single path.
    """
    found, count = [], cfg.pseudo_answers
    for start in range(0, len(questions), TOGETHER):
        part = slice(start, start + TOGETHER)
        encoded = encode(lm, cfg, questions[part], shown[part], answered=False)
        contexts = [one.ids for one in encoded for _ in range(count)]
        seeds = [_seed(cfg.seed, question.id, n) for question in questions[part] for n in range(count)]
        paths = follow(lm, contexts, cfg.pseudo_tokens, sampling(cfg.temperature, seeds))
        said = [lm.tokenizer.decode(p.tokens, skip_special_tokens=True).strip().split("\n")[0].strip() for p in paths]
        found += [[line for line in said[n : n + count] if line] for n in range(0, len(said), count)]
    return found


def answered_alone(
    lm: CausalLM, cfg, questions: Sequence[Question], answers: Sequence[Sequence[str]]
) -> list[list[tuple[Question, float]]]:
    """Each question with each of its answers, and the answer's log-probability without a candidate."""
    posed = [(n, replace(q, answer=answer)) for n, q in enumerate(questions) for answer in answers[n]]
    alone = logprobs(lm, cfg, [q for _, q in posed], [()] * len(posed), [n for n, _ in posed])
    found: list[list[tuple[Question, float]]] = [[] for _ in questions]
    for (n, question), value in zip(posed, alone, strict=True):
        found[n].append((question, value))
    return found


def expected_shift(
    lm: CausalLM,
    cfg,
    posed: Sequence[Sequence[tuple[Question, float]]],
    passages: Sequence[Passage],
    pairs: Pairs,
    trunk: Trunk,
) -> list[float | None]:
    """`signed`, averaged over the pseudo-answers of each question; None where all of them were blank.

    posed: of each question (`answered_alone`); trunk: of the pairs.
    """
    wide = [(place, *one) for place, (q, _) in enumerate(pairs) for one in posed[q]]
    shown = [[passages[pairs[place][1]]] for place, _, _ in wide]
    sequences = [replace(one, asked=None) for one in encode(lm, cfg, [question for _, question, _ in wide], shown)]
    shift: list[list[float]] = [[] for _ in pairs]
    for n, reading in read_on(lm, sequences, [trunk.held[place] for place, _, _ in wide], 1):
        place, _, alone = wide[n]
        shift[place].append(float(reading.answer.double().sum()) - alone)
    return [sum(own) / len(own) if own else None for own in shift]
