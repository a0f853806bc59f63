"""Options of contexts: from selected runs to a prompt."""

from dataclasses import dataclass
from typing import Literal

from secateur.pipeline.config.fields import key

__all__ = ["Prompt"]


@dataclass(frozen=True)
class Prompt:
    """Selected runs to a prompt (paper 2.5, 2.6)."""

    assemble: Literal["cover", "ranked", "runs"] = key(
        "budgeted cover of source sentences, whole sources best first, or runs in fine order (the paper)"
    )
    facts: Literal["include_all", "unique", "not_include"] = key("action on the facts channel")
    theta: float = key("cosine from which runs are one cluster under `unique`", low=-1, high=1)
    grounding: Literal["triples", "sentences", "both"] = key("show lines, whole sentences, or lines with upgrades")
    words: Literal["all", "content"] = key("keep the function words of a line, or drop them")
    best_last: bool = key("sources stand in reverse order, the best next to the question")
    cite: bool = key("end each record of cited lines with the number of its source")
    encoding: Literal["cheapest", "words", "ids", "matrix", "lines"] = key("view of the edges in the prompt")
    budget: int = key("word pieces of evidence in the prompt as used", low=1)
    mix: float = key("lambda: weight of sentences held nearly whole against words new anywhere", low=0, high=1)
    enough: float = key("share of a sentence's content words from which the cover takes it for whole", low=0.01, high=1)
    words_per_source: float = key("new words that are worth one source sentence", low=0.001)
