"""Questions to candidate runs (coarse, then fine) and to ranked source sentences."""

from types import SimpleNamespace

import numpy as np
import polars as pl

from secateur.baselines import bm25_matrix, z_scores
from secateur.codebook import edge_lines
from secateur.models.embedder import Embedder
from secateur.retrieve import Membership, coarse_scores, edge_scores, fine_scores, symbol_idf, top
from secateur.sources import best_over, smoothed, source_scores
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
    """The runs of one group's documents: memberships of symbols, of edges and of passages."""

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
        self.of_passage = np.unique(np.stack([local, place]), axis=1)  # (2, pairs): run, passage
        self.edge_of_passage = np.unique(np.stack([edge.astype(np.int64), place]), axis=1)

    def spans(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edges of the chosen runs one after the other, and where each run starts."""
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        return self.edges[np.repeat(self.starts[chosen], sizes) + within], starts

    def text(self, book: SimpleNamespace, run: int) -> str:
        """A run as its lines joined."""
        return " ; ".join(book.texts[self.edges[self.starts[run] : self.starts[run + 1]]])


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


def _coarse(cfg, book, group: _GroupRuns, symbols, texts: list[str], embedder: Embedder) -> np.ndarray:
    """(questions, runs) coarse scores; as a hybrid, z-scores with those of BM25 over the runs' texts."""
    r, found = cfg.retriever, np.zeros((len(symbols), len(group.ids)))
    for row, (entities, relations, _) in enumerate(symbols):
        query, weights = (embedder.embed(entities), embedder.embed(relations)), (r.w_ent, r.w_rel)
        if r.coarse == "ere":
            edges = edge_scores(*query, book.entities, book.relations, (book.h, book.r, book.t), weights)
            found[row] = np.maximum.reduceat(edges[group.edges], group.starts[:-1])
        else:
            found[row] = coarse_scores(*query, book.entities, book.relations, group.members, weights, group.idf)
    if r.w_text:
        lexical = bm25_matrix([group.text(book, n) for n in range(len(group.ids))], texts, r.k1, r.b)
        found = z_scores(found) + r.w_text * z_scores(lexical)
    return found


def _candidates(cfg, book, group: _GroupRuns, coarse: np.ndarray, ids, symbols, embedder) -> list[pl.DataFrame]:
    """The best runs of each question with every term of the fine stage."""
    chosen = [top(row, cfg.retriever.top_k) for row in coarse]
    if cfg.retriever.w_whole:  # embedded in one plan: a run is a candidate of many questions
        runs = np.unique(np.concatenate(chosen))
        joined = {int(n): group.text(book, n) for n in runs}
        embedder.embed([*joined.values(), *(" ; ".join(lines) for _, _, lines in symbols)])
    found = []
    for qid, (_, _, lines), row, runs in zip(ids, symbols, coarse, chosen, strict=True):

        def whole(lines=lines, runs=runs):
            return embedder.embed([joined[int(n)] for n in runs]) @ embedder.embed([" ; ".join(lines)])[0]

        edges, starts = group.spans(runs)
        terms = fine_scores(embedder.embed(lines), book.lines[edges], starts, cfg.retriever, whole)
        order = top(terms["fine"], cfg.retriever.top_m)
        columns = {"run_id": group.ids[runs[order]], "coarse": row[runs[order]]} | {
            k: v[order] for k, v in terms.items()
        }
        named = pl.DataFrame(columns).with_row_index("rank")
        found.append(named.with_columns(question_id=pl.lit(qid), channel=pl.lit("facts")))
    return found


def _signals(cfg, book, group: _GroupRuns | None, coarse, texts: list[str], own: pl.DataFrame, embedder: Embedder):
    """What ranks sentences besides BM25: their cosine, their best run's coarse score, their best line's cosine."""
    r, asked = cfg.retriever, embedder.embed(texts)
    found = {}
    if r.w_dense:
        found["dense"] = (asked @ embedder.embed(own["text"].to_list()).T).astype(float)
    if group and r.w_run:
        found["run"] = best_over(coarse, *group.of_passage, own.height)
    if group and r.w_line:
        edges, local = np.unique(group.edge_of_passage[0], return_inverse=True)
        found["line"] = best_over(asked @ book.lines[edges].T, local, group.edge_of_passage[1], own.height)
    return found


def _ranked(cfg, scores: np.ndarray, ids: list[str], asked: list[str]) -> list[pl.DataFrame]:
    """The best sentences of each question."""
    found = []
    for qid, row in zip(asked, scores, strict=True):
        order = top(row, cfg.retriever.sources)
        columns = {"passage_id": [ids[n] for n in order], "score": row[order]}
        found.append(pl.DataFrame(columns).with_row_index("rank").with_columns(question_id=pl.lit(qid)))
    return found


def run(cfg, inputs, outputs, ctx):
    embedder, book = Embedder(cfg.embedder, ctx.cache, ctx.log), _codebook(inputs)
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    symbols = _question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    weighted, candidates, ranked = cfg.retriever.coarse == "idf_maxpair", [], []
    groups = questions.sort("position").group_by("group_id", maintain_order=True)
    for (group_id,), asked in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        own = passages.filter(pl.col("group_id") == group_id).sort("doc_id", "position")
        ids, texts, qids = own["passage_id"].to_list(), asked["text"].to_list(), asked["question_id"].to_list()
        mine = run_edges.filter(pl.col("passage_id").is_in(ids)).sort("run_id", "n")
        places, of_question = {p: n for n, p in enumerate(ids)}, [symbols[q] for q in qids]
        group = _GroupRuns(book, mine, places, weighted) if mine.height else None
        coarse = _coarse(cfg, book, group, of_question, texts, embedder) if group else None
        if group:
            candidates += _candidates(cfg, book, group, coarse, qids, of_question, embedder)
        signals, titles = _signals(cfg, book, group, coarse, texts, own, embedder), own["title"].fill_null("").to_list()
        _, docs = np.unique(own["doc_id"].to_numpy(), return_inverse=True)
        scores = source_scores(cfg.retriever, own["text"].to_list(), titles, texts, signals)
        ranked += _ranked(cfg, smoothed(scores, docs, cfg.track.neighbour), ids, qids)
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["ranked"] = pl.concat(ranked)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}
