"""Late interaction: the best passages of a ranker reordered by the token vectors of the embedder (MaxSim).

ColBERT's score (Khattab and Zaharia, SIGIR 2020), in its re-ranking mode, with the tokens of an encoder that was not trained
for it: each token of the question counts the highest cosine of a token of the passage.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from secateur.core.fields import key
from secateur.ranking.group import Group, Questions, Scores, scores_of, top, z_scores

EMBEDS_TOKENS = True


@dataclass(frozen=True)
class Settings:
    """The ranker, how many of its passages are reordered, and its own weight among them."""

    of: dict[str, Any] = key("plug-in (kind) and settings of the ranker that is reordered")
    pool: int = key("best passages that are reordered; the others follow as they were", low=1)
    first: float = key("weight of the ranker's z-score beside MaxSim's, over the pool", low=0, default=0.0)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """z(MaxSim) + first * z(ranker), both over the pool; below it the others, in their order."""
    first = scores_of(settings.of, "of", group, questions, seed)
    passages = group.once("tokens", lambda: group.embed_tokens(group.texts))
    asked = group.embed_tokens(questions.queries)
    scores = np.empty(first.shape)
    for row in range(len(questions.queries)):
        pool = top(first[row], settings.pool)
        tokens, _ = asked.at(np.array([row])).unpacked()
        pair = np.stack([passages.at(pool).max_sim(tokens), first[row, pool]])
        joined = np.array([1.0, settings.first]) @ z_scores(pair)
        scores[row] = first[row] - first[row].max() + joined.min(initial=0) - 1
        scores[row, pool] = np.where(np.isneginf(first[row, pool]), -np.inf, joined)
    return scores
