"""What the paper's lemmas claim, measured on one graph and a sample of its questions."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import polars as pl
from pyarrow.parquet import read_metadata

from secateur.core.tables.catalog import TABLES
from secateur.graph.lemmas import concentration, full_top, growth, growth_exponent, segment_all, touched, window_around
from secateur.graph.retrieval.candidates import Book, GroupRuns, coarse_of, question_symbols
from secateur.graph.runs import Fit
from secateur.models.embedder import Embedder
from secateur.ranking.group import top
from secateur.stage.contract import main

CORPUS = ("passages", "entities", "relations", "edges", "lines", "edge_sources", "run_edges", "aliases")
Row = tuple[str, float, float, int]  # measure, at, value, n


def _sizes(inputs) -> Iterator[Row]:
    """Bytes of the tables that a question is answered from."""
    for name in CORPUS:
        (path,) = inputs.paths(name)
        yield f"bytes_{name}", 1.0, float(path.stat().st_size), read_metadata(path).num_rows


def _mentions(graph: SimpleNamespace) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By kind of symbol: (symbol, place of its passage) of every mention, in text order."""
    edge, place = graph.sequence["edge_id"].to_numpy(), graph.places(graph.sequence)
    both = np.concatenate([graph.book.h[edge], graph.book.t[edge]]), np.concatenate([place, place])
    runs = graph.run_edges["run_id"].to_numpy(), graph.places(graph.run_edges)
    return {"entities": both, "relations": (graph.book.r[edge], place), "edges": (edge, place), "runs": runs}


def _symbols(cfg, graph: SimpleNamespace) -> Iterator[Row]:
    """Lemma 1, and how the codebook grows with the passages read."""
    count = graph.passages.height
    read = [int(np.ceil(share * count)) for share in cfg.eval.read_shares]
    for kind, (symbols, places) in _mentions(graph).items():
        symbols = symbols.astype(np.int64)
        if kind in ("entities", "relations"):
            counts = np.bincount(symbols)
            for share, value in zip(
                cfg.eval.symbol_shares, concentration(counts[counts > 0], cfg.eval.symbol_shares), strict=True
            ):
                yield f"cover_{kind}", share, value, len(symbols)
        counts = growth(symbols, places, read)
        for share, n, value in zip(cfg.eval.read_shares, read, counts, strict=True):
            yield f"growth_{kind}", share, float(value), n
        exponent = growth_exponent(read, counts)
        if exponent is not None:
            yield f"exponent_{kind}", 1.0, exponent, len(read)


def _sample(cfg, questions: pl.DataFrame, gold: dict[str, list[str]]) -> pl.DataFrame:
    """Some questions by seed, of those whose evidence resolves where there are any, in file order."""
    questions = questions.sort("position")
    known = questions.filter(pl.col("question_id").is_in(list(gold)))
    pool = known if known.height else questions
    chosen = np.random.default_rng(cfg.eval.seed).permutation(pool.height)[: cfg.eval.lemma_questions]
    return pool[np.sort(chosen)]


def _group_runs(cfg, graph: SimpleNamespace, group_id: str, run_edges: pl.DataFrame) -> GroupRuns | None:
    own = graph.passages.filter(pl.col("group_id") == group_id)["passage_id"].to_list()
    mine = run_edges.filter(pl.col("passage_id").is_in(own)).sort("run_id", "n")
    weighted = cfg.retriever.coarse == "idf_maxpair"
    return GroupRuns(graph.book, mine, {p: n for n, p in enumerate(own)}, weighted) if mine.height else None


def _coarse(cfg, graph: SimpleNamespace, group: GroupRuns, asked: pl.DataFrame, embedder: Embedder) -> np.ndarray:
    symbols = [graph.symbols[qid] for qid in asked["question_id"]]
    return coarse_of(cfg.retriever, graph.book, group, symbols, asked["text"].to_list(), embedder)


def _retrieval(cfg, graph: SimpleNamespace, embedder: Embedder, ctx) -> Iterator[Row]:
    """Lemma 5: edges touched of all. Lemma 7: what the shortlist keeps of the full fine ranking."""
    r, shares, bounds, kept = cfg.retriever, [], [], {k: [] for k in cfg.eval.shortlists}
    for (group_id,), asked in graph.asked.group_by("group_id", maintain_order=True):
        group = _group_runs(cfg, graph, group_id, graph.run_edges)
        if group is None:
            continue
        edges = len(np.unique(group.edges))
        scores = _coarse(cfg, graph, group, asked, embedder)
        for qid, coarse in ctx.progress(zip(asked["question_id"], scores, strict=True), asked.height, "questions"):
            seen, bound = touched(group, top(coarse, r.top_k))
            shares.append(seen / edges)
            bounds.append(min(bound / edges, 1.0))
            best = full_top(r, graph.book, group, graph.symbols[qid], embedder)
            for k, found in kept.items():
                found.append(np.isin(best, top(coarse, k)).mean())
    if shares:
        yield "touched", r.top_k, float(np.mean(shares)), len(shares)
        yield "touched_bound", r.top_k, float(np.mean(bounds)), len(bounds)
        yield from (("survived", k, float(np.mean(found)), len(found)) for k, found in kept.items())


def _thresholds(cfg, graph: SimpleNamespace, embedder: Embedder) -> Iterator[Row]:
    """Corollary 6: run length, candidate size and gold recall where tau is another."""
    by = ["doc_id", "position"] if cfg.order.runs == "sentence" else ["doc_id"]
    documents = np.flatnonzero(graph.sequence.select(pl.struct(by).rle_id().diff().fill_null(1)).to_series() > 0)
    edges = graph.sequence["edge_id"].to_numpy()
    for step in cfg.eval.tau_steps:
        tau = round(cfg.embedder.tau + step, 6)
        fit = Fit(tau, cfg.codebook.bonus_path, cfg.codebook.bonus_node)
        ids = segment_all(graph.book, edges, documents, fit)
        runs = graph.sequence.select("edge_id", "passage_id").with_columns(
            run_id=pl.Series(ids, dtype=pl.Int32), n=pl.int_range(len(ids), dtype=pl.Int32)
        )
        count = int(ids[-1]) + 1
        yield "tau_runs", tau, float(count), len(ids)
        yield "tau_length", tau, len(ids) / count, count
        yield from _reached(cfg, graph, embedder, runs, tau)


def _reached(cfg, graph: SimpleNamespace, embedder: Embedder, run_edges: pl.DataFrame, tau: float) -> Iterator[Row]:
    """Edges in the coarse top k of other runs, and the share of the gold passages that has an edge there."""
    sizes, recall = [], []
    for (group_id,), asked in graph.asked.group_by("group_id", maintain_order=True):
        group = _group_runs(cfg, graph, group_id, run_edges)
        if group is None:
            continue
        own = graph.passages.filter(pl.col("group_id") == group_id)["passage_id"].to_numpy()
        for qid, coarse in zip(asked["question_id"], _coarse(cfg, graph, group, asked, embedder), strict=True):
            chosen = top(coarse, cfg.retriever.top_k)
            sizes.append(touched(group, chosen)[0])
            passages = own[group.passages[1][np.isin(group.passages[0], chosen)]]
            if qid in graph.gold:
                recall.append(np.isin(graph.gold[qid], passages).mean())
    if sizes:
        yield "tau_edges", tau, float(np.mean(sizes)), len(sizes)
    if recall:
        yield "tau_recall", tau, float(np.mean(recall)), len(recall)


def _windows(graph: SimpleNamespace, width: int, rng: np.random.Generator) -> Iterator[tuple[str, str, str, str]]:
    """(question, gold sentence, its window, the sentence before random ones) for every gold sentence long enough."""
    texts = graph.passages["text"].to_list()
    place = {p: n for n, p in enumerate(graph.passages["passage_id"])}
    spans = {  # documents are stretches of the sorted passages
        doc: (first, count)
        for doc, first, count in graph.passages.with_row_index("place")
        .group_by("doc_id", maintain_order=True)
        .agg(pl.col("place").min(), count=pl.len())
        .iter_rows()
    }
    of = graph.passages["doc_id"].to_list()
    for qid, question in graph.asked.select("question_id", "text").iter_rows():
        for passage in graph.gold.get(qid, ()):
            here = place[passage]
            first, count = spans[of[here]]
            window = window_around(here - first, count, width)
            if window is not None:
                others = rng.integers(0, len(texts), width - 1)
                near = " ".join(texts[first + n] for n in window)
                yield question, texts[here], near, " ".join([texts[here], *(texts[n] for n in others)])


def _dilution(cfg, graph: SimpleNamespace, embedder: Embedder) -> Iterator[Row]:
    """Lemma 14, corollary 15: the cosine of a question with a gold sentence, and with longer texts that hold it."""
    for width in cfg.eval.windows:
        found = list(_windows(graph, width, np.random.default_rng(cfg.eval.seed)))
        if not found:
            continue
        question, *others = (embedder.embed(list(column)) for column in zip(*found, strict=True))
        for name, vectors in zip(("window_single", "window", "window_random"), others, strict=True):
            yield name, width, float((question * vectors).sum(1).mean()), len(found)
        yield "window_cut", width, embedder.split([near for _, _, near, _ in found]) / len(found), len(found)


def _graph(cfg, inputs) -> SimpleNamespace:
    """The tables as the measures need them. asked: the sampled questions; gold: question -> passages."""
    passages, questions = inputs["passages"].sort("doc_id", "position"), inputs["questions"]
    resolved = inputs["evidence"].drop_nulls("passage_id").unique(["question_id", "passage_id"], maintain_order=True)
    gold = dict(resolved.group_by("question_id", maintain_order=True).agg("passage_id").iter_rows())
    place = {p: n for n, p in enumerate(passages["passage_id"])}
    return SimpleNamespace(
        passages=passages,
        places=lambda frame: np.array([place[p] for p in frame["passage_id"]], np.int64),
        sequence=inputs["edge_sources"].sort("doc_id", "position", "n"),
        run_edges=inputs["run_edges"].sort("run_id", "n"),
        book=Book.of(inputs["entities"], inputs["relations"], inputs["edges"], inputs.vectors("lines")),
        asked=_sample(cfg, questions, gold),
        symbols=question_symbols(inputs["triples"], questions),
        gold=gold,
    )


def run(cfg, inputs, outputs, ctx):
    graph, embedder = _graph(cfg, inputs), Embedder(cfg.embedder, ctx.cache, ctx.log)
    rows = list(_sizes(inputs))
    if graph.sequence.height:
        rows += [*_symbols(cfg, graph), *_retrieval(cfg, graph, embedder, ctx), *_thresholds(cfg, graph, embedder)]
    rows += _dilution(cfg, graph, embedder)
    schema = TABLES["graph_measures"].empty().schema
    outputs["graph_measures"] = pl.DataFrame(rows, schema=schema, orient="row")
    return {"rows": len(rows), "questions": graph.asked.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
