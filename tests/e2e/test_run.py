"""`secateur run`, as a user gives it: what it says before, at the end, and after a mistake."""

import json
import re

import pytest
from tests.support.project import in_folder

EXPERIMENT = "results/experiments/smoke"
BUSY = "def run(cfg, inputs, outputs, ctx):\n    raise OSError(16, 'Device or resource busy')\n"


def test_a_run_says_what_is_to_come_and_ends_with_what_was_found(rerun):
    (rerun.root / EXPERIMENT / "report.html").unlink()
    said = rerun.secateur("run", "smoke", "--profile", "smoke", "--cores", "1")
    assert said.returncode == 0, said.stderr
    first = said.stderr.splitlines()[0]
    assert re.match(
        r"2 jobs to run; about \d+\.\d minutes of one core, at least \d+\.\d on 1, by jobs that ran here", first
    )
    assert "2 of 2 jobs" in said.stderr
    assert re.match(r"2 jobs in \d+ s, \d+ CPU seconds; Snakemake's output: logs/snakemake.log\n", said.stdout)
    assert "What was found" in said.stdout
    assert (rerun.root / said.stdout.splitlines()[-1]).is_file()
    assert "Finished jobid" in (rerun.root / "logs/snakemake.log").read_text()

    again = rerun.secateur("run", "smoke", "--profile", "smoke", "--cores", "1")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("no jobs in ")
    assert again.stdout.splitlines()[-1] == said.stdout.splitlines()[-1]


def test_snakemakes_own_executor_writes_the_same_bytes(rerun):
    """Of stages with tables of all kinds, which the run has made in processes that ran others before."""
    rules = ("prepare_dataset", "build_codebook", "build_runs", "consolidate", "find_mentions")
    rules += ("rank_by_graph", "rank_passages")

    def made() -> dict[str, dict]:
        records = [json.loads(path.read_text()) for path in (rerun.root / "results").rglob("run.json")]
        return {str(one["outputs"]): one["written"] for one in records if one["stage"] in rules}

    before = made()
    corpus = "results/toy_documents_smoke/toy_documents_smoke/rankings"
    targets = (f"{corpus}/graph/openie.minilm.default.blind.default.beam", f"{corpus}/lexical/minilm.sentences")
    configured = ("--profile", "profiles/smoke", "--executor", "local", "--forcerun", *rules)
    done = rerun.snakemake(*configured, "--", *(f"{target}/rankings.parquet" for target in targets))
    assert done.returncode == 0, done.stderr
    assert len(before) > len(rules)
    assert made() == before


def test_what_the_driver_runs_itself_is_repeated_where_that_may_help(project):
    project.edit("scripts/prepare_corpus.py", "def run(cfg, inputs, outputs, ctx):\n", BUSY)
    done = project.snakemake("--retries", "1", "--", "results/toy_documents/passages/passages.parquet")
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert said.count("Trying to restart") == 1


@pytest.mark.slow
def test_a_malformed_line_is_one_message_that_names_the_page_of_what_there_is(project):
    folder = project.root.parent / "mine"
    folder.mkdir()
    (folder / "passages.jsonl").write_text('{"id": "p1", "text": "Acme bought Bolt."}\n{"id": "p2", "text": \n')
    (folder / "questions.jsonl").write_text('{"id": "q1", "question": "Who?"}\n')
    own = [part for change in in_folder(folder) for part in ("--set", change)]
    said = project.secateur("run", "custom", *own)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.count("prepare_corpus: ") == 1
    assert f"{folder}/passages.jsonl" in said.stderr
    assert "line 2" in said.stderr
    assert "stopped after" in said.stderr
    assert f"`secateur report custom --set corpus.folder={folder}" in said.stderr.replace("'", "").replace('"', "")
    assert not re.search("RuleException|Traceback|Error in rule|SystemExit", said.stderr), said.stderr


@pytest.mark.slow
def test_a_file_in_the_place_of_the_results_is_one_message(project):
    (project.root / "results").write_text("")
    said = project.secateur("run", "smoke", "--profile", "smoke")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "results: Not a directory. Fix: move it away: another type of file is needed there\n"
