"""Options of contexts: how a ranking is written."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["Assembly"]


@dataclass(frozen=True)
class Assembly:
    """From a ranking to a context: four choices that apply to any ranker."""

    form: dict[str, Any] = key("how a piece is written: {kind: NAME, its settings} (contexts/forms)", family="form")
    packing: Literal["refill", "stop"] = key(
        "a piece that does not fit is passed over, or ends the context (the rule of published rows)"
    )
    placement: Literal["best_first", "best_last", "as_written"] = key("where the pieces stand")
    counter: Literal["reader", "word_pieces"] = key("whose tokens a budget counts: the reader's, or the embedder's")
    budget: int = key("tokens of the context that questions are answered with", low=1)
    titles: bool = key("passages without a speaker are sent under the title of their article", default=False)
