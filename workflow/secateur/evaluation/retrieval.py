"""What a ranking has of the gold articles among its first: the figures of multi-hop retrieval.

An article (a document; a paragraph, where these are documents) stands where its best passage stands. passage_recall@k: share
of the gold articles among the first k; all_gold@k: whether all are. Of each hop too, where gold evidence says at which hop
it is found; an article is then found at the hop of its first evidence. A ranking is read to the end of what was kept.
"""

from collections.abc import Iterator, Sequence

import polars as pl

__all__ = ["asked", "by_hop", "ranked_well", "retrieved"]

MEASURES = {
    "RR": "reciprocal_rank",
    "nDCG@10": "ndcg@10",
    "AP": "average_precision",
}  # of ir_measures: what they are called


def retrieved(rankings: pl.DataFrame, gold: pl.DataFrame, cutoffs: Sequence[int]) -> pl.DataFrame:
    """question_id, scorer, answer_aware, metric, value. rankings: with doc_id; gold: question_id, doc_id, distinct."""
    first = rankings.group_by("question_id", "scorer", "answer_aware", "doc_id").agg(pl.col("rank").min())
    place = first.with_columns(place=pl.col("rank").rank("ordinal").over("question_id", "scorer").cast(pl.Int64))
    wanted = asked(rankings, gold).join(gold.select("question_id", "doc_id"), on="question_id")
    found = wanted.join(place.drop("rank", "answer_aware"), on=["question_id", "scorer", "doc_id"], how="left")
    rows = []
    for k in cutoffs:
        hit = (pl.col("place") <= k).fill_null(value=False)
        own = found.group_by("question_id", "scorer", "answer_aware").agg(
            passage_recall=hit.mean(), all_gold=hit.all().cast(pl.Float64)
        )
        long = own.unpivot(["passage_recall", "all_gold"], index=["question_id", "scorer", "answer_aware"])
        rows.append(long.rename({"variable": "metric"}).with_columns(metric=pl.col("metric") + f"@{k}"))
    return pl.concat(rows).sort("metric", "scorer", "question_id")


def asked(rankings: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """question_id, scorer, answer_aware: the questions that a ranking has to answer for.

    All with gold articles: for one to which it names nothing it found nothing. Where it sees the answer, those alone that
    it ranked: not every question has one.
    """
    questions, ranked = gold.select("question_id").unique(), rankings.select("question_id", "scorer", "answer_aware")
    free = ranked.filter(~pl.col("answer_aware")).select("scorer", "answer_aware").unique()
    return pl.concat([ranked, questions.join(free, how="cross").select(ranked.columns)]).unique()


def ranked_well(rankings: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """question_id, scorer, answer_aware, metric, value: reciprocal rank, nDCG@10 and average precision (ir_measures), a
    document counting where its best passage stands. rankings: with doc_id; gold: question_id, doc_id, grade, distinct: what
    a document gains nDCG."""
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    first = rankings.group_by("question_id", "scorer", "answer_aware", "doc_id").agg(pl.col("rank").min())
    answered_for, qrels = asked(rankings, gold), {}
    for question, document, grade in gold.select("question_id", "doc_id", "grade").iter_rows():
        qrels.setdefault(question, {})[document] = grade
    rows = []
    for (scorer, aware), own in first.sort("scorer", "question_id", "rank").group_by(
        "scorer", "answer_aware", maintain_order=True
    ):
        run: dict[str, dict[str, float]] = {}
        for question, document, rank in own.select("question_id", "doc_id", "rank").iter_rows():
            if question in qrels:
                run.setdefault(question, {})[document] = -float(rank)
        wanted = answered_for.filter((pl.col("scorer") == scorer) & (pl.col("answer_aware") == aware))["question_id"]
        judged = {question: qrels[question] for question in wanted if question in qrels}
        for one in ir_measures.iter_calc(measures, judged, run) if judged else ():
            rows.append((one.query_id, scorer, aware, MEASURES[str(one.measure)], float(one.value)))
    schema = {"question_id": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String}
    return pl.DataFrame(rows, schema | {"value": pl.Float64}, orient="row").sort("metric", "scorer", "question_id")


def by_hop(evidence: pl.DataFrame, documents: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """(hop, question_id, doc_id and grade of its gold articles): of all evidence first, under None, then of each hop.

    evidence: the table; documents: passage_id, doc_id. An article has the grade of its best passage.
    """
    best = pl.col("grade").fill_null(1).max().over("question_id", "doc_id")
    resolved = evidence.drop_nulls("passage_id").join(documents, on="passage_id").with_columns(best)
    found = resolved.sort("question_id", "n").unique(["question_id", "doc_id"], keep="first", maintain_order=True)
    articles = found.select("question_id", "doc_id", "grade", "hop")
    yield None, articles.drop("hop")
    for hop in articles["hop"].drop_nulls().unique().sort():
        yield hop, articles.filter(pl.col("hop") == hop).drop("hop")
