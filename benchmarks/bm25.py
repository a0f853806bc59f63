"""BM25 over a large corpus: ours (a sparse product, all questions at once) beside the package `bm25s`, same words.

CPU time of indexing and of asking for the best 100 of each of 100 questions, on STEM's sentences ten times over
(SECATEUR_MIRROR); the largest difference of their scores. `bm25s` is no dependency: pip install bm25s.
"""

import sys

import numpy as np
from harness import Figure, cpu_seconds, publish
from index import corpus

from secateur.models.units import word_list
from secateur.ranking.bm25 import bm25_matrix, bm25_terms

TIMES, QUESTIONS, BEST, K1, B = 10, 100, 100, 1.2, 0.75


def main() -> None:
    try:
        import bm25s
    except ImportError:
        sys.exit("bm25s is not installed. Fix: pip install bm25s")
    texts = corpus("stem")["text"].to_list() * TIMES
    queries = texts[:: len(texts) // QUESTIONS][:QUESTIONS]
    words = [word_list(text) for text in texts]
    asked = [sorted(set(word_list(query))) for query in queries]

    def theirs():
        found = bm25s.BM25(method="lucene", k1=K1, b=B)
        found.index(words, show_progress=False)
        return found

    index = theirs()
    ours, other = cpu_seconds(
        lambda: bm25_terms(texts, K1, B), lambda: (list(map(word_list, texts)), theirs()), repeats=1
    )
    scored = bm25_matrix(texts, queries, K1, B)
    again = np.stack([index.get_scores(query) for query in asked])
    apart = float(np.abs(scored / (K1 + 1) - again).max())  # theirs leaves out the constant factor

    def best_of(scores):
        return [np.argpartition(-row, BEST)[:BEST] for row in scores]

    whole, single = cpu_seconds(
        lambda: best_of(bm25_matrix(texts, queries, K1, B)),
        lambda: index.retrieve(asked, k=BEST, show_progress=False, n_threads=1),
        repeats=1,
    )
    size = f"{len(texts):,} sentences"
    publish(
        "bm25",
        [
            Figure(f"index, {size}", ours, "CPU s", "bm25s", other, None, None),
            Figure(
                f"{QUESTIONS} questions with the index made anew, {size}",
                whole,
                "CPU s",
                "bm25s, index at hand",
                single,
                None,
                None,
            ),
            Figure("largest difference of scores", apart, "", None, None, None, None),
        ],
    )


if __name__ == "__main__":
    main()
