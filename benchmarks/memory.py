"""The library's memory on 10,000 sentences of a mirror (SECATEUR_MIRROR): CPU seconds to read them, and to retrieve a context.

A retrieval is the median of single questions, each asked once, on one thread, its parse included; beside it, asked in turn
with it, what the least of dense retrieval costs: the question's vector by sentence-transformers, and one product with the
vectors of all sentences. CPU time, since a shared machine says little by the clock.
"""

import gzip
import json
import os
import time
from itertools import islice
from pathlib import Path

import numpy as np
from harness import Figure, publish
from threadpoolctl import threadpool_limits

from secateur import Memory
from secateur.datasets.sentences import sentences
from secateur.library.options import chosen
from secateur.models.locate import locate

MIRROR = Path(os.environ["SECATEUR_MIRROR"])
SENTENCES, ASKED, BUDGET = 10_000, 60, 256
GOAL = 0.040  # CPU seconds


def texts() -> dict[str, str]:
    """Articles until there are sentences enough, the last one cut."""
    with gzip.open(MIRROR / "stem_corpus_plain.json.gz") as stream:
        (corpus,) = json.load(stream)
    found, left = {}, SENTENCES
    for n, article in enumerate(corpus["context"].split("\n\n")):
        own = [sentence for sentence, _, _ in islice(sentences(article), left)]
        left -= len(own)
        if own:
            found[f"article {n}"] = "\n".join(own)
    return found


def questions() -> list[str]:
    with gzip.open(MIRROR / "old_stem_QnA_modified.json.gz") as stream:
        return [one["question"] for one in json.load(stream)][:ASKED]


def medians(calls, asked: list[str]) -> list[float]:
    """CPU seconds of a question under each call, which take turns."""
    taken = [[] for _ in calls]
    for question in asked:
        for call, times in zip(calls, taken, strict=True):
            started = time.process_time()
            call(question)
            times.append(time.process_time() - started)
    return [float(np.median(times)) for times in taken]


def anchor(read: dict[str, str]):
    """Dense retrieval and nothing else."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(locate(chosen("embedder", "minilm").model), device="cpu")
    vectors = model.encode("\n".join(read.values()).split("\n"), normalize_embeddings=True)
    return lambda question: np.argsort(-(vectors @ model.encode(question, normalize_embeddings=True)))[:30]


def main() -> None:
    read, asked, figures = texts(), questions(), []
    plain = anchor(read)
    plain(asked[0])
    for system in os.environ.get("SYSTEMS", "title_zsum,secateur,graph_zsum,beam").split(","):
        memory, started = Memory(system), time.process_time()
        count = memory.index(read)
        figures.append(
            Figure(
                f"{system}: read {count:,} sentences", time.process_time() - started, "CPU s", None, None, None, None
            )
        )
        with threadpool_limits(1):
            memory.retrieve("What is the first question?", BUDGET)
            seconds, least = medians([lambda q, m=memory: m.retrieve(q, BUDGET), plain], asked)
        figures.append(Figure(f"{system}: p50 of retrieve", seconds, "CPU s", None, None, GOAL, "<="))
        figures.append(
            Figure(
                f"{system}: over dense retrieval alone", seconds, "CPU s", "sentence-transformers", least, None, None
            )
        )
    publish("memory", figures)


main()
