"""Questions to candidate runs (coarse, then fine) and to ranked source sentences."""

import numpy as np
import polars as pl

from secateur.baselines import bm25_matrix, neighbour_smoothed, z_scores
from secateur.candidates import Book, GroupRuns, coarse_of, fine_of, question_symbols
from secateur.models.embedder import Embedder
from secateur.retrieve import top
from secateur.tables import TABLES


def _source_scores(cfg, passages: pl.DataFrame, texts: list[str], embedder: Embedder, best_run) -> np.ndarray:
    """(questions, passages) ranking score of source sentences."""
    r, total = cfg.retriever, np.zeros((len(texts), passages.height))
    if r.w_bm25:
        titled = [
            f"{title or ''} {text}" if r.title else text for title, text in passages.select("title", "text").iter_rows()
        ]
        total += r.w_bm25 * z_scores(bm25_matrix(titled, texts, r.k1, r.b))
    if r.w_dense:
        total += r.w_dense * z_scores(
            (embedder.embed(texts) @ embedder.embed(passages["text"].to_list()).T).astype(float)
        )
    if r.w_run:
        total += r.w_run * z_scores(best_run)
    if cfg.track.neighbour:
        _, docs = np.unique(passages["doc_id"].to_numpy(), return_inverse=True)
        total = neighbour_smoothed(total, docs, cfg.track.neighbour)
    return z_scores(total)


def run(cfg, inputs, outputs, ctx):
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    book = Book.of(inputs["entities"], inputs["relations"], inputs["edges"])
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    symbols = question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    weighted, candidates, sources = cfg.retriever.coarse == "idf_maxpair", [], []
    groups = questions.sort("position").group_by("group_id", maintain_order=True)
    for (group_id,), asked in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        own = passages.filter(pl.col("group_id") == group_id).sort("doc_id", "position")
        ids = own["passage_id"].to_list()
        places = {p: n for n, p in enumerate(ids)}
        mine = run_edges.filter(pl.col("passage_id").is_in(ids)).sort("run_id", "n")
        group = GroupRuns(book, mine, places, weighted) if mine.height else None
        best_run = np.zeros((asked.height, own.height))
        for row, qid in enumerate(asked["question_id"]):
            if group is None:
                continue
            coarse = coarse_of(cfg.retriever, book, group, symbols[qid], embedder)
            np.maximum.at(best_run[row], group.passages[0], coarse[group.passages[1]])
            chosen = top(coarse, cfg.retriever.top_k)
            terms = fine_of(cfg.retriever, book, group, chosen, symbols[qid], embedder)
            order = top(terms["fine"], cfg.retriever.top_m)
            candidates.append(
                pl.DataFrame(
                    {"run_id": group.ids[chosen[order]], "coarse": coarse[chosen[order]]}
                    | {k: v[order] for k, v in terms.items()}
                )
                .with_row_index("rank")
                .with_columns(question_id=pl.lit(qid), channel=pl.lit("facts"))
            )
        scores = _source_scores(cfg, own, asked["text"].to_list(), embedder, best_run)
        slope, intercept = cfg.retriever.calibration[ctx.axes["track"]]
        for row, qid in enumerate(asked["question_id"]):
            order = top(scores[row], cfg.retriever.sources)
            value = scores[row][order]
            sources.append(
                pl.DataFrame(
                    {
                        "passage_id": [ids[n] for n in order],
                        "score": value,
                        "p": 1 / (1 + np.exp(-(slope * value + intercept))),
                    }
                )
                .with_row_index("rank")
                .with_columns(question_id=pl.lit(qid))
            )
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["sources"] = pl.concat(sources)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}
