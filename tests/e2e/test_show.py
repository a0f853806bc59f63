"""`secateur show`: one question's way, from the tables of a finished run."""

from functools import cache, partial

import pytest

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table

DOCUMENTS = "results/toy_documents_smoke/toy_documents_smoke"


@pytest.fixture(scope="module")
def ids(smoke) -> list[str]:
    questions = read_table(TABLES["questions"], smoke.root / DOCUMENTS / "questions/questions.parquet")
    return questions.sort("position")["question_id"].to_list()


@pytest.fixture(scope="module")
def show(smoke):
    return cache(partial(smoke.secateur, "show"))


def test_a_question_is_shown_from_its_text_to_its_context(show, ids):
    said = show("smoke", ids[0])
    assert said.returncode == 0, said.stderr
    heads = ("question  ", "answer    ", "GOLD EVIDENCE", "QUESTION TRIPLES", "CANDIDATE RUNS", "RANKED PASSAGES")
    places = [said.stdout.index(head) for head in (*heads, "FIGURES", "CONTEXT within 512 tokens", "as sent")]
    assert places == sorted(places)
    for shown in (said, show("smoke", ids[0], "--full")):
        assert max(map(len, shown.stdout.splitlines())) <= 120  # a terminal


def test_the_context_that_is_sent_is_shown_whole(show, smoke, ids):
    said = "".join(show("smoke", ids[0]).stdout.split())
    (path,) = (smoke.root / DOCUMENTS).glob("contexts/graph/*.blind.*.default/graph/none/text/*/contexts.parquet")
    rows = read_table(TABLES["contexts"], path).filter(question_id=ids[0], budget=512)
    text = "".join(rows.sort("place")["text"])
    assert text
    assert "".join(text.split()) in said


def test_a_ranker_of_a_list_and_a_system_without_a_graph_are_shown_too(show, ids):
    said = show("smoke", ids[0], "--system", "rankers/minilm+neighbour").stdout
    assert "rankers · minilm+neighbour, order-aware" in said
    assert "CANDIDATE RUNS" not in said
    assert "RANKED PASSAGES" in show("smoke", ids[0], "--system", "rag_zsum").stdout
    assert "512 tokens: none" in show("smoke", ids[0], "--system", "closed_book").stdout
    refused = show("smoke", ids[0], "--system", "rankers")
    assert refused.returncode == 2
    assert "--system rankers/NAME" in refused.stderr


def test_the_order_chooses_the_variant(show, ids):
    assert "order-blind" in show("smoke", ids[0]).stdout
    assert "order-aware" in show("smoke", ids[0], "--order", "aware").stdout


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (("smok", "Q"), ["'smok'", "quickstart, readers, red_herrings", "did you mean 'smoke'?"]),
        (("locomo", "Q"), ["locomo has no system on documents", "Fix:"]),
        (("quickstart", "Q"), ["quickstart has not been run here", "make run EXPERIMENT=quickstart"]),
        (
            ("smoke", "Q", "--system", "grpah_zsum"),
            ["'grpah_zsum'", "allowed: rankers, ", "did you mean 'graph_zsum'?"],
        ),
        (("smoke", "Q", "--order", "both"), ["--order", "'both' is not one of 'blind'"]),
        (("smoke", "Q", "--dataset", "toy"), ["dataset 'toy'", "allowed: toy_documents_smoke"]),
    ],
)
def test_an_unknown_name_is_answered_with_what_is_allowed(show, args, parts):
    done = show(*args)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert [part for part in parts if part not in done.stderr] == [], done.stderr


def test_an_unknown_question_is_answered_with_the_nearest_ids(show, ids):
    done = show("smoke", f"{ids[0]}x")
    assert done.returncode == 2
    assert ids[0] in done.stderr
    assert f"{len(ids)} questions" in done.stderr


def test_a_question_of_a_dialogue_is_shown_with_the_turns_that_each_scorer_chose(show, smoke):
    table = smoke.root / "results/toy_dialogue_smoke/toy_dialogue_smoke/questions"
    evidence = read_table(TABLES["evidence"], table / "evidence.parquet").drop_nulls("passage_id")
    question, gold = evidence.select("question_id", "passage_id").row(0)
    said = show("smoke", question)
    assert said.returncode == 0, said.stderr
    assert f"* [{gold}]" in said.stdout
    assert "rankers: F1 at gold size" in said.stdout
    assert "ecs:quick: F1 at gold size" in said.stdout
    assert "rankers:" not in show("smoke", question, "--system", "ecs:quick").stdout
    assert max(map(len, said.stdout.splitlines())) <= 120
