"""Rankings and contexts made elsewhere: what is wrong with them stands in one message, with line, finding and way out."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.refusals import message

from secateur.contexts.imported import imported_rows, read_contexts, reference_of
from secateur.contexts.table import OWN_LENGTH
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.planning.plan import variants

trec = importlib.import_module("secateur.ranking.scorers.import")
QUESTIONS = pl.DataFrame({"question_id": ["q1", "q2"], "group_id": ["g1", "g2"]})
PASSAGES = pl.DataFrame({"passage_id": ["p1", "p2", "p3"], "group_id": ["g1", "g1", "g2"]})
TEXTS = PASSAGES.with_columns(
    doc_id="group_id",
    position=pl.int_range(3),
    text=pl.Series(["Acme bought Bolt.", "Bolt makes nuts and bolts.", "Hello there, all of you."]),
    speaker=pl.Series([None, None, "Ann"]),
    date=pl.lit(None, pl.String),
    title=pl.lit("Firms"),
)
KNOWN = reference_of(QUESTIONS, TEXTS)
TWO = "Acme bought Bolt.\nBolt makes nuts and bolts."


def count(texts):
    return np.array([len(text.split()) for text in texts])


@pytest.fixture
def run_of(tmp_path):
    """A function that writes a run, and gives its settings."""

    def write(*lines: str):
        (tmp_path / "mine.run").write_text("\n".join(lines) + "\n")
        return trec.Settings(str(tmp_path / "mine.run"))

    return write


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 Q0 p1 1 2.5", "line 2: 5 fields, a run has 6"),
        ("q1 Q0 p1 1 high mine", "line 2: score 'high' is no number"),
        ("q1 Q0 p1 1 1_0 mine", "line 2: score '1_0' is no number"),
        ("q1 Q0 p1 1 nan mine", "line 2: score nan is not finite"),
        ("q1 Q0 p1 1 -inf mine", "line 2: score -inf is not finite"),
        ("q1 Q0 p2 1 2.5 mine", "line 2: passage 'p2' stands under question 'q1' in line 1 already"),
        ("q9 Q0 p1 1 2.5 mine", "line 2: unknown question 'q9'; did you mean 'q"),
        ("q1 Q0 p9 1 2.5 mine", "line 2: passage 'p9' does not resolve, for question 'q1'"),
        ("q1 Q0 p3 1 2.5 mine", "line 2: passage 'p3' is not in the group of question 'q1'"),
    ],
)
def test_a_line_of_a_run(run_of, line, said):
    settings = run_of("q1 Q0 p2 1 3 mine", line)
    found = message(trec.check, settings, QUESTIONS, PASSAGES)
    assert found.startswith(f"{settings.run}: 1 problem; ")
    assert said in found


def test_every_line_of_a_run_is_told_of_at_once_and_an_empty_run_and_none_are_refused(run_of, tmp_path):
    found = message(trec.check, run_of("q1 Q0 p1", "q1 Q0 p1 1 inf mine", "q1 Q0 p2 1 1 mine"), QUESTIONS, PASSAGES)
    assert "2 problems; line 1: 3 fields" in found
    assert "line 2: score inf" in found
    assert "ranks nothing" in message(trec.check, run_of(""), QUESTIONS, PASSAGES)
    trec.check(run_of("q9 Q0 p1 1 2.5 mine"), QUESTIONS, PASSAGES, is_limited=True)  # of the questions left out
    assert "NUL characters, the first in line 2" in message(trec.read_run, Path(run_of("", "q1 Q0 p\0 1 1 mine").run))
    assert "no such file" in message(trec.check, trec.Settings(str(tmp_path / "none.run")), QUESTIONS, PASSAGES)


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["q1 Q0 p1 1 2 x", "q1 Q0 p2 2 2 x"], 1),
        (["q1 Q0 p1 1 2 x", "q1 Q0 p2 2 1 x"], 0),
        (["q1 Q0 p1 1 2 x", "q2 Q0 p3 1 2 x"], 0),  # a passage alone has nothing to tie with
        (["q9 Q0 p1 1 2 x", "q9 Q0 p2 2 2 x", "q1 Q0 p1 1 2 x", "q1 Q0 p2 2 2 x"], 1),
    ],
)
def test_one_score_for_all_passages_of_a_question_is_warned_of(run_of, lines, count):
    warnings = trec.check(run_of(*lines), QUESTIONS, PASSAGES, is_limited=True)
    assert len(warnings) == count
    assert all(text.startswith(f"in {count} of 2 questions all passages have one score") for text in warnings)


@pytest.fixture
def rows_of(tmp_path):
    """A function that reads lines: (question, place, passage, whole, text, tokens) of each row."""

    def read(*lines, known=KNOWN, warn=pytest.fail, window=100, lengths=None):
        path = tmp_path / "mine.jsonl"
        path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
        rows, _ = imported_rows(read_contexts(path, known, warn), count, window, lengths)
        assert {row[3] for row in rows} <= {OWN_LENGTH}
        return [(row[0], row[4], *row[6:8], row[9], row[11]) for row in rows]

    return read


def line(**keys):
    return {"question_id": "q1", "text": "Acme bought Bolt."} | keys


def test_a_passage_is_found_in_a_text_with_and_without_its_id(rows_of):
    whole = [("q1", 0, "p1", True, "Acme bought Bolt.", 3)]
    assert rows_of(line()) == rows_of(line(passages=["p1"])) == rows_of(line(passages=[])) == whole
    assert rows_of(line(passages=["p2"])) == [("q1", 0, "p2", False, "Acme bought Bolt.", 3)]  # shortened, as they say


def test_a_text_is_cut_at_its_passages_and_gives_itself_when_joined(rows_of):
    text = "Facts:\n\nAcme bought Bolt.\n[2] It said: “Bolt makes nuts and bolts.”  And more"
    for given, joined in ((text, text), (text.split("\n\n"), text.replace("\n\n", "\n"))):
        rows = rows_of(line(text=given))
        assert [row[2] for row in rows] == [None, "p1", None, "p2", None]
        assert "".join(row[4] for row in rows) == joined


@pytest.mark.parametrize(
    "text", ["Ann: Hello there, all of you.", "Hello there, all of you.", "Firms: Hello there, all of you."]
)
def test_a_passage_is_found_as_a_reader_gets_it_with_its_title_and_bare(rows_of, text):
    assert rows_of(line(question_id="q2", text=text)) == [("q2", 0, "p3", True, text, len(text.split()))]
    assert rows_of(line(text=text))[0][2] is None  # of another group


def test_several_passages_for_one_text_and_a_budget_are_told_of(rows_of):
    said: list[str] = []
    several = rows_of(line(passages=["p1", "p2"], budget=8), warn=said.append)
    assert several == rows_of(line())
    assert ["`budget` of 1 contexts is ignored" in said[0], "several passages for one text" in said[1]] == [True, True]


def test_a_context_beyond_the_window_is_its_last_tokens_and_no_longer_whole(rows_of):
    first, last = rows_of(line(text=TWO), window=6)
    assert first[2:5] == ("p1", False, "Bolt.\n")
    assert last[2:5] == ("p2", True, "Bolt makes nuts and bolts.")
    assert [row[4] for row in rows_of(line(text=TWO), window=2)] == ["and bolts."]


def test_a_context_is_packed_to_the_tokens_of_another_system_and_left_alone_where_it_fits(rows_of):
    text = line(text=TWO)
    assert [row[4] for row in rows_of(text, lengths={"q1": 8})] == TWO.splitlines(keepends=True)
    assert [(row[4], row[5]) for row in rows_of(text, lengths={"q1": 7})] == [("Acme bought Bolt.\n", 3)]
    assert rows_of(text, lengths={"q1": 0}) == [("q1", 0, None, False, "", 0)]
    assert rows_of(text, lengths={"q2": 8}) == []


@pytest.mark.parametrize(("tokens", "kept"), [(6, "A firm was sold to another"), (3, "A firm was"), (0, "")])
def test_of_a_rewritten_text_that_is_longer_than_another_systems_the_beginning_is_compared(rows_of, tokens, kept):
    found = rows_of(line(text="A firm was sold to another one."), lengths={"q1": tokens})
    assert found == [("q1", 0, None, False, kept, tokens)]
    assert rows_of(line(text="")) == rows_of(line(text=[])) == [("q1", 0, None, False, "", 0)]  # an empty one is one


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "line 2: malformed JSON"),
        ("3", "line 2: expected an object, found 3"),
        ({"question_id": "q2"}, "line 2: text is missing"),
        (line(question_id=2), "line 2: question_id must be a text that is not empty, found 2"),
        (line(text=3), "line 2: text must be a text, or a list of them, found 3"),
        (line(text=["a", 3]), "line 2: text must be a text, or a list of them"),
        (line(passages="p1"), "line 2: passages must be a list of passage ids, or null, found 'p1'"),
        (line(budget=0), "line 2: budget must be a number of tokens"),
        (line(budget=True), "line 2: budget must be a number of tokens"),
        (line(passage=["p1"]), "line 2: unknown key 'passage'; did you mean 'passages'?"),
        (line(question_id="q7"), "line 2: unknown question 'q7'; did you mean 'q"),
        (line(text="A\0c"), "line 2: text holds NUL characters"),
        (line(text=["Ann.", "A\0c"]), "line 2: text holds NUL characters"),
        (line(question_id="q2", passages=["p8"]), "line 2: passage 'p8' does not resolve"),
        (line(question_id="q2", text=["a", "b"], passages=["p1"]), "line 2: text has 2 parts, passages names 1"),
        (line(budget=8), "line 2: question 'q1' has a context in line 1 already"),
    ],
)
def test_a_line_of_contexts(rows_of, bad, said):
    found = message(rows_of, line(), bad)
    assert "mine.jsonl: 1 problem; " in found
    assert said in found


def test_every_line_of_contexts_is_told_of_at_once_and_an_empty_file_is_refused(rows_of):
    assert "4 problems" in message(rows_of, "{", line(question_id="q7", passages=["p8"]), line(), line())
    assert "the file: is empty" in message(rows_of)


def test_contexts_of_questions_that_a_limit_leaves_out_are_ignored(rows_of):
    first = replace(KNOWN, groups={"q1": "g1"}, is_limited=True)
    lines = (line(), line(question_id="q2"))
    assert [row[0] for row in rows_of(*lines, known=first)] == ["q1"]
    with pytest.raises(SecateurError, match="has no context of the questions that LIMIT keeps"):
        rows_of(lines[1], known=first)


EXPERIMENT = "title: T\ndatasets: [toy_documents_smoke]\nsystems: [mine]\naxes: {}\nexclude: []\n"
SYSTEM = "defaults: [_default, _self_]\n"
RANKERS = "defaults: [sentences, _self_]\nscorers: {mine: {kind: import, run: mine.run}}\n"
FOLDER = "results/toy_documents_smoke/toy_documents_smoke"


def write(project, system: str) -> None:
    """An experiment of one system."""
    options = {"experiment": EXPERIMENT, "system": SYSTEM + system, "rankers": RANKERS}
    for group, text in options.items():
        (project.root / f"conf/{group}/mine.yaml").write_text(text)


def run(project, *args: str) -> tuple[str, int]:
    """What Snakemake says, and its exit code."""
    done = project.snakemake(*args, "--config", "experiment=mine")
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("contexts: none.jsonl\n", "none.jsonl: no such file. Fix: `contexts` in conf/system/mine.yaml"),
        ("rankers: mine\n", "mine.run: no such file. Fix: correct conf/rankers/mine.yaml"),
    ],
)
def test_a_file_that_is_not_there_is_missed_before_anything_runs(project, system, said):
    write(project, system)
    text, code = run(project, "-n")
    assert said in text
    assert code == 2


def test_a_run_has_no_order_that_its_ranker_is_not_made_in(project):
    write(project, "rankers: mine\nranker: mine\n")
    with pytest.raises(ConfigError, match=r"system\.orders names aware, but ranker mine has no form with \+neighbour"):
        variants(project.root / "conf", "mine")


@pytest.mark.slow
def test_bad_contexts_and_a_bad_run_end_their_jobs_and_leave_nothing(project):
    write(project, "contexts: mine.jsonl\n")
    bad = '{"question_id": "doc-q01"}\n{"question_id": "doc-q77", "text": "Yes."}\n'
    (project.root / "mine.jsonl").write_text(bad)
    (project.root / "mine.run").write_text("q Q0 p\n")
    contexts = f"{FOLDER}/contexts/imported/mine.blind/imported/none/text/default.smollm2/contexts.parquet"
    text, _ = run(project, "--keep-going", contexts, f"{FOLDER}/rankings/lexical/minilm.mine/rankings.parquet")
    assert "mine.jsonl: 2 problems; line 1: text is missing; line 2: unknown question 'doc-q77'" in text
    assert "rank_passages: mine.run: 1 problem; line 1: 3 fields, a run has 6" in text
    assert text.count("exit status 2") == 2
    made = {path.rsplit("/", 1)[0] for path in project.artifacts()}
    assert made == {"results/toy_documents_smoke/passages", f"{FOLDER}/questions"}
