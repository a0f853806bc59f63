"""Gold articles among the first of a ranking, on rankings that can be read by hand."""

import ir_measures
import numpy as np
import polars as pl
import pytest
from tests.support.report_rows import metric

from secateur.evaluation.retrieval import article_of_passages, by_hop, rank_metrics, recall_metrics
from secateur.report.sections.rankings import retrieval_parts

DOCUMENTS = pl.DataFrame({"passage_id": ["a:0", "a:1", "b:0", "c:0", "d:0"], "doc_id": ["a", "a", "b", "c", "d"]})
HELD = [
    ("q", 0, "a:1", "named", 1),
    ("q", 1, "c:0", "bridge", None),
    ("q", 2, "a:0", "bridge", 3),
    ("r", 0, "d:0", None, 2),
]
EVIDENCE = pl.DataFrame(HELD, ["question_id", "n", "passage_id", "hop", "grade"], orient="row")
RANKED = ["question_id", "scorer", "answer_aware", "rank", "doc_id"]


def rankings(**orders: list[str]) -> pl.DataFrame:
    rows = [(q, "s", False, n, p) for q, own in orders.items() for n, p in enumerate(own)]
    return pl.DataFrame(rows, [*RANKED[:4], "passage_id"], orient="row").join(DOCUMENTS, on="passage_id")


GOLD = next(gold for _, gold in by_hop(EVIDENCE, DOCUMENTS))


def by_question(figures: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(q, name): value for q, name, value in figures.select("question_id", "metric", "value").iter_rows()}


def recalls(ranking: pl.DataFrame, *cutoffs: int) -> dict[tuple[str, str], float]:
    return by_question(recall_metrics(ranking, GOLD, cutoffs))


def test_an_article_stands_where_its_best_passage_stands():
    found = recalls(rankings(q=["b:0", "a:0", "a:1", "c:0"], r=["a:0"]), 2, 3)
    assert found["q", "passage_recall@2"] == 0.5
    assert found["q", "all_gold@2"] == 0
    assert found["q", "passage_recall@3"] == found["q", "all_gold@3"] == 1  # two passages of a are one article
    assert found["r", "passage_recall@3"] == 0  # what was not kept is not found


def test_a_question_to_which_a_ranking_names_nothing_is_one_of_which_it_found_nothing():
    assert recalls(rankings(q=["a:0", "c:0"]), 2)["r", "passage_recall@2"] == 0
    well = by_question(rank_metrics(rankings(q=["a:0"]), GOLD))
    assert (well["q", "reciprocal_rank"], well["r", "reciprocal_rank"], well["r", "ndcg@10"]) == (1, 0, 0)
    aware = rankings(q=["a:0", "c:0"]).with_columns(answer_aware=True)  # r has no answer to see
    assert ("r", "passage_recall@2") not in recalls(aware, 2)


def test_in_a_group_of_one_document_each_passage_is_an_article():
    """Any ranking would find the only document."""
    rows = [("n:0", "notes", "g"), ("n:1", "notes", "g"), ("a:0", "a", "h"), ("a:1", "a", "h"), ("b:0", "b", "h")]
    found = article_of_passages(pl.DataFrame(rows, ["passage_id", "doc_id", "group_id"], orient="row"))
    assert found["doc_id"].to_list() == ["n:0", "n:1", "a", "a", "b"]


def test_an_article_is_found_at_the_hop_of_its_first_evidence_and_has_its_best_grade_or_1():
    hops = {hop: set(gold.select("question_id", "doc_id").iter_rows()) for hop, gold in by_hop(EVIDENCE, DOCUMENTS)}
    assert hops == {None: {("q", "a"), ("q", "c"), ("r", "d")}, "bridge": {("q", "c")}, "named": {("q", "a")}}
    assert set(GOLD.iter_rows()) == {("q", "a", 3), ("q", "c", 1), ("r", "d", 2)}
    plain = EVIDENCE.with_columns(hop=pl.lit(None, pl.String))
    assert [hop for hop, _ in by_hop(plain, DOCUMENTS)] == [None]


def test_the_report_has_a_column_for_each_cutoff_and_hop():
    values = [("passage_recall@5", "all", 0.5), ("passage_recall@2", "all", 0.25), ("all_gold@5", "all", 0.0)]
    values += [("passage_recall@5", "bridge", 0.125), ("evidence_recall@64", "all", 1.0)]
    rows = [{"name": "beam"} | metric("beam", name, value, subset=subset) for name, subset, value in values]
    own = pl.DataFrame(rows, schema_overrides={"scorer": pl.String})
    (part,) = retrieval_parts("musique", own, "blind")
    heads = ["system", "passage_recall@2", "passage_recall@5", "all_gold@5", "bridge: passage_recall@5"]
    assert part["table"].heads == heads
    assert part["table"].texts()[0] == ["beam", "0.250", "0.500", "0.000", "0.125"]
    assert retrieval_parts("musique", own, "aware") == []


@pytest.mark.parametrize(
    ("grades", "by_hand"),
    [
        # b, of grade 1, is first, a, of grade 3, third; the best order is a, gone, b
        ({"a": 3, "b": 1, "gone": 2}, (1, (1 + 2 / 3) / 3, (1 + 3 / 2) / (3 + 2 / np.log2(3) + 1 / 2))),
        ({"x": 1, "c": 1}, (1 / 2, (1 / 2 + 2 / 4) / 2, (1 / np.log2(3) + 1 / np.log2(5)) / (1 + 1 / np.log2(3)))),
        ({"gone": 2}, (0, 0, 0)),
    ],
    ids=["graded", "of one grade", "not ranked"],
)
def test_gold_gains_what_ir_measures_says_and_a_hand_computes(grades, by_hand):
    names = ("reciprocal_rank", "average_precision", "ndcg@10")
    ranking = pl.DataFrame([("q", "s", False, n, d) for n, d in enumerate("bxaac")], RANKED, orient="row")
    gold = pl.DataFrame([("q", d, g) for d, g in grades.items()], ["question_id", "doc_id", "grade"], orient="row")
    found = by_question(rank_metrics(ranking, gold))
    assert [found["q", name] for name in names] == pytest.approx(by_hand)
    qrels = [ir_measures.Qrel("q", d, g) for d, g in grades.items()]
    run = [ir_measures.ScoredDoc("q", d, float(-n)) for n, d in enumerate("bxac")]  # each article once
    measures = [ir_measures.RR, ir_measures.AP, ir_measures.nDCG @ 10]
    told = ir_measures.calc_aggregate(measures, qrels, run)
    assert [told[one] for one in measures] == pytest.approx(by_hand)
