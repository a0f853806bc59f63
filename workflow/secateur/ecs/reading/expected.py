"""The shift of answers the model itself holds likely: what is left of definition 1 where the gold answer is unknown."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from secateur.ecs.reading.decode import follow, sampling
from secateur.ecs.reading.pairs import Pairs, encode, families, logprobs
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM

__all__ = ["expected_shift", "pseudo_answers"]


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest())


def pseudo_answers(
    lm: CausalLM, cfg, questions: Sequence[Question], shown: Sequence[Sequence[Passage]]
) -> list[list[str]]:
    """Answers sampled for each question under the passages shown to it: their first lines, blank ones left out.

    The samples of a question depend on cfg.seed and its id alone.
    """
    found = []
    for question, passages in zip(questions, shown, strict=True):
        (context,) = encode(lm, cfg, [question], [passages], answered=False)
        seeds = [_seed(cfg.seed, question.id, n) for n in range(cfg.pseudo_answers)]
        paths = follow(lm, [context.ids] * len(seeds), cfg.pseudo_tokens, sampling(cfg.temperature, seeds))
        lines = (
            lm.tokenizer.decode(path.tokens, skip_special_tokens=True).strip().split("\n")[0].strip() for path in paths
        )
        found.append([line for line in lines if line])
    return found


def expected_shift(
    lm: CausalLM,
    cfg,
    questions: Sequence[Question],
    passages: Sequence[Passage],
    pairs: Pairs,
    answers: Sequence[Sequence[str]],
) -> list[float | None]:
    """`signed`, averaged over the pseudo-answers of each question; None where all of them were blank."""
    posed = [(q, replace(question, answer=a)) for q, question in enumerate(questions) for a in answers[q]]
    of = [[n for n, (q, _) in enumerate(posed) if q == place] for place in range(len(questions))]
    wide = [(n, p) for q, p in pairs for n in of[q]]
    alone = logprobs(lm, cfg, [q for _, q in posed], [()] * len(posed), [q for q, _ in posed])
    under = logprobs(lm, cfg, [posed[n][1] for n, _ in wide], [[passages[p]] for _, p in wide], families(cfg, wide))
    shift = {(n, p): value - alone[n] for (n, p), value in zip(wide, under, strict=True)}
    return [sum(shift[n, p] for n in of[q]) / len(of[q]) if of[q] else None for q, p in pairs]
