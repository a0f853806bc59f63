"""Questions to candidate runs (coarse, then fine) and to ranked source sentences."""

import numpy as np
import polars as pl

from secateur.graph.retrieval.candidates import Book, GroupRuns, coarse_of, fine_of, question_symbols
from secateur.graph.retrieval.passages import best_over, smoothed, source_scores
from secateur.graph.retrieval.scores import top
from secateur.models.embedder import Embedder
from secateur.pipeline.contract import main
from secateur.pipeline.tables.catalog import TABLES


def _candidates(cfg, book: Book, group: GroupRuns, coarse, qids, symbols, embedder) -> list[pl.DataFrame]:
    """The best runs of each question with every term of the fine stage."""
    chosen = [top(row, cfg.top_k) for row in coarse]
    if cfg.w_whole:  # embedded in one plan: a run is a candidate of many questions
        runs = np.unique(np.concatenate(chosen))
        embedder.embed([*group.texts(book, runs), *(" ; ".join(lines) for _, _, lines in symbols)])
    found = []
    for qid, own, row, runs in zip(qids, symbols, coarse, chosen, strict=True):
        terms = fine_of(cfg, book, group, runs, own, embedder)
        order = top(terms["fine"], cfg.top_m)
        columns = {"run_id": group.ids[runs[order]], "coarse": row[runs[order]]}
        named = pl.DataFrame(columns | {k: v[order] for k, v in terms.items()}).with_row_index("rank")
        found.append(named.with_columns(question_id=pl.lit(qid), channel=pl.lit("facts")))
    return found


def _signals(cfg, book: Book, group: GroupRuns | None, coarse, texts: list[str], own: pl.DataFrame, embedder: Embedder):
    """What ranks sentences besides BM25: their cosine, their best run's coarse score, their best line's cosine."""
    asked, found = embedder.embed(texts), {}
    if cfg.w_dense:
        found["dense"] = (asked @ embedder.embed(own["text"].to_list()).T).astype(float)
    if group and cfg.w_run:
        found["run"] = best_over(coarse, *group.passages, own.height)
    if group and cfg.w_line:
        edges, local = np.unique(group.edge_passages[0], return_inverse=True)
        found["line"] = best_over(asked @ book.lines[edges].T, local, group.edge_passages[1], own.height)
    return found


def _ranked(cfg, scores: np.ndarray, ids: list[str], qids: list[str]) -> list[pl.DataFrame]:
    """The best sentences of each question."""
    found = []
    for qid, row in zip(qids, scores, strict=True):
        order = top(row, cfg.sources)
        columns = {"passage_id": [ids[n] for n in order], "score": row[order]}
        found.append(pl.DataFrame(columns).with_row_index("rank").with_columns(question_id=pl.lit(qid)))
    return found


def run(cfg, inputs, outputs, ctx):
    embedder, retriever = Embedder(cfg.embedder, ctx.cache, ctx.log), cfg.retriever
    book = Book.of(inputs["entities"], inputs["relations"], inputs["edges"], inputs["lines"])
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    symbols = question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    weighted, candidates, ranked = retriever.coarse == "idf_maxpair", [], []
    groups = questions.sort("position").group_by("group_id", maintain_order=True)
    for (group_id,), asked in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        own = passages.filter(pl.col("group_id") == group_id).sort("doc_id", "position")
        ids, texts, qids = own["passage_id"].to_list(), asked["text"].to_list(), asked["question_id"].to_list()
        mine = run_edges.filter(pl.col("passage_id").is_in(ids)).sort("run_id", "n")
        group = GroupRuns(book, mine, {p: n for n, p in enumerate(ids)}, weighted) if mine.height else None
        coarse, of_question = None, [symbols[q] for q in qids]
        if group:
            coarse = coarse_of(retriever, book, group, of_question, texts, embedder)
            candidates += _candidates(retriever, book, group, coarse, qids, of_question, embedder)
        signals = _signals(retriever, book, group, coarse, texts, own, embedder)
        sentences, titles = own["text"].to_list(), own["title"].fill_null("").to_list()
        scores = source_scores(retriever, sentences, titles, texts, signals)
        _, docs = np.unique(own["doc_id"].to_numpy(), return_inverse=True)
        ranked += _ranked(retriever, smoothed(scores, docs, cfg.track.neighbour), ids, qids)
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["ranked"] = pl.concat(ranked)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
