"""Questions to candidate runs (coarse, then fine), and to a ranking: of passages, or of the lines of the best runs."""

import numpy as np
import polars as pl

from secateur.contexts.channels import apply_action
from secateur.graph.retrieval.candidates import Book, GroupRuns, coarse_of, fine_of, question_symbols
from secateur.graph.retrieval.passages import best_over, smoothed, source_scores
from secateur.graph.retrieval.scores import top
from secateur.graph.walkable import NOBODY, Walkable
from secateur.models.embedder import Embedder
from secateur.pipeline import kinds
from secateur.pipeline.contract import main
from secateur.pipeline.layout import NONE
from secateur.pipeline.tables.catalog import TABLES

GRAPH = "graph"  # the scorer's name in its rankings
EPS = 1e-12


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


def _passages(cfg, scores: np.ndarray, ids: list[str], qids: list[str]) -> list[pl.DataFrame]:
    """The best passages of each question."""
    found = []
    for qid, row in zip(qids, scores, strict=True):
        order = top(row, cfg.passages)
        columns = {"passage_id": [ids[n] for n in order], "value": row[order]}
        whole = pl.lit(None, pl.Int32)
        found.append(pl.DataFrame(columns).with_row_index("rank").with_columns(question_id=pl.lit(qid), edge_id=whole))
    return found


def _walked(cfg, mentions: pl.DataFrame, own: pl.DataFrame, fields: list[str], docs, texts: list[str], scores):
    """The scores after the retriever's walk, and the place of the passage that each was reached from."""
    kind = kinds.load("walk", *kinds.named(cfg.walk))
    settings = kinds.settings("walk", cfg.walk, "conf/retriever", "walk")
    graph = Walkable.of(mentions, {p: n for n, p in enumerate(own["passage_id"])}, docs, fields, cfg)
    with kinds.calling("walk", kind):
        found, came = kind.walk(settings, graph, texts, scores)
        if found.shape != scores.shape or not np.isfinite(found).all():
            raise ValueError(f"scores of shape {found.shape} or not finite; {scores.shape} finite ones are needed")
    return found, came


def _paths(ranked: list[pl.DataFrame], came: np.ndarray, ids: list[str]) -> list[pl.DataFrame]:
    """The steps that led to ranked passages."""
    place, found = {p: n for n, p in enumerate(ids)}, []
    for one, row in zip(ranked, came, strict=True):
        via = row[[place[p] for p in one["passage_id"]]]
        named = [None if n == NOBODY else ids[n] for n in via]
        found.append(one.select("question_id", "passage_id", via=pl.Series(named, dtype=pl.String)).drop_nulls())
    return found


def _lines(cfg, candidates: pl.DataFrame, members: pl.DataFrame, vectors: np.ndarray) -> pl.DataFrame:
    """The lines of one question's best runs: runs by fine score, those that the action on the channel keeps, lines in run
    order, a repeated line once (paper 2.5)."""
    best = candidates.sort("rank")
    own = [members.filter(pl.col("run_id") == run).sort("n") for run in best["run_id"]]
    mean = np.stack([vectors[part["edge_id"].to_numpy()].sum(0) for part in own])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), EPS)
    kept = apply_action(cfg.facts, mean, cfg.theta)
    lines = [own[n].select("passage_id", "edge_id", value=pl.lit(best["fine"][n])) for n in kept]
    if not lines:
        return pl.DataFrame()
    question = pl.lit(best["question_id"][0])
    return (
        pl.concat(lines)
        .unique("edge_id", keep="first", maintain_order=True)
        .with_row_index("rank")
        .with_columns(question_id=question)
    )


def _table(ranked: list[pl.DataFrame]) -> pl.DataFrame:
    """All rankings as the table."""
    empty = TABLES["rankings"].empty()
    named = [one.with_columns(scorer=pl.lit(GRAPH), answer_aware=pl.lit(False)) for one in ranked if one.height]
    return pl.concat([empty, *(one.select(empty.columns).cast(dict(empty.schema)) for one in named)])


def run(cfg, inputs, outputs, ctx):
    embedder, retriever = Embedder(cfg.embedder, ctx.cache, ctx.log), cfg.retriever
    book = Book.of(inputs["entities"], inputs["relations"], inputs["edges"], inputs["lines"])
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    if retriever.w_dense and retriever.units != "runs":
        embedder.tell_split(passages["text"].to_list(), "passages", ctx)
    symbols = question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    weighted, candidates, ranked, paths = retriever.coarse == "idf_maxpair", [], [], [TABLES["paths"].empty()]
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
            if retriever.units == "runs":
                made = candidates[-len(qids) :]
                ranked += [_lines(retriever, one, mine, book.lines) for one in made if one.height]
        if retriever.units == "runs":
            continue
        signals = _signals(retriever, book, group, coarse, texts, own, embedder)
        sentences, titles = own["text"].to_list(), own["title"].fill_null("").to_list()
        scores = source_scores(retriever, sentences, titles, texts, signals)
        _, docs = np.unique(own["doc_id"].to_numpy(), return_inverse=True)
        scores = smoothed(scores, docs, cfg.order.neighbour)
        if retriever.walk == NONE:
            ranked += _passages(retriever, scores, ids, qids)
            continue
        fields = [f"{title} {text}" for title, text in zip(titles, sentences, strict=True)]
        scores, came = _walked(retriever, inputs["mentions"], own, fields, docs, texts, scores)
        made = _passages(retriever, scores, ids, qids)
        ranked, paths = [*ranked, *made], [*paths, *_paths(made, came, ids)]
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["rankings"], outputs["paths"] = _table(ranked), pl.concat(paths)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
