"""`secateur show`: one question's way, from the tables of a finished run."""

import polars as pl
import pytest

from secateur.pipeline.tables.catalog import TABLES
from secateur.pipeline.tables.table import read_table

DOCUMENTS = "results/toy_documents_smoke/toy_documents_smoke"


@pytest.fixture(scope="module")
def ids(smoke) -> list[str]:
    questions = read_table(TABLES["questions"], smoke.root / DOCUMENTS / "questions/questions.parquet")
    return questions.sort("position")["question_id"].to_list()


def prompts(smoke, track: str) -> pl.DataFrame:
    (path,) = (smoke.root / DOCUMENTS / "prompts").glob(f"*/*/*/{track}/**/prompts.parquet")
    return read_table(TABLES["prompts"], path)


def test_a_question_is_shown_from_its_text_to_its_prompt(smoke, ids):
    said = smoke.secateur("show", "smoke", ids[0])
    assert said.returncode == 0, said.stderr
    heads = ("question  ", "answer    ", "GOLD EVIDENCE", "QUESTION TRIPLES", "CANDIDATE RUNS", "RANKED SOURCES")
    places = [said.stdout.index(head) for head in (*heads, "SELECTION at", "FIGURES", "PROMPT", "as sent")]
    assert places == sorted(places)


def test_no_line_is_wider_than_a_terminal(smoke, ids):
    for extra in ((), ("--full",)):
        lines = smoke.secateur("show", "smoke", ids[0], *extra).stdout.splitlines()
        assert max(map(len, lines)) <= 120


def test_the_prompt_that_is_sent_is_shown_whole_and_full_shows_them_all(smoke, ids):
    rows = prompts(smoke, "blind").filter(pl.col("question_id") == ids[0])
    short = "".join(smoke.secateur("show", "smoke", ids[0]).stdout.split())
    full = "".join(smoke.secateur("show", "smoke", ids[0], "--full").stdout.split())
    for chosen, text in rows.select("chosen", "text").iter_rows():
        flat = "".join(text.split())
        assert flat in full
        assert (flat in short) == chosen


def test_the_track_chooses_the_variant(smoke, ids):
    assert "order-blind" in smoke.secateur("show", "smoke", ids[0]).stdout
    assert "order-aware" in smoke.secateur("show", "smoke", ids[0], "--track", "aware").stdout


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (("smok", "Q"), ["'smok'", "quickstart, red_herrings, sessions, smoke", "did you mean 'smoke'?"]),
        (("locomo", "Q"), ["locomo has no graph system", "Fix:"]),
        (("quickstart", "Q"), ["quickstart has not been run here", "make run EXPERIMENT=quickstart"]),
        (
            ("smoke", "Q", "--system", "grahp"),
            ["system 'grahp'", "allowed: graph", "did you mean 'graph'?"],
        ),
        (("smoke", "Q", "--track", "both"), ["track 'both'", "allowed: blind, aware"]),
        (("smoke", "Q", "--dataset", "toy"), ["dataset 'toy'", "allowed: toy_documents_smoke"]),
    ],
)
def test_an_unknown_name_is_answered_with_what_is_allowed(smoke, args, parts):
    done = smoke.secateur("show", *args)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert [part for part in parts if part not in done.stderr] == [], done.stderr


def test_an_unknown_question_is_answered_with_the_nearest_ids(smoke, ids):
    done = smoke.secateur("show", "smoke", f"{ids[0]}x")
    assert done.returncode == 2
    assert ids[0] in done.stderr
    assert f"{len(ids)} questions" in done.stderr
