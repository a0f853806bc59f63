"""A synthetic corpus and its graph, stage by stage, at growing sizes: CPU seconds, peak memory, and how both grow.

A passage states ten triples about the subject of its article and others; entities are drawn by Zipf's law, a tenth of them
have a second spelling. A string's vector is the sum of its words' vectors, which are drawn: what a model would cost grows
with the number of strings alone and is stated in docs/cluster.md. Each stage is the pipeline's own function, in a process
of its own, on one core. `--passages` takes other sizes.
"""

import argparse
import json
import logging
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import polars as pl
from harness import RESULTS, Figure, publish
from numpy.typing import NDArray
from scripts import build_codebook, build_runs, consolidate, prepare_corpus, rank_by_graph

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.stage.contract import Context, Inputs, Outputs

CONF = Path(__file__).resolve().parent.parent / "conf"
PASSAGES, QUESTIONS = (10_000, 100_000), 20
TRIPLES, PER_ARTICLE, PER_ENTITY, RELATIONS = 10, 10, 10, 5_000  # of a passage; passages; triples to an entity
WORDS, DIM, ALIASES, ZIPF, SEED, BLOCK = 20_000, 384, 0.1, 1.05, 7, 2_000
GROWTH = 1.05
FILE = "passages.jsonl"
STAGES = {
    "corpus": (prepare_corpus, ("files",), ("passages",)),
    "codebook": (build_codebook, ("passages", "triples"), ("entities", "relations", "edges", "lines", "edge_sources")),
    "runs": (build_runs, ("edges", "lines", "edge_sources"), ("runs", "run_edges")),
    "graph": (
        consolidate,
        ("passages", "entities", "edges", "edge_sources", "run_edges"),
        ("aliases", "edges", "edge_sources", "run_edges", "tombstones"),
    ),
    "rankings": (
        rank_by_graph,
        ("passages", "questions", "asked", "entities", "relations", "lines", "edges", "run_edges"),
        ("paths", "candidates", "rankings"),
    ),
}


class Drawn:
    """An embedder whose vectors are sums of drawn word vectors, in the place of a model; what they cost is left out."""

    seconds = 0.0

    def __init__(self, cfg, cache: Path, log=None) -> None:
        rng = np.random.default_rng(SEED)
        self.cfg, self.cache = SimpleNamespace(dim=DIM), SimpleNamespace(hits=0, misses=0)
        self.words = rng.normal(size=(WORDS + RELATIONS + 1, DIM)).astype(np.float32)
        self.words[-1] *= 0.3  # of what is no word of the corpus: the mark of a second spelling

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """(n, DIM) unit vectors."""
        started, found = time.process_time(), np.empty((len(texts), DIM), np.float32)
        for start in range(0, len(texts), BLOCK):
            part = pl.Series("w", texts[start : start + BLOCK]).str.split(" ")
            ends = np.concatenate([[0], part.list.len().cast(pl.Int64).to_numpy().cumsum()[:-1]])
            number = part.explode().str.extract(r"(\d+)").cast(pl.Int32).fill_null(WORDS + RELATIONS).to_numpy()
            found[start : start + BLOCK] = np.add.reduceat(self.words[number], ends, axis=0)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        Drawn.seconds += time.process_time() - started
        return found

    def tell_split(self, *_: object) -> None:
        """None is too long."""


def corpus(folder: Path, passages: int) -> None:
    """A file of passages, and the tables that other stages would have left: triples, questions and their triples."""
    rng, count = np.random.default_rng(SEED), passages * TRIPLES
    entities = count // PER_ENTITY
    first, last = rng.integers(WORDS, size=(2, entities))
    drawn = np.minimum(rng.zipf(ZIPF, size=(2, count)) - 1, rng.integers(entities, size=(2, count)))  # no tail beyond
    subject = np.repeat(drawn[0, :: TRIPLES * PER_ARTICLE], TRIPLES * PER_ARTICLE)[:count]
    head = np.where(rng.random(count) < 0.7, subject, drawn[0])
    names = pl.select(pl.format("W{} W{}", pl.Series(first), pl.Series(last))).to_series()
    spelt = rng.random((2, count)) < ALIASES
    relation = pl.select(pl.format("r{}", pl.Series(WORDS + rng.integers(RELATIONS, size=count)))).to_series()

    def form(entity: NDArray, other: NDArray) -> pl.Series:
        whole = pl.DataFrame({"name": names[entity], "other": other & (entity % 10 == 0)})
        mark = pl.when("other").then(pl.lit(" Group")).otherwise(pl.lit(""))
        return whole.select(pl.col("name") + mark).to_series()

    place = np.arange(count) // TRIPLES
    frame = pl.DataFrame(
        {
            "passage_id": pl.select(pl.format("p{}", pl.Series(place))).to_series(),
            "doc_id": pl.select(pl.format("d{}", pl.Series(place // PER_ARTICLE))).to_series(),
            "position": (place % PER_ARTICLE).astype(np.int32),
            "n": (np.arange(count) % TRIPLES).astype(np.int32),
            "head": form(head, spelt[0]),
            "relation": relation,
            "tail": form(drawn[1], spelt[1]),
        }
    )
    text = pl.concat_str("head", "relation", "tail", separator=" ")
    own = frame.group_by("passage_id", "doc_id", "position", maintain_order=True).agg(text.str.join(". ").alias("text"))
    own.select("text", id="passage_id", doc="doc_id").write_ndjson(folder / FILE)
    originals = [pl.col(c).alias(f"{c}_original") for c in ("head", "relation", "tail")]
    write(folder, "triples", frame.with_columns(*originals, resolved=pl.lit(False)))
    asked = frame.gather_every(max(1, count // QUESTIONS)).head(QUESTIONS).with_row_index("q")
    asked = asked.with_columns(doc_id=pl.format("q{}", "q"), passage_id=pl.format("q{}", "q"), position=0, n=0)
    write(folder, "triples", asked.drop("q").with_columns(*originals, resolved=pl.lit(False)), "asked")
    questions = asked.select(
        question_id="doc_id", group_id=pl.lit("all"), cluster_id="doc_id", position="q", text=text, split=pl.lit("test")
    )
    write(folder, "questions", questions.with_columns(answer=pl.lit(None, pl.String), type=pl.lit(None, pl.String)))


def write(folder: Path, table: str, frame: pl.DataFrame, name: str | None = None) -> None:
    """A table as a stage would write it."""
    schema = TABLES[table].empty().schema
    write_table(TABLES[table], frame.select(list(schema)).cast(dict(schema)), folder / f"{name or table}.parquet")


def settings() -> SimpleNamespace:
    """The default options."""
    groups = {"embedder": "minilm", "codebook": "default", "consolidation": "default", "order": "aware"}
    groups |= {"retriever": "default"}
    options = {group: compose.option(CONF, group, name) for group, name in groups.items()}
    return SimpleNamespace(corpus=SimpleNamespace(format="folder", shuffle=None, documents=None), **options)


def stage(name: str, folder: Path) -> None:
    """Run one stage; print its CPU seconds, peak bytes and metrics."""
    build_codebook.Embedder = rank_by_graph.Embedder = Drawn
    module, reads, writes = STAGES[name]
    paths = {table: [newest(folder, table)] for table in reads}
    if "asked" in paths:
        paths["triples"] = paths.pop("asked")
    (folder / name).mkdir(exist_ok=True)
    made = Outputs({table: folder / name / f"{table}.parquet" for table in writes})
    ctx, started = Context(logging.getLogger("bench"), folder, {}, "bench"), time.process_time()
    metrics = module.run(settings(), Inputs(paths), made, ctx)
    made.commit()
    seconds = time.process_time() - started - Drawn.seconds
    status = Path("/proc/self/status").read_text()  # getrusage would count what the parent held before exec
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024
    print(json.dumps({"seconds": seconds, "peak": peak} | metrics | ctx.counts))


def newest(folder: Path, table: str) -> Path:
    """The table as the last stage that writes it left it; or the file of passages."""
    if table == "files":
        return folder / FILE
    found = [folder / name / f"{table}.parquet" for name in reversed(STAGES)] + [folder / f"{table}.parquet"]
    return next(path for path in found if path.exists())


def measured(passages: int) -> dict[str, dict[str, float]]:
    """What each stage took."""
    found = {}
    RESULTS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=RESULTS) as folder:
        subprocess.run([sys.executable, __file__, "--corpus", folder, str(passages)], check=True)
        for name in STAGES:
            command = [sys.executable, __file__, "--stage", name, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found[name] = json.loads(done.stdout.splitlines()[-1])
            found[name]["bytes"] = sum(path.stat().st_size for path in (Path(folder) / name).iterdir())
            print(passages, name, found[name], flush=True)
    return found


def growth(sizes: list[int], values: list[float]) -> float:
    """Slope of log value over log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def main() -> None:
    """By size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=PASSAGES)
    parser.add_argument("--corpus", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.corpus:
        corpus(Path(asked.corpus[0]), int(asked.corpus[1]))
        return
    if asked.stage:
        stage(asked.stage[0], Path(asked.stage[1]))
        return
    sizes = sorted(asked.passages)
    runs, figures = [measured(size) for size in sizes], []
    for name in STAGES:
        last = runs[-1][name]
        for key, unit in (("seconds", "CPU seconds"), ("peak", "bytes at most"), ("bytes", "bytes written")):
            figures.append(Figure(f"{name} of {sizes[-1]:,} passages", last[key], unit, None, None, None, None))
            if len(sizes) > 1:
                slope = growth(sizes, [run[name][key] for run in runs])
                figures.append(Figure(f"{name}: {unit}", slope, "growth exponent", None, None, GROWTH, "<="))
    publish("scale", figures)


if __name__ == "__main__":
    main()
