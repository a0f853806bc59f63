"""The coarse stage over 100k runs against its two bare matrix products, and against a naive reference."""

import numpy as np
from harness import Figure, cpu_seconds, publish

from secateur.graph.retrieval.scores import Membership, coarse_scores
from secateur.ranking.group import top

RUNS, ENTITIES, RELATIONS, DIM = 100_000, 60_000, 4_000, 384
PER_RUN = (8, 4)  # entities and relations of a run
QUERY = (6, 3)  # those of a question
WEIGHTS, TOP_K, CHECKED = (1.0, 0.3), 200, 2_000
GOAL, EXACT = 0.8, 1e-6


def unit(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, DIM) unit vectors."""
    found = rng.normal(size=(count, DIM)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def main() -> None:
    """Rates of both, and the largest difference to the reference over the first runs."""
    rng = np.random.default_rng(7)
    books, queries = [unit(rng, ENTITIES), unit(rng, RELATIONS)], [unit(rng, QUERY[0]), unit(rng, QUERY[1])]
    run = [np.repeat(np.arange(RUNS), size) for size in PER_RUN]
    symbols = [rng.integers(len(book), size=len(r)) for book, r in zip(books, run, strict=True)]
    members = tuple(Membership.of(r, s, RUNS) for r, s in zip(run, symbols, strict=True))

    def ours() -> np.ndarray:
        return coarse_scores(*queries, *books, members, WEIGHTS)

    bare, mine = cpu_seconds(lambda: [q @ b.T for q, b in zip(queries, books, strict=True)], ours)
    scores, naive = ours(), np.zeros(CHECKED)
    for n in range(CHECKED):
        for query, book, member, weight in zip(queries, books, members, WEIGHTS, strict=True):
            own = member.symbols[member.starts[n] : member.starts[n + 1]]
            naive[n] += weight * (query @ book[own].T).max()
    same = set(top(scores[:CHECKED], TOP_K)) == set(np.argsort(-naive, kind="stable")[:TOP_K])
    worst = float(np.abs(scores[:CHECKED] - naive).max())
    publish(
        "coarse",
        [
            Figure("coarse", RUNS / mine, "runs per CPU second", "two bare products", RUNS / bare, GOAL, ">="),
            Figure("largest difference", worst, "score", None, None, EXACT, "<="),
            Figure("same top-k", float(same), "share", None, None, 1.0, ">="),
        ],
    )


if __name__ == "__main__":
    main()
