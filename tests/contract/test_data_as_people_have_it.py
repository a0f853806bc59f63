"""Files as people have them: read as they are meant, or refused; nothing is dropped without a count."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.loaded import conform, holders, lines
from tests.support.project import ROOT

from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.datasets.corpus_warnings import corpus_warnings
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.reading import read_text
from secateur.datasets.schema import Questions, evidence_frame, limit_questions, passages_frame, questions_frame
from secateur.evaluation.answers import answer_scores

CONF = ROOT / "conf"
PASSAGES = {"id": "id", "text": "text"}
ASKS = {"id": "id", "question": "q", "answer": "a", "evidence": "ev"}
MANY = 200  # rows, more than a reader of tables looks at to guess types


def table(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def folder(path: Path, question: dict) -> Questions:
    """What a folder of one passage and one question gives."""
    table(path / "passages.jsonl", lines([{"id": "p", "text": "A."}]))
    table(path / "questions.jsonl", lines([question]))
    return load_questions("folder", "mine", {"folder": path}, load_corpus("folder", {"folder": path}).passages)


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
    "cells", [["007", "7"], ["1.10", "1.1"], [*map(str, range(MANY)), "12a"], ["1e5", "100000"], ["NA", "null", "true"]]
)
def test_an_id_and_an_answer_of_a_csv_file_are_the_texts_that_stand_there(tmp_path, texts, cells):
    for ending in (".csv", ".csv.gz"):
        path = table(tmp_path / f"c{ending}", "id,text\n" + "".join(f"{cell},{cell}\n" for cell in cells))
        assert corpus(path).select("passage_id", "text").rows() == [(cell, cell) for cell in cells]
    rows = "".join(f"q{n},Is it?,{cell},7,1\n" for n, cell in enumerate(cells))
    found = asked(table(tmp_path / "q.csv", f"id,q,a,ev,grade\n{rows}"), texts, **ASKS, grades="grade")
    assert found.questions["answer"].to_list() == cells
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
    wrong = {'{"a": [\n1]}': "found dict", "[1]": "object 0: expected an object", '{"id": 1}\n{': "line 2"}
    for content, said in wrong.items():
        with pytest.raises(SecateurError, match=said):
            asked(table(tmp_path / "q.json", content), texts)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [("null", "None"), ("NaN", "NaN is not JSON"), ("1.5", "1.5"), ('{"a": 1}', "{'a': 1}"), ("[]", r"\[\]")],
)
def test_a_list_of_sentences_with_another_value_names_its_row(tmp_path, sentence, found):
    first, second = '{"id": "a", "text": [["One. ", "Two."]]}', f'{{"id": "b", "text": [["Three.", {sentence}]]}}'
    path = table(tmp_path / "c.jsonl", f"{first}\n{second}\n")
    said = rf"1 problem; c\.jsonl row 1: text must be a text.*found \['Three\.', {found}"
    with pytest.raises(SecateurError, match=said):
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
    expected = [("Mill", "Alder bought it.", "Ann"), ("Inn", "Rowan runs it.", None)]
    assert found.select("doc_id", "text", "speaker").rows() == expected
    with pytest.raises(SecateurError, match=r"column 'paragraphs' has no field 'text'.*paragraphs.paragraph_text"):
        corpus(path, text="paragraphs.text")


NUL = r"text holds NUL characters \(\\u0000\): save UTF-16 as UTF-8, or remove them"


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".csv"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_file_with_nul_characters_is_refused_with_the_first_line(tmp_path, suffix, ends):
    path = table(tmp_path / f"a{suffix}", f"id,text{ends}a,b\0c\0{ends}")
    with pytest.raises(SecateurError, match=r"2 NUL characters, the first in line 2\. Fix: save UTF-16 as UTF-8"):
        read_text(path)
    path.write_bytes("id,text\na,b\n".encode("utf-16-le"))
    said = "not readable" if suffix == ".txt.gz" else "12 NUL characters, the first in line 1"
    with pytest.raises(SecateurError, match=said):
        read_text(path)


def test_a_nul_in_a_text_of_json_names_its_line_and_one_under_an_unread_key_is_left(tmp_path, texts):
    (tmp_path / "passages.jsonl").write_text(lines([{"id": "p", "text": "A."}, {"id": "q", "text": "A\0B\0"}]))
    with pytest.raises(SecateurError, match=f"1 problem; line 2: {NUL}"):
        load_corpus("folder", {"folder": tmp_path})
    (tmp_path / "corpus.jsonl").write_text(lines([{"_id": "p", "text": "A \\u0000.", "metadata": "\0"}]))
    assert load_corpus("beir", {"folder": tmp_path}).passages["text"].to_list() == ["A \\u0000."]  # a backslash
    (tmp_path / "corpus.jsonl").write_text(lines([{"_id": "p", "text": "A\0."}]))
    with pytest.raises(SecateurError, match=f"line 1: {NUL}"):
        load_corpus("beir", {"folder": tmp_path})
    with pytest.raises(SecateurError, match=r"q\.json row 0: answer holds NUL characters"):
        asked(table(tmp_path / "q.json", json.dumps([{"id": "q", "q": "?", "a": ["x", "\0"], "ev": ["7"]}])), texts)
    pl.DataFrame({"id": ["a"], "text": ["A\0"]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(SecateurError, match=rf"c.parquet row 0: {NUL}"):
        corpus(tmp_path / "c.parquet")


def warned(dates=(None,), docs="d", groups=("all",), speakers=("Ann",), head="order") -> list[str]:
    """Warnings of passages p0, p1, ... with these dates; other columns are repeated."""
    count = max(map(len, (dates, docs, groups, speakers)))
    columns = {"date": dates, "doc_id": docs, "group_id": groups, "speaker": speakers}
    rows = [{name: values[n % len(values)] for name, values in columns.items()} for n in range(count)]
    rows = [{"passage_id": f"p{n}", "position": n, "text": "The mill and the inn."} | row for n, row in enumerate(rows)]
    return [text for name, text in corpus_warnings(passages_frame(rows)) if name == head]


@pytest.mark.parametrize(
    "dates",
    [
        ("2023-05-20", "2023-05-19"), ("2023-10-5", "2023-9-5"), ("2023-05-20 10:00", "2023-05-19"),
        ("2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:20"), ("2023-05-20T10:00:00.5Z", "2023-05-20T09:59Z"),
        ("14 March 2024", "13 Mar 2024"), ("March 14, 2024", "13 March 2024"), ("14 March 2024", "2024-03-13"),
        (" 2023-05-20", "last week", None, "2023-05-19 "),
    ],
)  # fmt: skip
def test_dates_that_go_backwards_in_a_conversation_are_told(dates):
    (text,) = warned(dates)
    assert text.startswith("dates go backwards in reading order in 1 conversations: 'p")
    assert f"'p{len(dates) - 1}' of {dates[-1]} is read after 'p0' of {dates[0]}" in text
    assert not warned(dates[::-1])
    assert not warned(dates, speakers=(None,))  # articles may tell of any time
    assert not warned(dates, docs="".join(map(str, range(len(dates)))))  # conversations of their own
    assert warned(dates, docs="".join(map(str, range(len(dates)))), groups=("g",))  # sessions of one


@pytest.mark.parametrize(
    "dates",
    [
        ("2023-05-20", "2023-05-20"), ("2023-05-20 10:00", "2023-05-20"), ("2023-13-20", "2022-01-01"),
        ("1990-91", "1980-81"), ("2023-05-20T02:30+02:00", "2023-05-20T02:10+01:00"),
        ("2023-05-20 11:30 PM", "2023-05-20 11:00 PM"), ("20.05.2023", "19.05.2023"), ("in May", "in April"),
        ("1:56 pm on 8 May, 2023", "1:56 pm on 7 May, 2023"),
    ],
)  # fmt: skip
def test_dates_that_are_equal_or_not_read_are_not_judged(dates):
    assert not warned(dates)


def test_conversations_with_backward_dates_are_counted_once_each():
    assert "in 2 conversations" in warned([f"2023-01-{day}" for day in (9, 8, 7, 9, 8, 9)], docs="aaabbc")[0]


@pytest.mark.parametrize(("lacking", "count", "told"), [(1, 10, True), (1, 9, False), (0, 10, False), (10, 10, False)])
def test_a_few_passages_without_a_speaker_are_told(lacking, count, told):
    found = warned(speakers=["Ann"] * (count - lacking) + [None] * lacking, head="speakers")
    assert len(found) == told
    said = f"{lacking} of {count} passages have no `speaker`, such as 'p{count - 1}'. Fix: "
    assert all(text.startswith(said) for text in found)


def test_an_answer_scores_the_best_of_all_gold_answers():
    scores = answer_scores("Stanley Hall", "G. Stanley Hall", ["Hall", "the Stanley Hall"])
    assert [scores[name] for name in ("token_f1", "exact_match", "typed_match")] == [1, 1, 1]
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
        *(({"answer": blank}, None, None) for blank in ([], "", " \t", ["", " "])),
        ({"answer": " ", "answer_aliases": ["", 7, "Paris"]}, "7", ["Paris"]),
        ({"answer": ["", "Paris"], "answer_aliases": [""]}, "Paris", None),
        ({"answer": 0, "answer_aliases": ["none"]}, "0", ["none"]),
        ({"answer": 0, "answer_aliases": None}, "0", None),
    ],
)
def test_all_gold_answers_of_a_question_are_kept(tmp_path, texts, given, answer, aliases):
    row = {"id": "q1", "question": "Who?"} | given
    path = table(tmp_path / "q.json", json.dumps([row]))
    for found in (folder(tmp_path, row), asked(path, texts, **{key: key for key in row})):
        assert found.questions.select("answer", "aliases").rows() == [(answer, aliases)]


HISTORY = {"question_id": "a1", "question_type": "multi-session", "question": "What do I row?"}
HISTORY |= {"answer": "a skiff", "question_date": "2023/05/30 (Tue) 23:40", "haystack_session_ids": ["s1"]}
HISTORY |= {"haystack_dates": ["2023/05/20 (Sat) 02:21"], "answer_session_ids": ["s1"]}


@pytest.mark.parametrize("mark", [None, False, 0, 0.0])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_mark_of_longmemeval_may_be_null_or_a_number(tmp_path, mark, suffix):
    marks = [("I row a skiff.", 1), ("I sing.", mark), ("I bake.", 1.0)]
    turns = [{"role": "user", "content": text, "has_answer": own} for text, own in marks]
    record = HISTORY | {"haystack_sessions": [turns]}
    content = lines([record]) if suffix == ".jsonl" else json.dumps([record])
    files = {"histories": table(tmp_path / f"x{suffix}", content)}
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


@pytest.mark.parametrize("count", [1, 3, 4, 7, 100])
def test_a_limit_takes_questions_of_every_group_in_turn(count):
    sizes = {"a": 20, "b": 20, "c": 1}
    groups = [(group, n) for group, size in sizes.items() for n in range(size)]
    rows = [{"question_id": f"{group}{n}", "group_id": group, "split": "test"} for group, n in groups]
    whole = Questions(questions_frame(rows), evidence_frame([]), {})
    found = [set(limit_questions(whole, split, count).questions["question_id"]) for split in ("test", "all")]
    assert found[0] == found[1]
    assert len(found[0]) == min(count, 41)
    per_group = sorted(sum(name.startswith(group) for name in found[0]) for group in sizes)
    assert per_group == {1: [0, 0, 1], 3: [1, 1, 1], 4: [1, 1, 2], 7: [1, 3, 3], 100: [1, 20, 20]}[count]
    larger = limit_questions(whole, "all", count + 1).questions["question_id"]
    assert found[0] <= set(larger)
    assert not limit_questions(whole, "dev", count).questions.height
    lacking = limit_questions(whole, "test", count).counts
    assert lacking["questions_without_answer"] == lacking["questions_without_evidence"] == min(count, 41)


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
