"""Bad data is answered with one message that names the place, what was found, and what to do."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.support.project import ROOT
from tests.support.refusals import message

from secateur.datasets.fetch import fetch
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.registry import load_registry
from secateur.datasets.schema import passages_frame

GOOD = """\
bears.json:
  source: owner/repo@0000000000000000000000000000000000000000:bears.json
  url: null
  sha256: null
  bytes: null
  licence: MIT
"""
PASSAGE = {"id": "p1", "text": "Acme bought Bolt."}
QUESTION = {"id": "q1", "question": "Who?"}
WRONG = (True, ["a", None], [["a"]], {"text": "a"})  # answers


def registry(tmp_path, text: str) -> Path:
    (tmp_path / "bears.yaml").write_text(text)
    return tmp_path


def custom(tmp_path, passages, questions=(QUESTION,)) -> dict[str, Path]:
    """A folder of lines; a text is written as it is."""
    for name, values in (("passages", passages), ("questions", questions)):
        text = "".join((v if isinstance(v, str) else json.dumps(v)) + "\n" for v in values)
        (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    return {"folder": tmp_path}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("licence", "license"), "bears.json: unknown key 'license'; did you mean 'licence'?"),
        (GOOD.replace("  licence: MIT\n", ""), "licence is missing"),
        (GOOD.replace("bytes: null", "bytes: -3"), "bytes must be a positive number"),
        (GOOD.replace("sha256: null", "sha256: abc"), "sha256 must be 64 hex digits"),
        (GOOD.replace("url: null", "url: ftp://x"), "url must be an http(s) address or null, found 'ftp://x'"),
        (GOOD + GOOD, "'bears.json' stands here twice"),
        (GOOD + "  bytes: 3\n", "'bytes' stands here twice"),
        ("bears.json: [", "not valid YAML"),
        ("- bears.json", "expected a mapping"),
        ("bears.json: 3", "expected a mapping, found 3"),
    ],
)
def test_a_key_of_the_registry_that_is_wrong_is_named_with_its_file(tmp_path, text, said):
    found = message(load_registry, registry(tmp_path, text))
    assert said in found
    assert "bears.yaml" in found


def test_a_registry_without_files_or_with_one_name_in_two_is_refused(tmp_path):
    assert "no registry files" in message(load_registry, tmp_path)
    (tmp_path / "a.yaml").write_text(GOOD)
    found = message(load_registry, registry(tmp_path, GOOD))
    assert "bears.json is already registered in" in found
    assert "a.yaml" in found


def fetched(tmp_path, name: str, mirror: Path | None, registered: Path = ROOT / "data/registry") -> str:
    """What is said of a file that a mirror does not have as it is registered; nothing is left of it."""
    found = message(fetch, load_registry(registered)[name], tmp_path / "raw" / name, mirror)
    assert not list(tmp_path.glob("raw/*"))
    return found


def test_a_file_or_a_folder_that_is_not_in_the_mirror_is_named_with_the_other_question_sets(tmp_path):
    for mirror in (None, tmp_path):
        found = fetched(tmp_path, "stem_question_dev.json", mirror)
        for part in ("stem_question_dev.json", "MIRROR=DIR (SECATEUR_MIRROR)", "dataset stem_old)", "dataset stem)"):
            assert part in found
    found = fetched(tmp_path, "locomo10.json", tmp_path / "nowhere")
    assert f"mirror {tmp_path / 'nowhere'}: no such folder" in found
    assert "MIRROR=DIR" in found


@pytest.mark.parametrize(("size", "said"), [(2805274, "in 2805274 bytes,"), (10, "in 10 bytes (truncated)")])
def test_wrong_content_in_the_mirror_names_both_identities(tmp_path, size, said):
    (tmp_path / "locomo10.json").write_bytes(b"x" * size)
    found = fetched(tmp_path, "locomo10.json", tmp_path)
    for part in ("locomo10.json: wrong checksum", said, hashlib.sha256(b"x" * size).hexdigest(), "locomo.yaml"):
        assert part in found


def test_more_bytes_than_are_registered_are_not_read_to_their_end(tmp_path):
    with (tmp_path / "locomo10.json").open("wb") as endless:
        endless.truncate(1 << 33)  # eight gigabytes that take no room
    found = fetched(tmp_path, "locomo10.json", tmp_path)
    assert "holds more than the 2805274 bytes" in found
    assert "Fix: replace the mirror's copy" in found


@pytest.mark.parametrize("content", [b"not gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cut"])
def test_damaged_gzip_in_the_mirror_is_named(tmp_path, content):
    (tmp_path / "locomo10.json.gz").write_bytes(content)
    assert "locomo10.json.gz: not readable" in fetched(tmp_path, "locomo10.json", tmp_path)


def test_a_checksum_that_is_not_registered_is_told_with_the_place_to_enter_it(tmp_path):
    (tmp_path / "bears.json").write_bytes(b"[]")
    found = fetched(tmp_path, "bears.json", tmp_path, registry(tmp_path, GOOD))
    for part in (hashlib.sha256(b"[]").hexdigest(), "enter both in", "bears.yaml"):
        assert part in found


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([PASSAGE, '{"id": "p2", '], "line 2: malformed JSON: Expecting property name"),
        ([PASSAGE, "", "[1]"], "line 3: expected an object, found [1]"),
        ([PASSAGE | {"speker": "Ann"}], "line 1: unknown key 'speker'; did you mean 'speaker'?"),
        ([{"id": "p1"}], "line 1: text is missing"),
        ([PASSAGE, {"id": "p2", "text": " \t"}], "line 2: text must be a text that is not empty, found ' \\t'"),
        ([PASSAGE | {"text": 3}], "text must be a text that is not empty, found 3"),
        ([PASSAGE | {"date": 2020}], "date must be a text that is not empty, or null, found 2020"),
        ([PASSAGE, {"id": "p2", "text": "x"}, PASSAGE], "line 3: id 'p1' is already used in line 1"),
        ([PASSAGE | {"doc": "d"}, {"id": "p2", "text": "x", "doc": "d", "group": "g"}], "doc 'd' is in group 'g' here"),
        (['{"id": "p1", "text": "\\ud800"}'], "line 1: malformed JSON: half of a surrogate pair"),
        (["[" * 100_000], "line 1: malformed JSON: nested too deeply"),
        (['{"id": "p1", "text": "a", "text": "b"}'], "line 1: malformed JSON: the key 'text' stands twice"),
        (['{"id": "p1", "text": "a", "start": 123456789012345678901234567890}'], "has more than 64 bits"),
        (["", " "], "the file: is empty"),
        ([{"id": f"p{n}"} for n in range(25)], "25 problems; line 1: text is missing; "),
        ([{"id": f"p{n}"} for n in range(25)], "line 20: text is missing; and 5 more. Fix: "),
    ],
)
def test_a_line_of_passages_that_is_wrong_is_named_with_its_file(tmp_path, lines, said):
    found = message(load_corpus, "folder", custom(tmp_path, lines))
    assert found.startswith(str(tmp_path / "passages.jsonl"))
    assert said in found


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([QUESTION | {"question": ""}], "line 1: question must be a text that is not empty, found ''"),
        *(
            ([QUESTION | {"answer": a}], f"answer must be a text, a number, a list of these, or null, found {a}")
            for a in WRONG
        ),
        (['{"id": "q1", "question": "x", "answer": NaN}'], "line 1: malformed JSON: NaN is not JSON"),
        ([QUESTION | {"evidence": "p1"}], "evidence must be a list of texts, or null, found 'p1'"),
        ([QUESTION | {"evidence": [1]}], "evidence must be a list of texts, or null, found [1]"),
        ([QUESTION | {"split": "valid"}], "split must be train, dev, test or null, found 'valid'"),
        ([QUESTION | {"split": ["dev"]}], "split must be train, dev, test or null, found ['dev']"),
        ([QUESTION | {"evidense": []}], "unknown key 'evidense'; did you mean 'evidence'?"),
        ([QUESTION | {"group": "al"}], "line 1: group 'al' has no passages; did you mean 'all'?"),
        ([QUESTION, QUESTION], "line 2: id 'q1' is already used in line 1"),
        ([], "the file: is empty"),
    ],
)
def test_a_line_of_questions_that_is_wrong_is_named_with_its_file(tmp_path, lines, said):
    files = custom(tmp_path, [PASSAGE], lines)
    found = message(load_questions, "folder", "custom", files, load_corpus("folder", files).passages)
    assert found.startswith(str(tmp_path / "questions.jsonl"))
    assert said in found


def test_a_question_without_evidence_and_an_unknown_id_are_kept_and_counted(tmp_path):
    files = custom(tmp_path, [PASSAGE], [QUESTION, {"id": "q2", "question": "x", "evidence": ["p7"]}])
    found = load_questions("folder", "custom", files, load_corpus("folder", files).passages)
    assert found.questions.height == 2
    assert found.counts["questions_without_evidence"] == 2
    assert found.counts["evidence_unresolved"] == 1
    assert found.evidence.is_empty()


def test_a_missing_file_names_the_folder_what_it_holds_and_what_is_expected(tmp_path):
    (tmp_path / "passage.jsonl").write_text("")
    found = message(load_corpus, "folder", {"folder": tmp_path})
    assert f"{tmp_path}: no passages.jsonl or passages.jsonl.gz (it holds passage.jsonl)" in found
    assert "Fix: name a folder with passages.jsonl and questions.jsonl" in found
    assert "no such folder" in message(load_corpus, "folder", {"folder": tmp_path / "nowhere"})
    assert "'locom' is unknown; did you mean 'locomo'?" in message(load_corpus, "locom", {})


def test_a_file_that_is_not_utf8_not_gzip_or_both_plain_and_gzipped_is_refused(tmp_path):
    (tmp_path / "passages.jsonl").write_bytes(b'{"id": "\xff"}')
    assert "not UTF-8 at byte 8" in message(load_corpus, "folder", {"folder": tmp_path})
    (tmp_path / "passages.jsonl").rename(tmp_path / "passages.jsonl.gz")
    assert "passages.jsonl.gz: not readable" in message(load_corpus, "folder", {"folder": tmp_path})
    assert "remove one" in message(load_corpus, "folder", custom(tmp_path, [PASSAGE]))


def upstream(tmp_path, value) -> dict[str, Path]:
    path = tmp_path / "file.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return {"corpus": path, "questions": path, "conversations": path}


UPSTREAM_QUESTION = {"id": "a", "source": "TV", "question": "Who?", "answer": "x", "question_type": "t"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('[{"id": 1}\n{"id": 2}]', "malformed JSON: Expecting ',' delimiter: line 2"),
        ([], "expected a list of objects, found an empty list"),
        ([UPSTREAM_QUESTION | {"question": " "}], "object 0 (a): question is empty"),
        ([UPSTREAM_QUESTION, UPSTREAM_QUESTION], "object 1: id 'a' is already used by object 0"),
        ([UPSTREAM_QUESTION | {"source": 3}], "object 0: source must be a text, found 3"),
        ([{"id": "a"}], "object 0: source is missing"),
    ],
)
def test_an_upstream_question_that_is_wrong_is_named(tmp_path, value, said):
    found = message(load_questions, "graphrag_bench", "medical_v1", upstream(tmp_path, value), passages_frame([]))
    assert said in found
    assert "file.json" in found


TURN = {"dia_id": "D1:1", "speaker": "Ann"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "c1: has no session_1"),
        ({"session_1": [TURN]}, "c1 session_1 turn 0: text is missing"),
        ({"session_1": [TURN | {"text": " "}]}, "c1 session_1 turn 0: text is empty"),
        ({"session_1": [TURN | {"text": "Hi"}] * 2}, "turn 1: dia_id 'D1:1' is already used in c1 session_1 turn 0"),
        (3, "object 0: conversation must be an object, found 3"),
    ],
)
def test_a_turn_of_locomo_that_is_wrong_is_named(tmp_path, body, said):
    files = upstream(tmp_path, [{"sample_id": "c1", "conversation": body, "qa": []}])
    assert said in message(load_corpus, "locomo", files)


@pytest.mark.parametrize(
    ("titles", "said"),
    [
        ("- Boar\n- Moon", "article 1 begins 'Bear A bear sleeps.', not 'Boar'"),
        ("- Bear", "2 articles for 1 titles"),
        ("- Bear\n- Bear", "Bear listed twice"),
        ("Bear: 1", "expected a list of titles"),
    ],
)
def test_stem_titles_and_articles_belong_together(tmp_path, titles, said):
    (tmp_path / "titles.yaml").write_text(titles)
    text = "Bear A bear sleeps.\n\nMoon It rises."
    files = upstream(tmp_path, [{"corpus_name": "STEM", "context": text}]) | {"titles": tmp_path / "titles.yaml"}
    assert said in message(load_corpus, "stem", files)


def test_questions_about_another_corpus_are_refused(tmp_path):
    corpus = load_corpus("graphrag_bench", upstream(tmp_path, [{"corpus_name": "Medical", "context": "It heals."}]))
    files = upstream(tmp_path, [UPSTREAM_QUESTION])
    found = message(load_questions, "graphrag_bench", "medical_v1", files, corpus.passages)
    assert "1 questions (e.g. a) without passages" in found
    assert "no group TV, only Medical" in found


def test_empty_texts_and_data_sets_and_a_damaged_table_are_named(tmp_path):
    files = upstream(tmp_path, [{"corpus_name": "Medical", "context": " "}])
    assert "text 0: context of Medical is empty" in message(load_corpus, "graphrag_bench", files)
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    assert "not a readable Parquet file" in message(load_corpus, "graphrag_bench", {"corpus": tmp_path / "c.parquet"})
    files = upstream(tmp_path, [{"sample_id": "c1", "conversation": {"session_1": []}}])
    assert "file.json: no passages" in message(load_corpus, "locomo", files)
    files = upstream(tmp_path, [{"sample_id": "c1", "conversation": {"session_1": [TURN | {"text": "Hi"}]}}])
    passages = load_corpus("locomo", files).passages
    assert "file.json: no questions for locomo" in message(load_questions, "locomo", "locomo", files, passages)
