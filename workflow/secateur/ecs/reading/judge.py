"""The model as judge of a passage: p(yes) against p(no) (ECS, section 3.5)."""

from collections.abc import Sequence

import numpy as np

from secateur.core.errors import SecateurError
from secateur.ecs.reading.engine import first_logprobs
from secateur.ecs.reading.pairs import Pairs
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.models.causal import CausalLM
from secateur.models.marks import Rendered
from secateur.models.served import Served
from secateur.models.thoughts import ended, marked

__all__ = ["JUDGES", "judge", "prompt_form", "verdict_tokens"]

HELPS = "Does this passage help answer the question correctly?"
ACCURATE = "Based on your knowledge, does this passage contain accurate information for answering this question?"
JUDGES = {  # column: (sentence of the paper, whether the answer is shown)
    "judge_helpful_answer": (HELPS, True),
    "judge_factual": (ACCURATE, False),
}
YES, NO = ("yes", "Yes", "YES"), ("no", "No", "NO")


def verdict_tokens(lm: CausalLM | Served) -> tuple[list[int], list[int]]:
    """Tokens that mean yes, and tokens that mean no, each with and without a leading space.

    A word of several tokens counts by its first, unless both words share it.
    Raises SecateurError if the tokenizer cannot separate yes from no.
    """
    tokenizer = lm.tokenizer.backend_tokenizer
    first = [
        {tokenizer.encode(space + word, add_special_tokens=False).ids[0] for word in words for space in ("", " ")}
        for words in (YES, NO)
    ]
    yes, no = sorted(first[0] - first[1]), sorted(first[1] - first[0])
    if not yes or not no:
        raise SecateurError(f"lm {lm.name}: its tokenizer does not tell yes from no. Fix: leave the judges out.")
    return yes, no


def _prompt(lm: CausalLM | Served, question: Question, passage: Passage, sentence: str, answered: bool) -> str:
    """The judge's prompt, in the chat template if the tokenizer has one; the next word is spoken, not thought."""
    lines = [f"Passage: {passage_line(passage)}", f"Question: {question.text.strip()}"]
    lines += [f"Correct answer: {question.answer}"] if answered else []
    text = "\n".join([*lines, "", f"{sentence} Answer yes or no."])
    if not lm.tokenizer.chat_template:
        return f"{text}\nAnswer:"
    # A template that cannot think reads no `enable_thinking`.
    return Rendered(ended(lm.encoder.marks.rendered(lm.tokenizer, text, enable_thinking=False)))


def prompt_form(lm: CausalLM | Served) -> tuple[str, ...]:
    """What the key of cached verdicts needs besides: a mark for models that think, whose prompts were once others."""
    return ("ended",) if marked(str(lm.tokenizer.chat_template)) else ()


def judge(
    lm: CausalLM | Served,
    names: Sequence[str],
    questions: Sequence[Question],
    passages: Sequence[Passage],
    pairs: Pairs,
) -> list[dict[str, float | None]]:
    """p(yes) / (p(yes) + p(no)) of each pair by each named judge of `JUDGES`.

    None if the judge shows the answer and the question has none. The prompts of a pair share their beginning, which is
    read once.
    """
    yes, no = verdict_tokens(lm)
    has_answer = [bool((questions[q].answer or "").strip()) for q, _ in pairs]
    asked = [(n, name) for n in range(len(pairs)) for name in names if has_answer[n] or not JUDGES[name][1]]
    prompts = [_prompt(lm, questions[pairs[n][0]], passages[pairs[n][1]], *JUDGES[name]) for n, name in asked]
    labels = [f"question {questions[pairs[n][0]].id}" for n, _ in asked]
    sequences = lm.encoder.encode(prompts, [""] * len(prompts), [None] * len(prompts), labels)
    verdicts: list[dict[str, float | None]] = [dict.fromkeys(names) for _ in pairs]
    for place, logprobs in first_logprobs(lm, sequences, [n for n, _ in asked], [*yes, *no]):
        logprobs, (n, name) = logprobs.astype(np.float64), asked[place]
        verdicts[n][name] = float(np.exp(np.logaddexp.reduce(logprobs[: len(yes)]) - np.logaddexp.reduce(logprobs)))
    return verdicts
