"""Questions to candidate runs (coarse, then fine) and to ranked source sentences."""

from types import SimpleNamespace

import numpy as np
import polars as pl

from secateur.baselines import bm25_matrix, neighbour_smoothed, z_scores
from secateur.codebook import edge_lines
from secateur.models.embedder import Embedder
from secateur.retrieve import Membership, coarse_scores, fine_scores, symbol_idf, top
from secateur.tables import TABLES


def _codebook(inputs) -> SimpleNamespace:
    """Codebook and runs as arrays; ids are places."""
    entities, relations, edges = (inputs[name] for name in ("entities", "relations", "edges"))
    vectors = {
        name: f["embedding"].to_numpy().astype(np.float32)
        for name, f in (("e", entities), ("r", relations), ("m", edges))
    }
    return SimpleNamespace(
        entities=vectors["e"],
        relations=vectors["r"],
        lines=vectors["m"],
        texts=np.array(edge_lines(edges, entities, relations)["line"].to_list(), dtype=object),
        h=edges["h"].to_numpy(),
        r=edges["r"].to_numpy(),
        t=edges["t"].to_numpy(),
    )


class _GroupRuns:
    """The runs of one group's documents: memberships of symbols and of edges."""

    def __init__(self, book: SimpleNamespace, run_edges: pl.DataFrame, places: dict[str, int], weighted: bool) -> None:
        ids, local = np.unique(run_edges["run_id"].to_numpy(), return_inverse=True)
        edge = run_edges["edge_id"].to_numpy()
        self.ids, self.edges = ids, edge
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(local, minlength=len(ids)))])
        both = np.concatenate([local, local]), np.concatenate([book.h[edge], book.t[edge]]).astype(np.int64)
        self.members = (Membership.of(*both, len(ids)), Membership.of(local, book.r[edge].astype(np.int64), len(ids)))
        sizes = (len(book.entities), len(book.relations))
        self.idf = (
            tuple(symbol_idf(m, n) for m, n in zip(self.members, sizes, strict=True)) if weighted else (None, None)
        )
        place = np.array([places[p] for p in run_edges["passage_id"].to_list()], np.int64)
        self.passages = np.unique(np.stack([place, local]), axis=1)  # (2, pairs): passage, run


def _question_symbols(
    triples: pl.DataFrame, questions: pl.DataFrame
) -> dict[str, tuple[list[str], list[str], list[str]]]:
    """Entities, relations and lines of each question; a question without triples is its own one line."""
    found = {qid: ([], [], [text]) for qid, text in questions.select("question_id", "text").iter_rows()}
    for (qid,), part in triples.sort("doc_id", "n").group_by("doc_id", maintain_order=True):
        entities = list(dict.fromkeys([*part["head"], *part["tail"]]))
        lines = [f"{h} {r} {t}" for h, r, t in part.select("head", "relation", "tail").iter_rows()]
        found[qid] = (entities, list(dict.fromkeys(part["relation"])), lines)
    return found


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


def _fine(cfg, book, group, chosen, symbols, embedder):
    """The fine terms of the chosen runs."""
    spans = [np.arange(group.starts[c], group.starts[c + 1]) for c in chosen]
    edges = group.edges[np.concatenate(spans)]
    starts = np.concatenate([[0], np.cumsum([len(s) for s in spans])])

    def whole():
        joined = [" ; ".join(book.texts[group.edges[s]]) for s in spans]
        return embedder.embed(joined) @ embedder.embed([" ; ".join(symbols[2])])[0]

    return fine_scores(embedder.embed(symbols[2]), book.lines[edges], starts, cfg.retriever, whole)


def run(cfg, inputs, outputs, ctx):
    embedder, book = Embedder(cfg.embedder, ctx.cache, ctx.log), _codebook(inputs)
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    symbols = _question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    weighted, candidates, sources = cfg.retriever.coarse == "idf_maxpair", [], []
    groups = questions.sort("position").group_by("group_id", maintain_order=True)
    for (group_id,), asked in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        own = passages.filter(pl.col("group_id") == group_id).sort("doc_id", "position")
        ids = own["passage_id"].to_list()
        places = {p: n for n, p in enumerate(ids)}
        mine = run_edges.filter(pl.col("passage_id").is_in(ids)).sort("run_id", "n")
        group = _GroupRuns(book, mine, places, weighted) if mine.height else None
        best_run = np.zeros((asked.height, own.height))
        for row, qid in enumerate(asked["question_id"]):
            if group is None:
                continue
            e, r, _ = (embedder.embed(part) for part in symbols[qid])
            weights = (cfg.retriever.w_ent, cfg.retriever.w_rel)
            coarse = coarse_scores(e, r, book.entities, book.relations, group.members, weights, group.idf)
            np.maximum.at(best_run[row], group.passages[0], coarse[group.passages[1]])
            chosen = top(coarse, cfg.retriever.top_k)
            terms = _fine(cfg, book, group, chosen, symbols[qid], embedder)
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
