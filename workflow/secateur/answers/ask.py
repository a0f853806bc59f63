"""The model that answers, and prompts cut to its window."""

from collections import Counter
from collections.abc import Sequence

from secateur.answers.ending import FAILED
from secateur.answers.endpoint import Remote
from secateur.answers.generate import Completion, Generator, InProcess
from secateur.answers.prompt import compose, units_cut
from secateur.core.errors import SecateurError
from secateur.models.chat import THOUGHT
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter

__all__ = ["fitted", "generator", "losses"]


def generator(cfg, ctx) -> Generator:
    """The generator of answers: the reader in this process, or an endpoint. cfg: options `answer` and `lm`."""
    if cfg.answer.backend == "lm":
        return InProcess(load(cfg.lm, ctx.cache, ctx.device), cfg.answer, ctx.cache)
    return Remote(cfg.answer, lm_counter(cfg.lm.model, ctx.cache), cfg.lm.window, ctx.cache, ctx.log)


def fitted(instructions: str, model: Generator, name: str, question: str, units: Sequence[str]) -> tuple[str, int]:
    """The prompt cut to the model's window, and the number of context units that were cut."""

    def without(cut: int) -> str:
        return compose(instructions, units[cut:], question)

    cut = units_cut(len(units), lambda cut: model.size(without(cut)), model.window, name)
    return without(cut), cut


def losses(answers: Sequence[Completion], cfg, group: str) -> dict[str, int]:
    """Counts of refused prompts, of thoughts without an answer, and of an endpoint's cut or empty replies. cfg: an option of `group`.

    A cut reply may be a thought: some servers leave out the mark that opens it.

    Raises SecateurError above the share of refused prompts that the option allows.
    """
    failed = [answer for answer in answers if answer.stopped == FAILED]
    if len(failed) > cfg.max_failed * len(answers):
        raise SecateurError(
            f"{len(failed)} of {len(answers)} prompts were refused, above the allowed share {group}.max_failed "
            f"({cfg.max_failed:g}). The last one: {failed[-1].problem.rstrip('.')}. "
            f"Fix: a lower {group}.window where prompts are too long, or a higher {group}.max_failed."
        )
    endings = Counter(answer.stopped for answer in answers)
    empty = sum(not answer.text.strip() for answer in answers if answer.stopped not in (FAILED, THOUGHT))
    cut = {"replies_cut": endings["length"], "replies_empty": empty} if cfg.backend != "lm" else {}
    return {"refused_prompts": len(failed), "thoughts_without_answer": endings[THOUGHT]} | cut
