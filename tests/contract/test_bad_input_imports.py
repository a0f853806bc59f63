"""Rankings and contexts made elsewhere: what is wrong with them stands in one message, with line, finding and way out."""

import importlib
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support.refusals import message

from secateur.contexts.imported import Reference, imported_rows
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.planning.plan import variants

trec = importlib.import_module("secateur.ranking.scorers.import")
QUESTIONS = pl.DataFrame({"question_id": ["q1", "q2"], "group_id": ["g1", "g2"]})
PASSAGES = pl.DataFrame({"passage_id": ["p1", "p2", "p3"], "group_id": ["g1", "g1", "g2"]})
KNOWN = Reference(
    questions=frozenset({"q1", "q2"}),
    texts={"p1": "Acme bought Bolt.", "p2": "Bolt makes nuts.", "p3": "Ann: Hello."},
    count=lambda texts: np.array([len(text.split()) for text in texts]),
    budgets=(2, 4, 8),
    answer_budget=4,
)


# --- a TREC run ------------------------------------------------------------------------------------


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
        ("q1 Q0 p1 1 2.5 my run", "line 2: 7 fields, a run has 6"),
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


def test_every_line_of_a_run_is_told_of_at_once(run_of):
    found = message(trec.check, run_of("q1 Q0 p1", "q1 Q0 p1 1 inf mine", "q1 Q0 p2 1 1 mine"), QUESTIONS, PASSAGES)
    assert "2 problems; line 1: 3 fields" in found
    assert "line 2: score inf" in found


def test_an_empty_run_and_none(run_of, tmp_path):
    assert "ranks nothing" in message(trec.check, run_of(""), QUESTIONS, PASSAGES)
    trec.check(run_of("q9 Q0 p1 1 2.5 mine"), QUESTIONS, PASSAGES, is_limited=True)  # of the questions left out
    assert "no such file" in message(trec.check, trec.Settings(str(tmp_path / "none.run")), QUESTIONS, PASSAGES)


# --- contexts --------------------------------------------------------------------------------------


@pytest.fixture
def rows_of(tmp_path):
    """A function that reads lines: (question, budget, place, passage, whole, text, tokens) of each row."""

    def read(*lines, known=KNOWN, warn=pytest.fail):
        path = tmp_path / "mine.jsonl"
        path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
        return [(row[0], *row[3:5], *row[6:8], row[9], row[11]) for row in imported_rows(path, known, warn)]

    return read


def line(**keys):
    return {"question_id": "q1", "text": "Acme bought Bolt."} | keys


def test_a_context_counts_for_the_budget_it_names_or_for_each_that_it_fits(rows_of):
    assert [row[1] for row in rows_of(line())] == [4, 8]
    assert [row[1] for row in rows_of(line(budget=8))] == [8]


def test_a_text_comes_from_its_one_passage_and_not_from_one_of_several(rows_of):
    place, text = ("q1", 8, 0), "Acme bought Bolt."
    assert rows_of(line(budget=8, passages=["p1"])) == [(*place, "p1", True, text, 3)]
    assert rows_of(line(budget=8, passages=["p2"])) == [(*place, "p2", False, text, 3)]
    said: list[str] = []
    assert rows_of(line(budget=8, passages=["p1", "p2"]), warn=said.append) == [(*place, None, False, text, 3)]
    one, several = line(budget=8, passages=["p1"]), line(budget=4, passages=["p1", "p2"])
    assert [row[3] for row in rows_of(one, several, warn=said.append)] == [None, None]  # else the one would be the mean
    assert [row[3] for row in rows_of(one, line(budget=4), warn=said.append)] == [None, "p1"]
    assert [text.partition(":")[0] for text in said] == [
        "1 of 1 contexts name several passages for one text, so evidence recall is left out. Fix",
        "1 of 2 contexts name several passages for one text, so evidence recall is left out. Fix",
        "1 of 2 contexts name no passage",
    ]
    assert rows_of(line(budget=8, passages=[])) == rows_of(line(budget=8, passages=None))


def test_parts_are_rows_a_line_each_with_their_passages(rows_of):
    found = rows_of(line(text=["Facts:", "Acme bought Bolt."], passages=[None, "p1"], budget=8))
    assert found == [("q1", 8, 0, None, False, "Facts:\n", 4), ("q1", 8, 1, "p1", True, "Acme bought Bolt.", 4)]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "line 2: malformed JSON"),
        ("3", "line 2: expected an object, found 3"),
        ({"question_id": "q2"}, "line 2: text is missing"),
        (line(question_id=2), "line 2: question_id must be a text that is not empty, found 2"),
        (line(text=""), "line 2: text must be a text that is not empty, or a list of them, found ''"),
        (line(text=["a", 3]), "line 2: text must be a text that is not empty, or a list of them"),
        (line(passages="p1"), "line 2: passages must be a list of passage ids, or null, found 'p1'"),
        (line(budget=0), "line 2: budget must be a number of tokens of at least 1, or null, found 0"),
        (line(budget=True), "line 2: budget must be a number of tokens"),
        (line(passage=["p1"]), "line 2: unknown key 'passage'; did you mean 'passages'?"),
        (line(question_id="q7"), "line 2: unknown question 'q7'; did you mean 'q"),
        (line(question_id="q2", passages=["p8"]), "line 2: passage 'p8' does not resolve"),
        (line(text=["a", "b"], passages=["p1"]), "line 2: text has 2 parts, passages names 1"),
        (line(budget=3), "line 2: budget 3 is not measured; measured: 2, 4, 8"),
        (line(budget=8), "line 2: question 'q1' has a context of budget 8 in line 1 already"),
        (line(), "line 2: question 'q1' has a context of budget 8 in line 1 already"),
        (line(budget=2), "line 2: the context of question 'q1' has 3 tokens, its budget is 2"),
        (
            line(text="one two three four five"),
            "line 2: the context of question 'q1' has 5 tokens, without a budget 4 are allowed",
        ),
    ],
)
def test_a_line_of_contexts(rows_of, bad, said):
    found = message(rows_of, line(budget=8), bad)
    assert "mine.jsonl: 1 problem; " in found
    assert said in found


def test_every_line_of_contexts_is_told_of_at_once(rows_of):
    found = message(rows_of, "{", line(question_id="q7", passages=["p8"]), line(budget=2), line(budget=3))
    assert "5 problems" in found


def test_an_empty_file_of_contexts(rows_of):
    assert "the file: is empty" in message(rows_of)


def test_contexts_of_questions_that_a_limit_leaves_out_are_ignored(rows_of):
    first = replace(KNOWN, questions=frozenset({"q1"}), is_limited=True)
    lines = (line(budget=8), line(question_id="q2", budget=8))
    assert [row[0] for row in rows_of(*lines, known=first)] == ["q1"]
    with pytest.raises(SecateurError, match="has no context of the questions that LIMIT keeps"):
        rows_of(lines[1], known=first)


# --- through Snakemake -------------------------------------------------------------------------------

EXPERIMENT = "title: T\ndatasets: [toy_documents_smoke]\nsystems: [mine]\naxes: {}\nexclude: []\n"
SYSTEM = "defaults: [_default, _self_]\n"
RANKERS = "defaults: [sentences, _self_]\nscorers: {mine: {kind: import, run: mine.run}}\n"
FOLDER = "results/toy_documents_smoke/toy_documents_smoke"


def write(project, system: str, **files: str) -> None:
    """One system as an experiment, and files beside it."""
    options = {"experiment": EXPERIMENT, "system": SYSTEM + system, "rankers": RANKERS}
    for group, text in options.items():
        (project.root / f"conf/{group}/mine.yaml").write_text(text)
    for name, text in files.items():
        (project.root / name.replace("_", ".")).write_text(text)


def said(project, *args: str) -> tuple[str, int]:
    """What Snakemake says, and its exit code."""
    done = project.snakemake(*args, "--config", "experiment=mine")
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr, done.returncode


def test_a_file_that_is_not_there_is_missed_before_anything_runs(project):
    write(project, "contexts: none.jsonl\n")
    text, code = said(project, "-n")
    assert "none.jsonl: no such file. Fix: `contexts` in conf/system/mine.yaml" in text
    assert code == 2
    write(project, "rankers: mine\n")
    text, code = said(project, "-n")
    assert "mine.run: no such file. Fix: correct conf/rankers/mine.yaml" in text
    assert code == 2


def test_a_run_has_no_order_that_its_ranker_is_not_made_in(project):
    write(project, "rankers: mine\nranker: mine\n")
    with pytest.raises(ConfigError, match=r"system\.orders names aware, but ranker mine has no form with \+neighbour"):
        variants(project.root / "conf", "mine")


@pytest.mark.slow
def test_bad_contexts_and_a_bad_run_end_their_jobs_and_leave_nothing(project):
    bad = '{"question_id": "doc-q01"}\n{"question_id": "doc-q77", "text": "Yes."}\n'
    write(project, "contexts: mine.jsonl\n", mine_jsonl=bad, mine_run="q Q0 p\n")
    contexts = f"{FOLDER}/contexts/imported/mine.blind/imported/none/text/default.smollm2/contexts.parquet"
    text, _ = said(project, "--keep-going", contexts, f"{FOLDER}/rankings/lexical/minilm.mine/rankings.parquet")
    assert "mine.jsonl: 2 problems; line 1: text is missing; line 2: unknown question 'doc-q77'" in text
    assert "rank_passages: mine.run: 1 problem; line 1: 3 fields, a run has 6" in text
    assert text.count("exit status 2") == 2
    made = {path.rsplit("/", 1)[0] for path in project.artifacts()}
    assert made == {"results/toy_documents_smoke/passages", f"{FOLDER}/questions"}
