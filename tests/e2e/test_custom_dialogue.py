"""Somebody's own dialogues, from a folder to what a language model says of each turn."""

import json

import polars as pl
import pytest
from tests.support.project import in_folder

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, read_tables

pytestmark = pytest.mark.slow

TURNS = {
    "ana-ben": """\
Ana: I start at the mill on Monday.
Ben: Which one, the paper mill in Leeds?
Ana: Yes, the Finch mill. My father worked there for nine years.
Ben: I have a spaniel now. He is called Otto.
Ana: Bring him along in June.""",
    "cleo-dan": """\
Cleo: The ferry to Oslo was late again.
Dan: I told you to take the train.
Cleo: It costs 90 euros, and the ferry 40.
Dan: Did you paint the kitchen?
Cleo: Green, as you said. Bruno helped me.""",
}
ASKED = [("ana-ben", "What is Ben's dog called?", "Otto", 3), ("cleo-dan", "Who helped Cleo?", "Bruno", 4)]
PAIRS = 10  # of each question with every turn of its dialogue: the pool of `quick` would take more


@pytest.fixture(scope="module")
def ran(smoke, tmp_path_factory):
    """(project, its plan, its run) of two dialogues, read by a model that the smoke run has prepared."""
    project = smoke.copied(tmp_path_factory.mktemp("dialogues") / "project")
    folder = project.root.parent / "my dialogues"
    folder.mkdir()
    passages = [
        {"id": f"{group}:{n}", "group": group, "session": "s1", "date": "3 May 2024", "speaker": speaker, "text": text}
        for group, turns in TURNS.items()
        for n, (speaker, text) in enumerate(turn.split(": ") for turn in turns.splitlines())
    ]
    questions = [
        {"id": group, "question": question, "answer": answer, "group": group, "evidence": [f"{group}:{n}"]}
        for group, question, answer, n in ASKED
    ]
    for name, rows in (("passages", passages), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = [part for change in in_folder(folder) for part in ("--set", change)]
    plan = project.secateur("plan", "custom_dialogue", *own)
    said = project.secateur("evaluate", str(folder), "--name", "talks", "--cores", "1")
    assert said.returncode == 0, said.stdout + said.stderr
    return project, plan, said


def test_it_says_beforehand_how_many_pairs_are_read_and_reads_no_more(ran):
    project, plan, said = ran
    foretold = f"a language model reads at most {PAIRS} pairs of question and passage"
    assert foretold in plan.stdout, plan.stderr
    assert said.stderr.splitlines()[0].endswith(foretold)
    shards = sorted((project.root / "results/talks").rglob("statistics.parquet"))
    statistics = read_tables(TABLES["statistics"], shards)
    assert statistics.drop_nulls("passage_id").height == PAIRS
    assert statistics.filter(pl.col("passage_id").is_null()).height == len(ASKED)


def test_turns_are_scored_with_the_answer_and_without_beside_plain_rankers(ran):
    project, *_ = ran
    rows = read_table(TABLES["metrics"], project.root / "results/experiments/talks/metrics.parquet")
    own = rows.filter(pl.col("metric") == "f1_at_gold", pl.col("subset") == "all", ~pl.col("published"))
    assert set(own["system"]) == {"rankers", "ecs:quick"}
    aware = dict(own.filter(system="ecs:quick").select("scorer", "answer_aware").iter_rows())
    assert aware["signed"]
    assert not aware["pmi_q"]
    assert set(own["n"]) == {2}
    assert own["value"].is_between(0, 1).all()
    assert not own.filter(system="rankers", answer_aware=False).is_empty()


def test_it_ends_with_its_page_and_with_nothing_left_to_do(ran):
    project, _, said = ran
    assert (project.root / said.stdout.splitlines()[-1]).is_file()
    assert "talks" in said.stdout.splitlines()[-1]
    assert project.secateur("plan", "talks").stdout == "nothing to do\n"
    said = project.secateur("why", "talks", "--set", "ecs.pool=9")
    assert "ecs.pool was 8, is 9" in said.stdout
