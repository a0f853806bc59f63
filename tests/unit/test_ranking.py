"""Rankings of passages with their suffixes, by rankers without a language model on a small conversation."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.support.ranked import ranked as stage_ranked
from tests.support.ranked import ranking_context

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.graph.retrieval.ranking import GraphRanking, best_passages
from secateur.ranking import group
from secateur.ranking.group import neighbour_smoothed
from secateur.ranking.rank import expanded, group_of

TURNS = ["Bears eat salmon.", "I see.", "Bears eat salmon.", "Foxes eat mice.", "Nothing here."]
RECENCY, BM25 = {"kind": "recency"}, {"kind": "lucene", "k1": 1.2, "b": 0.75, "title": False}


def passages(group: str = "g1") -> pl.DataFrame:
    own = {"doc_id": group, "group_id": group}
    rows = [own | {"passage_id": f"{group}.{n}", "position": n, "text": text} for n, text in enumerate(TURNS)]
    return TABLES["passages"].frame(rows)


def test_a_graph_reads_a_passage_with_its_speaker_as_other_rankers_do():
    said = passages().with_columns(speaker=pl.Series(["Ann", None, "Ben", None, None]))
    option = SimpleNamespace(coarse="maxpair", title=False, k1=1.2, b=0.75)
    graph = GraphRanking(option, 0, said, None, TABLES["run_edges"].empty(), None, None)
    assert graph.texts == group_of(said, None).texts
    assert graph.words.scores(["Ben"]).argmax() == 2
    assert graph.first.tolist() == [0, 1, 2, 3, 4]  # the same words of two speakers are two texts


def questions(*rows) -> pl.DataFrame:
    names = ("question_id", "group_id", "position", "text", "answer", "type")
    return TABLES["questions"].frame([dict(zip(names, row, strict=True)) for row in rows])


ASKED = questions(
    ("q1", "g1", 0, "What do bears eat?", "salmon", "1"),
    ("q2", "g1", 1, "Who sings?", "foxes", "5"),
    ("q3", "g1", 2, "Who eats?", None, None),
)


@pytest.fixture
def context(tmp_path):
    return ranking_context(tmp_path)


@pytest.fixture
def warnings(context):
    """What it warns of."""
    told = []
    context.warn = told.append
    return told


def ranked(context, scorers, *, asked=ASKED, of=None, **given) -> pl.DataFrame:
    found = stage_ranked(context, scorers, passages() if of is None else of, asked, **given)
    check(TABLES["rankings"], found, "here", "none")
    return found


def order(found: pl.DataFrame, question: str, scorer: str) -> list[str]:
    own = found.filter((pl.col("question_id") == question) & (pl.col("scorer") == scorer)).sort("rank")
    assert own["rank"].to_list() == list(range(own.height))
    return own["passage_id"].to_list()


def test_each_suffix_makes_a_form_of_each_scorer_that_reads_the_question():
    forms = list(expanded({"bm25": BM25}, ("+neighbour", "+answer", "+neighbour+answer")))
    expected = [("bm25", False, False, False), ("bm25+neighbour", True, False, False)]
    expected += [("bm25+answer", False, True, True), ("bm25+neighbour+answer", True, True, True)]
    assert [(one.name, one.neighbour, one.answer, one.aware) for one in forms] == expected
    silent = {name: {"kind": name} for name in ("recency", "random", "gold", "nothing")}
    aware = {one.name: one.aware for one in expanded(silent, ("+answer", "+neighbour"))}
    assert aware == dict.fromkeys(silent, False) | {"gold": True}
    with pytest.raises(SecateurError, match=r"\+neighbor not known; allowed: \+neighbour, \+answer"):
        list(expanded({"bm25": BM25}, ("+neighbor",)))


def test_ties_go_to_the_earlier_passage_however_many_there_are_and_in_whatever_order_they_are_given(context):
    found = ranked(context, {"bm25": BM25})
    assert order(found, "q1", "bm25") == ["g1.0", "g1.2", "g1.3", "g1.1", "g1.4"]
    assert order(found, "q2", "bm25") == [f"g1.{n}" for n in range(5)]  # no passage holds a word of q2
    assert ranked(context, {"bm25": BM25}, of=passages().reverse()).equals(found)
    names = [f"g1.{n:02}" for n in range(60)]
    many = pl.concat([passages()] * 12).with_columns(position=pl.Series(range(60)), passage_id=pl.Series(names))
    found = order(ranked(context, {"bm25": BM25}, of=many), "q1", "bm25")
    assert found[:24] == [name for n, name in enumerate(names) if n % 5 in (0, 2)]
    assert order(ranked(context, {"recency": RECENCY}, keep=2), "q1", "recency") == ["g1.4", "g1.3"]


def test_neighbours_are_smoothed_inside_their_document(context):
    found = ranked(context, {"bm25": BM25}, suffixes=("+neighbour",)).filter(question_id="q1").sort("passage_id")
    plain, smoothed = (found.filter(scorer=name)["value"].to_numpy() for name in ("bm25", "bm25+neighbour"))
    expected = neighbour_smoothed(plain[None].astype(float), np.zeros(5, int), 0.8)[0]
    np.testing.assert_allclose(smoothed, expected, atol=1e-5)


def test_answer_forms_alone_read_the_answer_and_questions_without_one_to_show_have_none(context):
    found = ranked(context, {"bm25": BM25}, suffixes=("+answer",))
    assert order(found, "q2", "bm25")[0] == "g1.0"
    assert order(found, "q2", "bm25+answer")[0] == "g1.3"
    found = ranked(context, {"bm25": BM25}, suffixes=("+answer",), unanswerable=("5",))
    assert set(found.filter(pl.col("scorer") == "bm25+answer")["question_id"]) == {"q1"}
    assert set(found.filter(pl.col("scorer") == "bm25")["question_id"]) == {"q1", "q2", "q3"}
    alone = ranked(context, {"bm25": BM25}, suffixes=("+answer",), asked=ASKED.filter(pl.col("question_id") == "q3"))
    assert set(alone["scorer"]) == {"bm25"}


def test_groups_never_see_each_others_passages(context):
    both = pl.concat([passages("g1"), passages("g2")])
    asked = pl.concat([ASKED, questions(("q9", "g2", 3, "What do bears eat?", None, None))])
    found = ranked(context, {"bm25": BM25}, asked=asked, of=both)
    assert found.filter(question_id="q1").equals(ranked(context, {"bm25": BM25}).filter(question_id="q1"))
    assert order(found, "q9", "bm25")[:2] == ["g2.0", "g2.2"]


EVIDENCE = pl.DataFrame(
    {"question_id": ["q1", "q1", "q1", "q2"], "passage_id": ["g1.3", "g1.1", "g1.3", None]},
    schema={"question_id": pl.String, "passage_id": pl.String},
)


def test_gold_is_ranked_in_text_order_with_a_warning_for_questions_without_any(context, warnings):
    found = ranked(context, {"oracle": {"kind": "gold"}}, evidence=EVIDENCE)
    assert order(found, "q1", "oracle") == ["g1.1", "g1.3"]
    assert set(found["question_id"]) == {"q1"}
    assert found["answer_aware"].all()
    assert ["have no gold passage" in line for line in warnings] == [True]
    unresolved = EVIDENCE.with_columns(passage_id=pl.lit(None, pl.String))
    assert ranked(context, {"oracle": {"kind": "gold"}}, evidence=unresolved).height == 0


def test_a_run_is_ranked_as_it_states_and_what_it_leaves_open_or_lacks_is_told(context, warnings, tmp_path):
    (tmp_path / "mine.run").write_text("q1 Q0 g1.1 2 1 x\nq1 Q0 g1.3 1 1 x\nq1 Q0 g1.0 3 1 x\n")
    found = ranked(context, {"mine": {"kind": "import", "run": str(tmp_path / "mine.run")}, "bm25": BM25})
    assert order(found, "q1", "mine") == ["g1.3", "g1.1", "g1.0"]
    assert set(found.filter(scorer="mine")["question_id"]) == {"q1"}
    assert context.counts["questions_not_ranked_mine"] == 2
    one_score, lacking = warnings
    assert one_score.startswith("mine: in 1 of ") and "all passages have one score" in one_score
    assert lacking == "mine ranks nothing for 2 of 3 questions: they score 0"
    warnings.clear()
    (tmp_path / "none.run").write_text("q9 Q0 g1.1 1 9.5 x\n")
    specs = {"none": {"kind": "import", "run": str(tmp_path / "none.run")}, "closed": {"kind": "nothing"}}
    assert ranked(context, specs, is_limited=True).is_empty()
    assert warnings == ["none ranks nothing for 3 of 3 questions: they score 0"]


@pytest.mark.parametrize("cells", [1, 10])
def test_questions_are_ranked_alike_in_blocks_of_any_size(context, warnings, monkeypatch, cells):
    scorers = {"bm25": BM25, "gold": {"kind": "gold"}}
    evidence = pl.DataFrame({"question_id": ["q2"], "passage_id": ["g1.3"]})
    wanted = {"suffixes": ("+neighbour", "+answer"), "unanswerable": ("5",), "evidence": evidence}
    whole = ranked(context, scorers, **wanted).sort("question_id", "scorer", "rank")
    monkeypatch.setattr(group, "CELLS", cells)
    assert ranked(context, scorers, **wanted).sort("question_id", "scorer", "rank").equals(whole)


@pytest.mark.parametrize("suffix", ["", "+neighbour", "+answer"])
def test_the_passage_that_a_question_excludes_is_left_out_and_the_next_takes_its_place(context, suffix):
    asked = ASKED.with_columns(excluded=pl.Series(["g1.0", None, "g1.1"]))
    suffixes = (suffix,) if suffix else ()
    found = ranked(context, {"bm25": BM25}, suffixes=suffixes, asked=asked, keep=4)
    whole = ranked(context, {"bm25": BM25}, suffixes=suffixes)
    for question, left_out in (("q1", "g1.0"), ("q2", None), ("q3", "g1.1")):
        expected = [p for p in order(whole, question, f"bm25{suffix}") if p != left_out][:4]
        assert order(found, question, f"bm25{suffix}") == expected


def test_a_graph_leaves_out_what_scores_minus_infinity():
    ranking = SimpleNamespace(cfg=SimpleNamespace(passages=2), ids=["a", "b"])
    (frame,) = best_passages(ranking, np.array([[-np.inf, 1.0]]), ["q"])
    assert frame.select("rank", "passage_id", "value").rows() == [(0, "b", 1.0)]
