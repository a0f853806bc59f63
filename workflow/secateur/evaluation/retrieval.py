"""Metrics of multi-hop retrieval: which gold articles stand among the first k of a ranking.

- `passage_recall@k`: share of the gold articles among the first k;
- `all_gold@k`: whether all of them are.

An article is a document, or a paragraph if these are the documents; it stands where its best passage stands. In a group of a
single document each passage is an article, since any ranking would find the document (`article_of_passages`). If the evidence names
hops, the metrics are also of each hop; an article belongs to the hop of its first evidence. Rankings are read as far as they
were kept.
"""

from collections.abc import Iterator, Sequence

import polars as pl

__all__ = ["article_of_passages", "by_hop", "evaluated", "rank_metrics", "recall_metrics"]

MEASURES = {"RR": "reciprocal_rank", "nDCG@10": "ndcg@10", "AP": "average_precision"}  # by their name in ir_measures
ROW = ["question_id", "scorer", "answer_aware"]


def article_of_passages(passages: pl.DataFrame) -> pl.DataFrame:
    """(passage_id, doc_id) with the article of each passage as doc_id. passages: passage_id, doc_id, group_id."""
    single = pl.col("doc_id").n_unique().over("group_id") == 1
    return passages.select("passage_id", doc_id=pl.when(single).then("passage_id").otherwise("doc_id"))


def recall_metrics(rankings: pl.DataFrame, gold: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """(question_id, scorer, answer_aware, metric, value): passage_recall@k and all_gold@k at each cutoff k.

    rankings: with doc_id. gold: question_id, doc_id, unique.
    """
    first = rankings.group_by(*ROW, "doc_id").agg(pl.col("rank").min())
    place = first.with_columns(place=pl.col("rank").rank("ordinal").over("question_id", "scorer").cast(pl.Int64))
    articles = evaluated(rankings, gold).join(gold.select("question_id", "doc_id"), on="question_id")
    placed = articles.join(place.drop("rank", "answer_aware"), on=["question_id", "scorer", "doc_id"], how="left")
    tables = []
    for k in cutoffs:
        hit = (pl.col("place") <= k).fill_null(value=False)
        wide = placed.group_by(ROW).agg(passage_recall=hit.mean(), all_gold=hit.all().cast(pl.Float64))
        long = wide.unpivot(["passage_recall", "all_gold"], index=ROW, variable_name="metric")
        tables.append(long.with_columns(metric=pl.col("metric") + f"@{k}"))
    return pl.concat(tables).sort("metric", "scorer", "question_id")


def evaluated(rankings: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """(question_id, scorer, answer_aware): the questions on which each ranking is evaluated.

    All questions with gold articles; one without a ranking scores 0. For an answer-aware ranking, only the questions that it
    ranks, as not every question has an answer.
    """
    questions, ranked = gold.select("question_id").unique(), rankings.select(ROW)
    free = ranked.filter(~pl.col("answer_aware")).select("scorer", "answer_aware").unique()
    return pl.concat([ranked, questions.join(free, how="cross").select(ranked.columns)]).unique()


def rank_metrics(rankings: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """(question_id, scorer, answer_aware, metric, value): reciprocal rank, nDCG@10 and average precision (ir_measures).

    A document stands where its best passage stands. rankings: with doc_id. gold: question_id, doc_id, grade (gain in nDCG),
    unique.
    """
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    first = rankings.group_by(*ROW, "doc_id").agg(pl.col("rank").min())
    questions, qrels = evaluated(rankings, gold), {}
    for question, document, grade in gold.select("question_id", "doc_id", "grade").iter_rows():
        qrels.setdefault(question, {})[document] = grade
    rows = []
    by_scorer = first.sort("scorer", "question_id", "rank").group_by("scorer", "answer_aware", maintain_order=True)
    for (scorer, aware), ranking in by_scorer:
        run: dict[str, dict[str, float]] = {}
        for question, document, rank in ranking.select("question_id", "doc_id", "rank").iter_rows():
            if question in qrels:
                run.setdefault(question, {})[document] = -float(rank)
        ids = questions.filter((pl.col("scorer") == scorer) & (pl.col("answer_aware") == aware))["question_id"]
        judged = {question: qrels[question] for question in ids if question in qrels}
        for result in ir_measures.iter_calc(measures, judged, run) if judged else ():
            rows.append((result.query_id, scorer, aware, MEASURES[str(result.measure)], float(result.value)))
    schema = {"question_id": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String}
    return pl.DataFrame(rows, schema | {"value": pl.Float64}, orient="row").sort("metric", "scorer", "question_id")


def by_hop(evidence: pl.DataFrame, documents: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """Yield (hop, (question_id, doc_id, grade) of its gold articles): first of all evidence, as hop None, then of each hop.

    An article has the grade of its best passage. evidence: the table. documents: passage_id, doc_id.
    """
    best = pl.col("grade").fill_null(1).max().over("question_id", "doc_id")
    resolved = evidence.drop_nulls("passage_id").join(documents, on="passage_id").with_columns(best)
    first = resolved.sort("question_id", "n").unique(["question_id", "doc_id"], keep="first", maintain_order=True)
    articles = first.select("question_id", "doc_id", "grade", "hop")
    yield None, articles.drop("hop")
    for hop in articles["hop"].drop_nulls().unique().sort():
        yield hop, articles.filter(pl.col("hop") == hop).drop("hop")
