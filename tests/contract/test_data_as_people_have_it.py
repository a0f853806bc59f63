"""Files as people have them: read as they are meant, or refused; nothing is dropped without a count."""

import gzip
import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.support.loaded import conform, holders

from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.reading import parse_json
from secateur.datasets.schema import Questions, evidence_frame, limit_questions, questions_frame
from secateur.evaluation.answers import answer_scores
from secateur.evaluation.retrieval import by_hop, rank_metrics
from secateur.ranking import select
from secateur.ranking.group import without_excluded
from secateur.ranking.rank import rank

trec = importlib.import_module("secateur.ranking.scorers.import")
CONF = Path(__file__).parents[2] / "conf"


def lines(rows) -> str:
    """JSON lines; a row that is a text stands as it is."""
    return "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)


# --- BEIR ----------------------------------------------------------------------------------------

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
        "q1\td1\t1.0\n",
        "q1\td1\t1.\n",
        "q1 0 d1 1\n",
        "q1\t0\td1\t1\n",
        "q1\tQ0\td1\t1.0\r\n",
        "q1 d1 1\n",
        "\ufeffqid\tpid\trelevance\r\nq1\td1\t1\r\n",
        "query-id corpus-id score\nq1 d1 1\n",
        " q1\td1 \t 1 \n",
        "q1\td1\t1\nq1\td1\t1\n",
    ],
)
def test_judgements_in_the_forms_that_they_come_in(beir, qrels):
    _, questions = beir(qrels=qrels)
    assert questions.evidence.select("question_id", "passage_id", "grade").rows() == [("q1", "d1", 1)]


@pytest.mark.parametrize("qrels", ["q1\td1\t0.5\n", "q1\td1\thigh\n", "q1\td1\n", "q1 0 d1 x 1\n", "id\tname\n"])
def test_other_judgements_are_refused(beir, qrels):
    with pytest.raises(SecateurError, match=r"line 1: .* is not three columns"):
        beir(qrels=qrels)


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


@pytest.mark.parametrize(
    "unread",
    [
        '{"url": "x", "url": "y"}',
        '{"score": NaN}',
        "-Infinity",
        '{"tweet": 123456789012345678901234567890}',
        '"\\ud83d"',
        '{"\\ud83d": 1}',
    ],
)
def test_what_stands_under_a_key_that_nobody_reads_is_judged_by_nobody(beir, unread):
    text = f'{{"_id": "d1", "text": "A.", "metadata": {unread}}}'
    assert beir([text])[0].passages["text"].to_list() == ["A."]
    for read in (unread, '3, "text": "B."'):
        with pytest.raises(SecateurError, match="line 1: text must be a text, found"):
            beir([f'{{"_id": "d1", "text": {read}}}'.replace('"\\ud83d": 1', '"a": 1')])


def test_equal_documents_are_one_and_counted_and_others_of_one_id_refused(beir):
    corpus, questions = beir([*DOCUMENTS, DOCUMENTS[0] | {"metadata": {"n": 1}}, DOCUMENTS[0]], QUERIES * 2)
    assert (corpus.passages.height, corpus.counts["documents_repeated"], questions.counts["queries_repeated"]) == (
        2,
        2,
        1,
    )
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
    assert left.select(columns[:1] + columns[2:4]).rows() == [
        ("q1", 0, "a"),
        ("q1", 1, "c"),
        ("q2", 0, "b"),
        ("q2", 1, "a"),
        ("q2", 2, "c"),
    ]


def test_every_ranking_of_arguments_finds_the_counterargument_first(beir, tmp_path):
    topics = ("homework", "zoos", "cars", "exams")
    sides = {"a": "{0} do harm, say those who fear {0}.", "b": "{0} do good, say others of {0} today."}
    documents = [{"_id": f"{t}-{side}", "text": text.format(t)} for t in topics for side, text in sides.items()]
    queries = [document for document in documents if document["_id"].endswith("a")]
    corpus, questions = beir(documents, queries, "".join(f"{t}-a\t{t}-b\t1\n" for t in topics))
    cfg = SimpleNamespace(
        rankers=SimpleNamespace(
            scorers={name: {"kind": name} for name in ("tfidf", "random")}, suffixes=(), neighbour=0, keep=10
        ),
        embedder=option(CONF, "embedder", "minilm"),
        eval=SimpleNamespace(seed=7),
        dataset=SimpleNamespace(unanswerable=()),
    )
    ctx = SimpleNamespace(cache=tmp_path, log=None, counts={}, warn=None, progress=lambda rows, total, unit: rows)
    rankings = rank(cfg, corpus.passages, questions.questions, None, ctx)
    assert not rankings.filter(pl.col("question_id") == pl.col("passage_id")).height
    (_, gold), documents = (
        next(by_hop(questions.evidence, corpus.passages.select("passage_id", "doc_id"))),
        corpus.passages,
    )
    joined = rankings.join(documents.select("passage_id", "doc_id"), on="passage_id")
    assert rank_metrics(joined.filter(scorer="tfidf"), gold)["value"].to_list() == [1.0] * 12


# --- runs ------------------------------------------------------------------------------------------


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


# --- tables ----------------------------------------------------------------------------------------

PASSAGES = {"id": "id", "text": "text"}
ASKS = {"id": "id", "question": "q", "answer": "a", "evidence": "ev"}
MANY = 200  # rows, more than a reader of tables looks at to guess types


def table(path: Path, content: str) -> Path:
    (path.write_bytes if path.suffix == ".gz" else path.write_text)(
        gzip.compress(content.encode()) if path.suffix == ".gz" else content
    )
    return path


def corpus(path: Path, **columns) -> pl.DataFrame:
    return load_corpus({"kind": "hf", "columns": columns or PASSAGES}, {"table": path}).passages


def asked(path: Path, passages: pl.DataFrame, **columns) -> Questions:
    found = load_questions({"kind": "hf", "columns": columns or ASKS}, "mine", {"table": path}, passages)
    conform(passages, found)
    return found


@pytest.fixture
def texts(tmp_path) -> pl.DataFrame:
    return corpus(table(tmp_path / "texts.csv", "id,text\n007,Alder bought the mill.\n7,Rowan runs it.\n"))


@pytest.mark.parametrize(
    "names", [["007", "7"], ["1.10", "1.1"], [*map(str, range(MANY)), "12a"], ["1e5", "100000"], ["NA", "null", "true"]]
)
def test_an_id_of_a_csv_file_is_the_text_that_stands_there(tmp_path, names):
    for ending in (".csv", ".csv.gz"):
        path = table(tmp_path / f"c{ending}", "id,text\n" + "".join(f"{name},{name}\n" for name in names))
        assert corpus(path).select("passage_id", "text").rows() == [(name, name) for name in names]


@pytest.mark.parametrize(
    "answers", [["true", "false"], ["yes", "no"], ["1984", "0.50"], [*map(str, range(MANY)), "Rowan"]]
)
def test_an_answer_of_a_csv_file_is_the_text_that_stands_there(tmp_path, texts, answers):
    rows = "".join(f"q{n},Is it?,{answer},7,1\n" for n, answer in enumerate(answers))
    found = asked(table(tmp_path / "q.csv", f"id,q,a,ev,grade\n{rows}"), texts, **ASKS, grades="grade")
    assert found.questions["answer"].to_list() == answers
    assert set(found.evidence.select("passage_id", "grade").rows()) == {("7", 1)}


@pytest.mark.parametrize("first", [{"ev": None}, {"ev": []}, {}])
@pytest.mark.parametrize("name", ["q.jsonl", "q.json", "q.jsonl.gz"])
def test_json_lines_are_read_to_their_end_whatever_the_first_hold(tmp_path, texts, first, name):
    rows = [{"id": f"q{n}", "q": "Who?", "a": n} | first for n in range(MANY)]
    rows += [{"id": "x", "q": "Who?", "a": "Rowan", "ev": ["7"]}, {"id": "y", "q": "Is it?", "a": True, "ev": "007"}]
    found = asked(table(tmp_path / name, lines(rows)), texts)
    assert found.questions["answer"].to_list() == [*map(str, range(MANY)), "Rowan", "true"]
    assert (holders(found, "x"), holders(found, "y")) == (["7"], ["007"])


def test_a_list_of_objects_is_read_from_json_too(tmp_path, texts):
    rows = [{"id": 1, "q": "Who?", "a": 2.5, "ev": [7, 8]}]
    for content in (json.dumps(rows), json.dumps(rows, indent=1), "\n" + lines(rows) + "\r\n"):
        found = asked(table(tmp_path / "q.json", content), texts)
        assert found.questions.select("question_id", "answer").rows() == [("1", "2.5")]
        assert found.counts["evidence_unresolved"] == 1
    for content, said in (
        ('{"a": [\n1]}', "found dict"),
        ("[1]", "object 0: expected an object"),
        ('{"id": 1}\n{', "line 2"),
    ):
        with pytest.raises(SecateurError, match=said):
            asked(table(tmp_path / "q.json", content), texts)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [("null", "None"), ("NaN", "NaN is not JSON"), ("1.5", "1.5"), ('{"a": 1}', "{'a': 1}"), ("[]", r"\[\]")],
)
def test_a_list_of_sentences_with_another_value_names_its_row(tmp_path, sentence, found):
    path = table(
        tmp_path / "c.jsonl",
        f'{{"id": "a", "text": [["One. ", "Two."]]}}\n{{"id": "b", "text": [["Three.", {sentence}]]}}\n',
    )
    with pytest.raises(
        SecateurError, match=rf"1 problem; c\.jsonl row 1: text must be a text.*found \['Three\.', {found}"
    ):
        corpus(path)
    assert corpus(table(tmp_path / "c.jsonl", '{"id": "a", "text": [["One. ", 2]]}'))["text"].to_list() == ["One. 2"]


@pytest.mark.parametrize("split", [{"name": "train"}, [["train"]], "often"])
def test_a_split_of_another_form_names_its_row(tmp_path, texts, split):
    path = table(tmp_path / "q.jsonl", lines([{"id": "x", "q": "Who?", "a": "Rowan", "s": split}]))
    with pytest.raises(SecateurError, match=r"q\.jsonl row 0: split must be train, dev, test or null, found"):
        asked(path, texts, id="id", question="q", answer="a", split="s")


PARAGRAPHS = [
    {"title": "Mill", "paragraph_text": "Alder bought it.", "by": {"name": "Ann"}},
    {"title": "Inn", "paragraph_text": "Rowan runs it.", "by": None},
]


@pytest.mark.parametrize("ending", ["parquet", "json", "jsonl"])
def test_a_field_of_the_objects_of_a_list_is_named(tmp_path, ending):
    path, rows = tmp_path / f"dev.{ending}", [{"id": "m0", "paragraphs": []}, {"id": "m1", "paragraphs": PARAGRAPHS}]
    if ending == "parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    else:
        path.write_text(json.dumps(rows) if ending == "json" else lines(rows))
    found = corpus(path, text="paragraphs.paragraph_text", doc="paragraphs.title", speaker="paragraphs.by.name")
    assert found.select("doc_id", "text", "speaker").rows() == [
        ("Mill", "Alder bought it.", "Ann"),
        ("Inn", "Rowan runs it.", None),
    ]
    with pytest.raises(SecateurError, match=r"column 'paragraphs' has no field 'text'.*paragraphs.paragraph_text"):
        corpus(path, text="paragraphs.text")


# --- several answers -------------------------------------------------------------------------------


def test_an_answer_scores_the_best_of_all_gold_answers():
    scores = answer_scores("Stanley Hall", "G. Stanley Hall", ["Hall", "the Stanley Hall"])
    assert scores == {"rouge_l": 1, "token_f1": 1, "exact_match": 1} | {"rouge_l": scores["rouge_l"]}
    assert answer_scores("Norway", "NO", ["Norway"])["rouge_l"] == 1
    assert answer_scores("Norway", "NO") == answer_scores("Norway", "NO", []) == dict.fromkeys(scores, 0.0)
    assert answer_scores("Norway", "Norway", ["NO"])["exact_match"] == 1


@pytest.mark.parametrize(
    ("given", "answer", "aliases"),
    [
        ({"answer": ["Leeds", "in Leeds", "Leeds"]}, "Leeds", ["in Leeds"]),
        ({"answer": "NO", "answer_aliases": ["Norway", "NO", ""]}, "NO", ["Norway"]),
        ({"answer": [1968, "in 1968"]}, "1968", ["in 1968"]),
        ({"answer": None, "answer_aliases": ["Norway"]}, "Norway", None),
        ({"answer": []}, None, None),
        ({"answer": "", "answer_aliases": ["Paris"]}, "Paris", None),
        *(({"answer": blank}, None, None) for blank in ("", " \t", [""], ["", " "])),
        ({"answer": " ", "answer_aliases": ["", 7, "Paris"]}, "7", ["Paris"]),
        ({"answer": ["", "Paris"], "answer_aliases": [""]}, "Paris", None),
        ({"answer": 0, "answer_aliases": ["none"]}, "0", ["none"]),
        ({"answer": "", "answer_aliases": [""]}, None, None),
        ({"answer": 0, "answer_aliases": None}, "0", None),
    ],
)
def test_all_gold_answers_of_a_question_are_kept(tmp_path, texts, given, answer, aliases):
    row = {"id": "q1", "question": "Who?"} | given
    path = table(tmp_path / "q.json", json.dumps([row]))
    columns = {key: key for key in row}
    (tmp_path / "passages.jsonl").write_text(lines([{"id": "p", "text": "A."}]))
    (tmp_path / "questions.jsonl").write_text(lines([row]))
    files = {"folder": tmp_path}
    own = load_questions("folder", "mine", files, load_corpus("folder", files).passages)
    for found in (own, asked(path, texts, **columns)):
        assert found.questions.select("answer", "aliases").rows() == [(answer, aliases)]


@pytest.mark.parametrize("answer", [["a", None], [["a"]], {"text": "a"}, True])
def test_an_answer_of_another_form_is_told_that_it_may_be_a_list(tmp_path, answer):
    (tmp_path / "passages.jsonl").write_text(lines([{"id": "p", "text": "A."}]))
    (tmp_path / "questions.jsonl").write_text(lines([{"id": "q", "question": "Who?", "answer": answer}]))
    files = {"folder": tmp_path}
    with pytest.raises(SecateurError, match="answer must be a text, a number, a list of these, or null, found"):
        load_questions("folder", "mine", files, load_corpus("folder", files).passages)


# --- dialogues -------------------------------------------------------------------------------------

HISTORY = {
    "question_id": "a1",
    "question_type": "multi-session",
    "question": "What do I row?",
    "answer": "a skiff",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s1"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21"],
    "answer_session_ids": ["s1"],
}


@pytest.mark.parametrize("mark", [None, False, 0, 0.0])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_mark_of_longmemeval_may_be_null_or_a_number(tmp_path, mark, suffix):
    turns = [
        {"role": "user", "content": "I row a skiff.", "has_answer": mark if mark is False else True},
        {"role": "user", "content": "I sing.", "has_answer": mark},
        {"role": "user", "content": "I bake.", "has_answer": 1.0},
    ]
    turns[0]["has_answer"] = 1
    record = HISTORY | {"haystack_sessions": [turns]}
    files = {
        "histories": table(tmp_path / f"x{suffix}", lines([record]) if suffix == ".jsonl" else json.dumps([record]))
    }
    found = load_questions("longmemeval", "mine", files, load_corpus("longmemeval", files).passages)
    assert holders(found, "a1") == ["a1:0:0", "a1:0:2"]
    for wrong in ("yes", 2, []):
        turns[1]["has_answer"] = wrong
        table(files["histories"], lines([HISTORY | {"haystack_sessions": [turns]}]))
        with pytest.raises(SecateurError, match="turn 1: has_answer must be true or false"):
            load_corpus("longmemeval", files)


def test_evidence_of_locomo_may_be_one_text(tmp_path):
    turns = [{"speaker": "Ira", "dia_id": f"D1:{n}", "text": "I bake."} for n in (1, 2)]
    qa = [{"question": "Who?", "answer": "Ira", "evidence": e, "category": 4} for e in ("D1:1", "D1:1; D1:2", ["D1:2"])]
    record = {"sample_id": "c", "conversation": {"session_1": turns}, "qa": qa}
    files = {"conversations": table(tmp_path / "x.json", lines([record]))}
    found = load_questions("locomo", "locomo", files, load_corpus("locomo", files).passages)
    assert [holders(found, f"c:q{n}") for n in range(3)] == [["c:D1:1"], ["c:D1:1", "c:D1:2"], ["c:D1:2"]]


@pytest.mark.parametrize("twice", ['"session_1": [], "session_1": []', '"session_1_date_time": NaN, "session_1": []'])
def test_a_session_of_locomo_that_is_no_json_is_refused(tmp_path, twice):
    text = f'[{{"sample_id": "c", "qa": [], "note": NaN, "conversation": {{{twice}, "session_2": [], "event": NaN}}}}]'
    with pytest.raises(SecateurError, match=r"1 problem; c: session_1.*(twice|NaN)"):
        load_corpus("locomo", {"conversations": table(tmp_path / "x.json", text)})


# --- samples and options -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 4, 7, 100])
def test_a_limit_takes_questions_of_every_group_in_turn(count):
    sizes = {"a": 20, "b": 20, "c": 1}
    rows = [
        {"question_id": f"{group}{n}", "group_id": group, "split": "test"}
        for group, size in sizes.items()
        for n in range(size)
    ]
    whole = Questions(questions_frame(rows), evidence_frame([]), {})
    found = [set(limit_questions(whole, split, count).questions["question_id"]) for split in ("test", "all")]
    assert found[0] == found[1]
    assert len(found[0]) == min(count, 41)
    per_group = sorted(sum(name.startswith(group) for name in found[0]) for group in sizes)
    assert per_group == {1: [0, 0, 1], 3: [1, 1, 1], 4: [1, 1, 2], 7: [1, 3, 3], 100: [1, 20, 20]}[count]
    larger = limit_questions(whole, "all", count + 1).questions["question_id"]
    assert found[0] <= set(larger)
    assert not limit_questions(whole, "dev", count).questions.height


@pytest.mark.parametrize(
    ("overrides", "axes"),
    [
        (["experiment.axes={}"], {}),
        (["experiment.axes={order: [aware]}"], {"order": ("aware",)}),
        (["experiment.axes= {order: [aware]}", "experiment.axes={}"], {}),
        (["experiment.axes={}", "experiment.axes.order=[blind]"], {"order": ("blind",)}),
    ],
)
def test_a_mapping_of_the_command_line_replaces_that_of_the_file(overrides, axes):
    assert option(CONF, "experiment", "ablation").axes
    assert option(CONF, "experiment", "ablation", tuple(overrides)).axes == axes


def test_a_mapping_replaces_at_any_depth_and_a_key_of_it_joins():
    assert option(CONF, "dataset", "locomo", ("dataset.first={F3: 3}",)).first == {"F3": 3}
    assert option(CONF, "dataset", "locomo", ("dataset.first.F3=3",)).first == {"F20": 20, "F10": 10, "F5": 5, "F3": 3}
    found = option(CONF, "corpus", "2wikimultihopqa", ("corpus.format={kind: hotpotqa, titles: false}",))
    assert found.format == {"kind": "hotpotqa", "titles": False}


@pytest.mark.parametrize("text", ["NaN", '{"a": 1, "a": 1}', "123456789012345678901234567890", '"\\ud800"'])
def test_json_is_strict_where_nobody_asks_for_less(text):
    with pytest.raises(ValueError, match=r"not JSON|twice|64 bits|surrogate"):
        parse_json(text)
    assert parse_json(f"[{text}, 1]", lenient=True)[1] == 1
    with pytest.raises(ValueError, match=r"Expecting|Extra"):
        parse_json(text + "]", lenient=True)
