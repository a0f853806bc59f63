"""The model that answers, and prompts cut to its window."""

from collections.abc import Sequence

from secateur.answers.endpoint import Remote
from secateur.answers.generate import Generator, InProcess
from secateur.answers.prompt import compose, units_cut
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter

__all__ = ["fitted", "generator"]


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
