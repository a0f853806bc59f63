"""RunProgress read from Snakemake's text, and what `secateur run` says when a run has failed."""

from types import SimpleNamespace

import pytest

from secateur.commands import running
from secateur.core.errors import SecateurError
from secateur.planning.snakemake_output import RunProgress

RULES = frozenset({"prepare_corpus", "build_report"})
TEXT = """Using profile profiles/local for setting default command line arguments.
Building DAG of jobs...
Provided cores: 2 (use --cores to define parallelism)
Job stats:
job                count
---------------  -------
prepare_corpus         2
build_report           1
all                    1
total                  4

Select jobs to execute...
Execute 2 jobs...
[Tue Nov 24 02:45:39 2026]
Finished jobid: 4 (Rule: prepare_corpus)
1 of 4 steps (25%) done
prepare_corpus: mine/passages.jsonl line 2: no JSON. Fix: correct it
Error in rule prepare_corpus:
    message: Read the passages of custom
    log: logs/prepare_corpus/custom.log (check log file(s) for error details)
RuleException:
CalledProcessError in file "/mine/workflow/rules/datasets.smk", line 20:
"""


def read(text: str) -> RunProgress:
    """The progress that a text states."""
    progress = RunProgress(RULES)
    messages = [message for message in map(progress.read, text.splitlines()) if message]
    assert messages == progress.messages
    return progress


def test_jobs_are_counted_without_snakemakes_own_target_and_messages_are_those_of_stages_and_mlflow():
    progress = read(TEXT)
    assert progress.counts == {"prepare_corpus": 2, "build_report": 1}
    assert progress.messages == ["prepare_corpus: mine/passages.jsonl line 2: no JSON. Fix: correct it"]
    assert (progress.done, progress.jobs, progress.rule, progress.planned) == (1, 3, "prepare_corpus", True)
    for line in ("3 of 4 steps (75%) done", "4 of 4 steps (100%) done"):
        progress.read(line)
        assert (progress.done, progress.jobs) == (3, 3)
    assert progress.read("MLflow at http://here: down. Nothing is lost. Fix: start the server") is not None
    nothing = read("Building DAG of jobs...\nNothing to be done (all requested files are present).\n")
    assert (nothing.planned, nothing.jobs, nothing.counts, nothing.messages) == (False, 0, {}, [])


def test_the_forecast_is_printed_once_after_the_table_of_jobs(logged, capsys):
    asked = []
    child = SimpleNamespace(stdout=TEXT.splitlines(keepends=True))
    with running.LOG.open("w") as log:
        running._show(child, log, RunProgress(RULES), {}, lambda counts: asked.append(dict(counts)) or "3 jobs to run")
    assert asked == [{"prepare_corpus": 2, "build_report": 1}]
    assert capsys.readouterr().err.count("3 jobs to run") == 1
    assert running.LOG.read_text() == TEXT


@pytest.fixture
def logged(tmp_path, monkeypatch):
    """A folder in which Snakemake's log may stand."""
    monkeypatch.chdir(tmp_path)
    running.LOG.parent.mkdir()


def failure(text: str) -> str:
    """What a run ends with whose log holds the text."""
    running.LOG.write_text(text)
    error = running._failure(read(text), 1, "secateur report mine")
    assert isinstance(error, SecateurError)
    return str(error)


def test_a_failed_run_names_what_is_done_the_page_and_the_log_and_snakemakes_words_where_no_stage_said_why(logged):
    told = failure(TEXT)
    for part in ("stopped after 1 of 3 jobs, for the reason above", "`secateur report mine`", "logs/snakemake.log"):
        assert part in told
    assert "\n" not in told
    untold = failure(TEXT.replace("prepare_corpus: mine", "what: mine"))
    for part in ("Error in rule prepare_corpus", "stopped after 1 of 3 jobs (exit code 1)", "`secateur report mine`"):
        assert part in untold
    waited = TEXT.replace("prepare_corpus: mine", "SLURM: AssocMaxSubmitJobLimit. The next job waits\nwhat: mine")
    assert read(waited).messages == ["SLURM: AssocMaxSubmitJobLimit. The next job waits"]  # shown, but no reason
    assert "Error in rule prepare_corpus" in failure(waited)


def test_the_page_of_a_run_is_asked_for_as_the_run_was():
    said = running._report_command("custom@20", ["ecs.pool=8", "eval.budgets=[64,128]"])
    assert said == "secateur report custom@20 --set ecs.pool=8 --set 'eval.budgets=[64,128]'"


HEADER = """Using profiles profiles/local and workflow specific profile profiles/default for setting default arguments.

SNAKEMAKE
=========
  Date: 2026-11-26 22:39:43
  Snakemake version: 9.27.1
  Command: snakemake --config experiment=custom data="/nowhere"
  Config file(s): []

Building DAG of jobs...

"""


@pytest.mark.parametrize("header", ["Using profile profiles/local\n\n", HEADER])
@pytest.mark.parametrize(
    "message",
    [
        "/nowhere/questions.jsonl: no such file. Fix: name a folder with questions.jsonl",
        "experiment custom: no folder given. Fix: secateur evaluate DIR --experiment custom",
        "conf/lm/x.yaml: 2 problems\n  window: must be positive\n  kind: unknown. Fix: correct it",
    ],
)
def test_what_stops_a_run_before_its_jobs_stands_by_itself_without_snakemakes_header(logged, header, message):
    assert failure(f"{header}{message}\n") == message
