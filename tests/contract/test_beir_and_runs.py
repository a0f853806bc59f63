"""BEIR folders and TREC runs as people have them: read as they are meant, or refused; nothing is dropped without a count."""

import gzip
import importlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.loaded import conform, lines
from tests.support.ranked import ranked, ranking_context
from tests.support.refusals import message

from secateur.core.errors import SecateurError
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.evaluation.retrieval import by_hop, rank_metrics
from secateur.ranking import select
from secateur.ranking.group import Group, Questions, top, without_excluded

trec = importlib.import_module("secateur.ranking.scorers.import")


DOCUMENTS = [{"_id": "d1", "text": "Alder bought the mill."}, {"_id": "d2", "text": "Rowan runs it."}]
QUERIES = [{"_id": "q1", "text": "Who bought the mill?"}]


@pytest.fixture
def beir(tmp_path):
    """Writes a folder and reads it: (corpus, questions)."""

    def read(documents=DOCUMENTS, queries=QUERIES, qrels="q1\td1\t1\n", **settings):
        (tmp_path / "qrels").mkdir(exist_ok=True)
        (tmp_path / "corpus.jsonl").write_text(lines(documents), encoding="utf-8")
        (tmp_path / "queries.jsonl").write_text(lines(queries), encoding="utf-8")
        (tmp_path / "qrels/test.tsv").write_text(qrels, encoding="utf-8", newline="")
        corpus = load_corpus("beir", {"folder": tmp_path})
        files = {"folder": tmp_path, "folder2": tmp_path / "qrels/test.tsv"}
        questions = load_questions({"kind": "beir"} | settings, "mine", files, corpus.passages)
        conform(corpus.passages, questions)
        return corpus, questions

    return read


@pytest.mark.parametrize(
    "qrels",
    [
        "q1\td1\t1.0\n", "q1\td1\t1.\n", "q1 0 d1 1\n", "q1\t0\td1\t1\n", "q1\tQ0\td1\t1.0\r\n", "q1 d1 1\n",
        "\ufeffqid\tpid\trelevance\r\nq1\td1\t1\r\n", "query-id corpus-id score\nq1 d1 1\n", " q1\td1 \t 1 \n",
        "q1\td1\t1\nq1\td1\t1\n",
    ],
)  # fmt: skip
def test_judgements_in_the_forms_that_they_come_in_are_read_and_others_refused(beir, qrels):
    _, questions = beir(qrels=qrels)
    assert questions.evidence.select("question_id", "passage_id", "grade").rows() == [("q1", "d1", 1)]
    for other in ("q1\td1\t0.5\n", "q1\td1\thigh\n", "q1\td1\n", "q1 0 d1 x 1\n", "id\tname\n"):
        with pytest.raises(SecateurError, match=r"line 1: .* is not three columns"):
            beir(qrels=other)


@pytest.mark.parametrize(
    ("name", "judged"),
    [(7, "7"), ("a b/c (d)", "a b/c (d)"), (" d", " d"), (" d", "d"), ("d", " d"), ("Café", "Cafe\u0301")]
    + [(f"a{odd}b", f"a{odd}b") for odd in "\u2028\u2029\x85\x0b\x0c\x1c\x1e\u3000\u00a0"],
)
def test_ids_meet_whatever_they_hold(beir, name, judged):
    corpus, questions = beir([{"_id": name, "text": "A."}], [{"_id": name, "text": "Who?"}], f"{judged}\t{judged}\t2\n")
    assert questions.evidence.select("question_id", "passage_id").rows() == [(str(name), str(name))]
    assert corpus.passages["passage_id"].to_list() == [str(name)]


def test_an_id_that_could_be_two_is_neither(beir):
    documents = [{"_id": "d", "text": "A."}, {"_id": " d", "text": "B."}]
    assert beir(documents, qrels="q1\t d\t1\n")[1].evidence["passage_id"].to_list() == [" d"]
    assert beir(documents, qrels="q1\td  \t1\n")[1].counts["evidence_unresolved"] == 1
    assert beir(qrels="q1\td1\t1\nq9\td1\t1\n")[1].counts["judged_queries_unknown"] == 1


UNREAD = [
    '{"url": "x", "url": "y"}',
    '{"score": NaN}',
    "-Infinity",
    '"\\ud83d"',
    '{"\\ud83d": 1}',
    '["\\ud83d"]',
    f'{{"tweet": {"9" * 30}}}',
]


@pytest.mark.parametrize("unread", UNREAD)
def test_what_stands_under_a_key_that_nobody_reads_is_judged_by_nobody(beir, unread):
    text = f'{{"_id": "d1", "text": "A.", "metadata": {unread}}}'
    assert beir([text])[0].passages["text"].to_list() == ["A."]
    for read in (unread, '3, "text": "B."'):
        with pytest.raises(SecateurError, match="line 1: text must be a text, found"):
            beir([f'{{"_id": "d1", "text": {read}}}'.replace('"\\ud83d": 1', '"a": 1')])


def test_equal_documents_are_one_and_counted_and_others_of_one_id_refused(beir):
    corpus, questions = beir([*DOCUMENTS, DOCUMENTS[0] | {"metadata": {"n": 1}}, DOCUMENTS[0]], QUERIES * 2)
    assert corpus.passages.height == corpus.counts["documents_repeated"] == 2
    assert questions.counts["queries_repeated"] == 1
    with pytest.raises(SecateurError, match="line 3: _id 'd1' is already used in line 1"):
        beir([*DOCUMENTS, DOCUMENTS[0] | {"title": "Mill"}])


def test_a_document_with_the_id_of_its_query_is_left_out_unless_it_is_judged(beir):
    same = [{"_id": "d1", "text": "Alder bought the mill."}, {"_id": "d2", "text": "Who runs it?"}]
    _, questions = beir(queries=same, qrels="d1\td2\t1\nd2\td2\t1\nd2\td1\t1\n")
    assert questions.questions.select("question_id", "excluded").rows() == [("d1", "d1"), ("d2", None)]
    assert questions.counts["identical_documents_left_out"] == 1
    _, kept = beir(queries=same, qrels="d1\td2\t1\n", ignore_identical_ids=False)
    assert kept.questions["excluded"].to_list() == [None]
    assert kept.counts["identical_documents_left_out"] == 0


ASKED = pl.DataFrame({"question_id": ["q1", "q2", "q3"], "excluded": ["b", None, "elsewhere"]})


def test_the_excluded_passage_is_in_no_ranking_and_those_behind_it_move_up():
    scores = without_excluded(np.array([[1, 9, 3]] * 3), ASKED, ["a", "b", "c"])
    assert scores.tolist() == [[1.0, float("-inf"), 3.0], [1, 9, 3], [1, 9, 3]]
    rows = [(q, "bm25", n, p, None, -n, False) for q in ("q1", "q2") for n, p in enumerate("bac")]
    columns = ["question_id", "scorer", "rank", "passage_id", "edge_id", "value", "answer_aware"]
    left = select.without_excluded(pl.DataFrame(rows, columns, orient="row"), ASKED)
    expected = [("q1", 0, "a"), ("q1", 1, "c"), ("q2", 0, "b"), ("q2", 1, "a"), ("q2", 2, "c")]
    assert left.select(columns[:1] + columns[2:4]).rows() == expected


def test_every_ranking_of_arguments_finds_the_counterargument_first(beir, tmp_path):
    topics = ("homework", "zoos", "cars", "exams")
    sides = {"a": "{0} do harm, say those who fear {0}.", "b": "{0} do good, say others of {0} today."}
    documents = [{"_id": f"{t}-{side}", "text": text.format(t)} for t in topics for side, text in sides.items()]
    queries = [document for document in documents if document["_id"].endswith("a")]
    corpus, questions = beir(documents, queries, "".join(f"{t}-a\t{t}-b\t1\n" for t in topics))
    scorers = {name: {"kind": name} for name in ("tfidf", "random")}
    rankings = ranked(ranking_context(tmp_path), scorers, corpus.passages, questions.questions)
    assert not rankings.filter(pl.col("question_id") == pl.col("passage_id")).height
    doc_ids = corpus.passages.select("passage_id", "doc_id")
    _, gold = next(by_hop(questions.evidence, doc_ids))
    joined = rankings.filter(scorer="tfidf").join(doc_ids, on="passage_id")
    assert rank_metrics(joined, gold)["value"].to_list() == [1.0] * 12


@pytest.mark.parametrize(
    ("line", "passage"),
    [
        ("q1\tQ0\tFree Guy (film):0\t1\t9.5\tmy run", "Free Guy (film):0"),
        ("\ufeffq1\tQ0\td1\t1\t9.5\tx\r", "d1"),
        ("q1  Q0 d1   1 9.5 x ", "d1"),
        ("q1\tQ0\ta\u2028b\u00a0c\t1\t9.5\tx", "a\u2028b\u00a0c"),
        ("q1 Q0 a\u2028b 1 9.5 x", "a\u2028b"),
        ("q1\tQ0\t周敏 与 茶厂:3\t1\t9.5\tx", "周敏 与 茶厂:3"),
    ],
)
def test_a_line_of_a_run_with_tabs_is_split_at_tabs(tmp_path, line, passage):
    (tmp_path / "mine.run").write_text(line + "\n", encoding="utf-8", newline="")
    assert trec.read_run(tmp_path / "mine.run") == {"q1": {passage: (9.5, 1)}}


@pytest.mark.parametrize("line", ["q1 Q0 Free Guy:0 1 9.5 x", "q1\tQ0\tFree Guy\t1\t9.5", "q1 Q0 Free Guy\t1\t9.5\tx"])
def test_a_line_of_a_run_that_tabs_and_blanks_do_not_tell_is_refused(tmp_path, line):
    (tmp_path / "mine.run").write_text(line)
    with pytest.raises(SecateurError, match=r"line 1: . fields, a run has 6.*tabs between fields"):
        trec.read_run(tmp_path / "mine.run")


@pytest.fixture
def run_of(tmp_path):
    """Writes a run of (question, passage, rank, score) lines, and gives its path."""

    def write(*rows, ends="\n", blank=" "):
        lines = (blank.join(map(str, (q, "Q0", p, rank, score, "x"))) + ends for q, p, rank, score in rows)
        (tmp_path / "mine.run").write_text("".join(lines), encoding="utf-8", newline="")
        return tmp_path / "mine.run"

    return write


def order_of(path: Path, question: str = "q1", passages: str = "abcd") -> tuple[str, list[float]]:
    """Passages, best first, and the scores in reading order."""
    group = Group(passages, [""] * len(passages), np.zeros(len(passages), int), None, list(passages))
    (scores,) = trec.score(trec.Settings(str(path)), group, Questions(["?"], [question]), 0)
    places = [n for n in top(scores, 9) if np.isfinite(scores[n])]
    return "".join(passages[n] for n in places), scores.tolist()


AGREE = [("q1", "b", 1, 9), ("q1", "a", 2, 8), ("q1", "c", 3, 7)]
DISTANCES = [("q1", "b", 1, 0.1), ("q1", "a", 2, 0.4), ("q1", "c", 3, 0.9)]


@pytest.mark.parametrize("first", [0, 1, 7, -3])
@pytest.mark.parametrize("form", ["{}", "{}.0", "{}."])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_distances_are_refused_whatever_number_ranks_begin_at(run_of, first, form, ends):
    def rows(lines, question="q1"):
        return [(question, p, form.format(rank + first - 1), score) for _, p, rank, score in lines]

    assert order_of(run_of(*rows(AGREE), ends=ends))[0] == "bac"
    found = message(trec.read_run, run_of(*rows(AGREE), *rows(DISTANCES, "q2"), ends=ends))
    assert "ranks contradict scores in 1 of 2 questions; line 5: " in found
    assert "Fix: write scores that fall with rank" in found
    found = message(trec.read_run, run_of(*rows(DISTANCES), *rows(DISTANCES, "q2"), ends=ends))
    assert "in 2 of 2 questions; line 2" in found
    assert found.endswith("Fix: the scores look like distances; negate them")


def test_distances_are_refused_with_line_numbers_as_ranks_in_compressed_runs_and_between_tabs_too(run_of, tmp_path):
    numbered = [("q1", p, n, s) for n, (_, p, _, s) in enumerate(DISTANCES)]
    numbered += [("q2", p, 3 + n, s) for n, (_, p, _, s) in enumerate(DISTANCES)]
    assert "in 2 of 2 questions; line 2" in message(trec.read_run, run_of(*numbered))
    for blank in " \t":
        (tmp_path / "run.gz").write_bytes(gzip.compress(run_of(*DISTANCES, blank=blank).read_bytes()))
        assert "look like distances" in message(trec.read_run, tmp_path / "run.gz")


@pytest.mark.parametrize(
    ("ranks", "scores", "best"),
    [
        ((0, 0, 0), (1, 3, 2), "bca"),
        (("-", 1, 2), (1, 2, 3), "cba"),  # no number
        ((0.5, 1, 2), (1, 2, 3), "cba"),
        ((1, 1, 2), (5, 9, 3), "bac"),
        ((9, 3, 20), (5, 9, 3), "bac"),  # with gaps, in any order
    ],
)
def test_ranks_that_say_nothing_or_agree_leave_the_order_to_scores(run_of, ranks, scores, best):
    assert order_of(run_of(*zip(["q1"] * 3, "abc", ranks, scores, strict=True)))[0] == best


@pytest.mark.parametrize("score", [0, 1, 1e-9, 1e300, -1e300, -1.7976931348623157e308])
def test_equal_scores_stand_in_the_order_of_ranks_else_of_lines_and_none_is_left_out(run_of, score):
    ranked, scores = order_of(run_of(("q1", "a", 3, score), ("q1", "d", 1, score), ("q1", "b", 2, score)))
    assert set(ranked) == set("abd")
    assert scores == pytest.approx([score, score, -np.inf, score])
    listed = order_of(run_of(("q1", "d", 0, score), ("q1", "a", 0, score), ("q1", "b", 0, score)))[0]
    assert (ranked, listed) == ("dba", "dab") or score == -1.7976931348623157e308  # nothing is lower


def test_scores_that_differ_stay_as_they_are_and_equal_ones_stay_between_them(run_of):
    assert order_of(run_of(*AGREE))[1] == [8, 9, 7, -np.inf]
    below = repr(float(np.nextafter(5, 0)))
    path = run_of(("q1", "c", 1, 5), ("q1", "a", 3, 5), ("q1", "b", 2, 5), ("q1", "d", 4, below))
    ranked, scores = order_of(path)
    assert ranked == "cbad"
    assert scores[2] == 5
    assert sorted(scores, reverse=True) == sorted(set(scores), reverse=True)
