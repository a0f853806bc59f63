"""The model that answers, and a prompt as far as its window holds it."""

from collections.abc import Sequence

from secateur.answers.endpoint import Remote
from secateur.answers.generate import Generator, InProcess
from secateur.answers.prompt import compose, units_cut
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter

__all__ = ["fitted", "generator"]


def generator(cfg, ctx) -> Generator:
    """What answers: `lm` in this process, or an endpoint. cfg: options `answer` and `lm`."""
    if cfg.answer.backend == "lm":
        return InProcess(load(cfg.lm, ctx.cache, ctx.device), cfg.answer, ctx.cache)
    return Remote(cfg.answer, lm_counter(cfg.lm.model, ctx.cache), cfg.lm.window, ctx.cache, ctx.log)


def fitted(instructions: str, made: Generator, name: str, question: str, units: Sequence[str]) -> tuple[str, int]:
    """The prompt as far as it fits the window, and how many units of the context it lacks."""

    def without(cut: int) -> str:
        return compose(instructions, units[cut:], question)

    cut = units_cut(len(units), lambda cut: made.size(without(cut)), made.window, name)
    return without(cut), cut
