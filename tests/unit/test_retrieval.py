"""Gold articles among the first of a ranking, on rankings that can be read by hand."""

import ir_measures
import numpy as np
import polars as pl
import pytest

from secateur.evaluation.retrieval import article_of_passages, by_hop, rank_metrics, recall_metrics
from secateur.report.sections.rankings import retrieval_parts

DOCUMENTS = pl.DataFrame({"passage_id": ["a:0", "a:1", "b:0", "c:0", "d:0"], "doc_id": ["a", "a", "b", "c", "d"]})
EVIDENCE = pl.DataFrame(
    {
        "question_id": ["q", "q", "q", "r"],
        "n": [0, 1, 2, 0],
        "passage_id": ["a:1", "c:0", "a:0", "d:0"],
        "hop": ["named", "bridge", "bridge", None],
        "grade": [1, None, 3, 2],
    },
    schema_overrides={"grade": pl.Int32},
)


def rankings(**orders: list[str]) -> pl.DataFrame:
    rows = [
        {"question_id": q, "scorer": "s", "answer_aware": False, "rank": n, "passage_id": p}
        for q, own in orders.items()
        for n, p in enumerate(own)
    ]
    return pl.DataFrame(rows).join(DOCUMENTS, on="passage_id")


def figures(ranking: pl.DataFrame, gold: pl.DataFrame, *cutoffs: int) -> dict[tuple[str, str], float]:
    return {
        (q, m): v
        for q, m, v in recall_metrics(ranking, gold, cutoffs).select("question_id", "metric", "value").iter_rows()
    }


def test_an_article_stands_where_its_best_passage_stands():
    _, gold = next(iter(by_hop(EVIDENCE, DOCUMENTS)))
    found = figures(rankings(q=["b:0", "a:0", "a:1", "c:0"], r=["a:0"]), gold, 2, 3)
    assert found["q", "passage_recall@2"] == 0.5
    assert found["q", "all_gold@2"] == 0
    assert found["q", "passage_recall@3"] == found["q", "all_gold@3"] == 1  # two passages of a are one article
    assert found["r", "passage_recall@3"] == 0  # what was not kept is not found


def test_a_question_to_which_a_ranking_names_nothing_is_one_of_which_it_found_nothing():
    _, gold = next(iter(by_hop(EVIDENCE, DOCUMENTS)))
    assert figures(rankings(q=["a:0", "c:0"]), gold, 2)["r", "passage_recall@2"] == 0
    well = {
        (q, m): v
        for q, m, v in rank_metrics(rankings(q=["a:0"]), gold).select("question_id", "metric", "value").iter_rows()
    }
    assert (well["q", "reciprocal_rank"], well["r", "reciprocal_rank"], well["r", "ndcg@10"]) == (1, 0, 0)
    aware = rankings(q=["a:0", "c:0"]).with_columns(answer_aware=True)  # r has no answer to see
    assert ("r", "passage_recall@2") not in figures(aware, gold, 2)


def test_in_a_group_of_one_document_each_passage_is_an_article():
    """Any ranking would find the only document."""
    rows = [("n:0", "notes", "g"), ("n:1", "notes", "g"), ("a:0", "a", "h"), ("a:1", "a", "h"), ("b:0", "b", "h")]
    found = article_of_passages(pl.DataFrame(rows, ["passage_id", "doc_id", "group_id"], orient="row"))
    assert found["doc_id"].to_list() == ["n:0", "n:1", "a", "a", "b"]


def test_an_article_is_found_at_the_hop_of_its_first_evidence():
    hops = {hop: set(gold.select("question_id", "doc_id").iter_rows()) for hop, gold in by_hop(EVIDENCE, DOCUMENTS)}
    assert hops == {None: {("q", "a"), ("q", "c"), ("r", "d")}, "bridge": {("q", "c")}, "named": {("q", "a")}}


def test_an_article_has_the_grade_of_its_best_passage_and_1_where_none_is_given():
    _, gold = next(iter(by_hop(EVIDENCE, DOCUMENTS)))
    assert set(gold.iter_rows()) == {("q", "a", 3), ("q", "c", 1), ("r", "d", 2)}


def test_evidence_without_hops_has_figures_of_all_of_it_alone():
    plain = EVIDENCE.with_columns(hop=pl.lit(None, pl.String))
    assert [hop for hop, _ in by_hop(plain, DOCUMENTS)] == [None]


def test_the_report_has_a_column_for_each_cutoff_and_hop():
    rows = [
        {"metric": m, "subset": s, "value": v, "low": v, "high": v, "n": 3, "units": 3}
        for m, s, v in [
            ("passage_recall@5", "all", 0.5),
            ("passage_recall@2", "all", 0.25),
            ("all_gold@5", "all", 0.0),
            ("passage_recall@5", "bridge", 0.125),
            ("evidence_recall@64", "all", 1.0),
        ]
    ]
    about = {"name": "beam", "system": "beam", "scorer": None, "order": "blind", "split": "all"}
    about |= {"published": False, "answer_aware": False}
    own = pl.DataFrame([row | about for row in rows], schema_overrides={"scorer": pl.String})
    (part,) = retrieval_parts("musique", own, "blind")
    assert part["table"].heads == [
        "system", "passage_recall@2", "passage_recall@5", "all_gold@5", "bridge: passage_recall@5",
    ]  # fmt: skip
    assert part["table"].texts()[0] == ["beam", "0.250", "0.500", "0.000", "0.125"]
    assert retrieval_parts("musique", own, "aware") == []


def test_rank_measures_are_those_that_everybody_computes():
    rows = [("q", "s", False, rank, doc) for rank, doc in enumerate(["x", "a", "a", "y", "b"])]
    columns = ["question_id", "scorer", "answer_aware", "rank", "doc_id"]
    gold = pl.DataFrame({"question_id": ["q", "q", "unnamed"], "doc_id": ["a", "b", "a"], "grade": [1, 1, 1]})
    found = rank_metrics(pl.DataFrame(rows, columns, orient="row"), gold)
    value = dict(found.filter(pl.col("question_id") == "q").select("metric", "value").iter_rows())
    assert value["reciprocal_rank"] == 0.5  # articles: x, a, y, b
    assert value["average_precision"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    ideal = 1 + 1 / np.log2(3)
    assert value["ndcg@10"] == pytest.approx((1 / np.log2(3) + 1 / np.log2(5)) / ideal)
    assert found.filter(pl.col("question_id") == "unnamed")["value"].to_list() == [0, 0, 0]  # it names nothing there


def test_graded_gold_gains_what_ir_measures_says_and_a_hand_computes():
    rows = [("q", "s", False, rank, doc) for rank, doc in enumerate(["b", "x", "a", "c"])]
    rows += [("r", "s", False, rank, doc) for rank, doc in enumerate(["y", "d"])]
    columns = ["question_id", "scorer", "answer_aware", "rank", "doc_id"]
    grades = {"q": {"a": 3, "b": 1, "gone": 2}, "r": {"d": 2}}
    gold = pl.DataFrame(
        [(q, d, g) for q, own in grades.items() for d, g in own.items()],
        ["question_id", "doc_id", "grade"],
        orient="row",
    )
    found = rank_metrics(pl.DataFrame(rows, columns, orient="row"), gold)
    value = {(q, m): v for q, m, v in found.select("question_id", "metric", "value").iter_rows()}
    # b, of grade 1, is first, a, of grade 3, third; the best order is a, gone, b
    assert value["q", "ndcg@10"] == pytest.approx((1 + 3 / 2) / (3 + 2 / np.log2(3) + 1 / 2))
    assert value["r", "ndcg@10"] == pytest.approx(1 / np.log2(3))
    assert value["q", "reciprocal_rank"] == 1
    assert value["q", "average_precision"] == pytest.approx((1 + 2 / 3) / 3)
    qrels = [ir_measures.Qrel(q, d, g) for q, own in grades.items() for d, g in own.items()]
    run = [ir_measures.ScoredDoc(q, d, float(-rank)) for q, _, _, rank, d in rows]
    named = {ir_measures.nDCG @ 10: "ndcg@10", ir_measures.RR: "reciprocal_rank", ir_measures.AP: "average_precision"}
    told = {(one.query_id, named[one.measure]): one.value for one in ir_measures.iter_calc(list(named), qrels, run)}
    assert told == pytest.approx(value)
