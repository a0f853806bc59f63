"""The model asked outright whether a passage helps: p(yes) against p(no) (ECS, section 3.5)."""

from collections.abc import Sequence

from secateur.core.errors import SecateurError
from secateur.ecs.reading.engine import named
from secateur.ecs.reading.pairs import Pairs
from secateur.ecs.reading.template import Passage, Question, passage_line
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["JUDGES", "judge", "verdict_tokens"]

HELPS = "Does this passage help answer the question correctly?"
ACCURATE = "Based on your knowledge, does this passage contain accurate information for answering this question?"
JUDGES = {  # column: (sentence, whether the answer is shown); both sentences are the paper's
    "judge_helpful_answer": (HELPS, True),
    "judge_factual": (ACCURATE, False),
}
YES, NO = ("yes", "Yes", "YES"), ("no", "No", "NO")


def verdict_tokens(lm: CausalLM | Served) -> tuple[list[int], list[int]]:
    """The tokens that say yes and those that say no, with and without a space before; a word of several tokens by its
    first, unless both begin alike. Raises SecateurError where a tokenizer tells the two apart nowhere."""
    tokens = lm.tokenizer.backend_tokenizer
    first = [
        {tokens.encode(space + word, add_special_tokens=False).ids[0] for word in words for space in ("", " ")}
        for words in (YES, NO)
    ]
    yes, no = sorted(first[0] - first[1]), sorted(first[1] - first[0])
    if not yes or not no:
        raise SecateurError(f"lm {lm.name}: its tokenizer does not tell yes from no. Fix: leave the judges out.")
    return yes, no


def _asked(lm: CausalLM | Served, question: Question, passage: Passage, sentence: str, answered: bool) -> str:
    """The prompt, through the chat template where the tokenizer has one."""
    lines = [f"Passage: {passage_line(passage)}", f"Question: {question.text.strip()}"]
    lines += [f"Correct answer: {question.answer}"] if answered else []
    text = "\n".join([*lines, "", f"{sentence} Answer yes or no."])
    if not lm.tokenizer.chat_template:
        return f"{text}\nAnswer:"
    turns = [{"role": "user", "content": text}]
    return lm.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)


def judge(
    lm: CausalLM | Served,
    names: Sequence[str],
    questions: Sequence[Question],
    passages: Sequence[Passage],
    pairs: Pairs,
) -> list[dict[str, float | None]]:
    """p(yes) / (p(yes) + p(no)) of each pair under each of some `JUDGES`; None where the answer is to be shown and unknown.

    What is asked of a pair begins alike, and that is read once.
    """
    yes, no = verdict_tokens(lm)
    posed = [(n, name) for n in range(len(pairs)) for name in names]
    known = [(n, name) for n, name in posed if not JUDGES[name][1] or (questions[pairs[n][0]].answer or "").strip()]
    texts = [_asked(lm, questions[pairs[n][0]], passages[pairs[n][1]], *JUDGES[name]) for n, name in known]
    ids = [f"question {questions[pairs[n][0]].id}" for n, _ in known]
    sequences = lm.encoder.encode(texts, [""] * len(texts), [None] * len(texts), ids)
    found: list[dict[str, float | None]] = [dict.fromkeys(names) for _ in pairs]
    for place, said in named(lm, sequences, [n for n, _ in known], [*yes, *no]):
        said, (n, name) = said.double(), known[place]
        found[n][name] = float((said[: len(yes)].logsumexp(0) - said.logsumexp(0)).exp())
    return found
