"""The tutorial, done as it stands: its commands word for word and its edits, in the order of the page.

Its experiment is `quickstart` by name, over the smoke run's 20 passages and without a language model: what is slow there is
what the smoke run has computed. What cannot be run here is named, with the reason.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
NOT_RUN = {
    ". .venv/bin/activate": "there is no environment of its own",
    "make run EXPERIMENT=locomo OVERRIDES='experiment.systems=[rankers]'": "needs a download",
    "make run EXPERIMENT=locomo MIRROR=path/to/mirror": "takes hours",
    "secateur table locomo --published": "needs the line before",
    "secateur evaluate path/to/folder --name mine": "test_custom_dialogue.py runs it",
    "secateur table mine --metric evidence_recall": "needs the line before",
}
SMALL = {  # of conf/experiment/quickstart.yaml
    "datasets: [toy_articles, toy_dialogue]": "datasets: [toy_documents_smoke]",
    "systems: [bm25, minilm, title_zsum, two_step, named_two_step, requery_twice, secateur, graph_zsum, beam, rankers, ecs]": (
        "systems: [minilm, title_zsum, secateur, graph_zsum, beam]"
    ),
}


@pytest.fixture(scope="module")
def clone(smoke, tmp_path_factory):
    """A clone whose environment is set up, with a smaller `quickstart` and a folder of one's own."""
    project = smoke.copied(tmp_path_factory.mktemp("tutorial") / "project")
    for old, new in SMALL.items():
        project.edit("conf/experiment/quickstart.yaml", old, new)
    shutil.copytree(ROOT / "requirements", project.root / "requirements")
    shutil.copy2(ROOT / "Makefile", project.root)
    bin_folder, python = project.root / ".venv/bin", Path(sys.executable)
    bin_folder.mkdir(parents=True)
    command = f'#!/bin/sh\nexec {python} -c "from secateur.cli import main; main()" "$@"\n'
    (bin_folder / "secateur").write_text(command)
    (bin_folder / "secateur").chmod(0o755)
    for name in ("python", "snakemake"):
        (bin_folder / name).symlink_to(python.parent / (python.name if name == "python" else name))
    (project.root / ".venv/.ready").touch()
    shutil.copytree(ROOT / "data/toy/dialogue_smoke", project.root / "path/to/folder")
    return project


def given(project, line: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(project.root / ".venv/bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return project.run("bash", "-c", line, PATH=path)


@pytest.fixture(scope="module")
def done(clone) -> list[tuple[str, subprocess.CompletedProcess[str]]]:
    """Every command of the page that can be run with what it said, the page's edits made where they stand."""
    found = []
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S):
        if language == "yaml" and body.startswith("axes:"):
            path = clone.root / "conf/experiment/quickstart.yaml"
            path.write_text(re.sub(r"^axes:.*$", body.strip(), path.read_text(), flags=re.M))
        elif language == "yaml":
            (clone.root / "conf/assembly/short.yaml").write_text(body)
        elif language == "python":
            found.append((body, clone.run(sys.executable, "-c", body + "\nprint(rows.height)")))
        elif language == "sh":  # the smoke run's questions have names of their own
            lines = [line for line in body.splitlines() if line not in NOT_RUN]
            found += [(line, given(clone, line.replace("art-q28", "doc-q01"))) for line in lines]
    return found


def said(done, line: str) -> str:
    return next(one.stdout + one.stderr for known, one in done if known == line)


def test_every_command_of_the_page_succeeds_and_says_something(done):
    assert len(done) >= 13
    assert {line: one.stdout + one.stderr for line, one in done if one.returncode or not one.stdout.strip()} == {}


def test_what_is_not_run_stands_on_the_page():
    assert [line for line in NOT_RUN if line not in PAGE] == []


def test_a_run_ends_as_the_page_says(done):
    first = next(one for line, one in done if line == "make run")
    assert re.match(r"\d+ jobs to run; about \d+\.\d minutes of one core", first.stderr)
    places = [first.stdout.index(head) for head in ("What was found\n", "Next\n", "Report:\n")]
    assert places == sorted(places)
    assert first.stdout.splitlines()[-1] == "results/experiments/quickstart/report.html"


def test_a_second_run_says_what_the_page_quotes(clone, done):
    quoted = re.search(r"^no jobs in \d+ s: every file is as the last run left it$", PAGE, re.M)
    again = given(clone, "make run").stdout
    assert re.match(re.sub(r"\d+", r"\\d+", quoted[0]) + "\n", again), again
    assert "What was found\n" in again


def test_the_dry_run_names_the_setting_as_the_page_quotes_it(done):
    text = said(done, "snakemake -n --config experiment=quickstart 'overrides=[retriever.top_k=100]'")
    job, reason = re.search(r"^(Job \d+: Rank by the graph.*)\n(Reason: .*)$", PAGE, re.M).groups()
    job = re.sub(r"\d+", r"\\d+", re.escape(job).replace("toy_articles", "toy_documents_smoke"), count=1)
    assert re.search(f"^{job}$", text, re.M)
    assert re.search(".*".join(map(re.escape, reason.split(" ... "))), text)
    why = said(done, "secateur why quickstart --set retriever.top_k=100")
    assert "retriever.top_k was 200, is 100" in why


def test_the_new_forms_are_added_and_compared(done):
    assert "graph_zsum:short" in said(
        done, "secateur table quickstart --system graph_zsum:short --metric evidence_recall"
    )
    plan = said(done, "secateur plan quickstart")
    assert re.search(r"^assemble_contexts +10 ", plan, re.M)  # two forms of five systems: none is taken away
    assert not re.search(r"^(extract_triples|rank_by_graph|rank_passages) ", plan, re.M)
    assert "graph_zsum:short" in said(done, "secateur compare quickstart graph_zsum:short graph_zsum")


def test_a_folder_of_ones_own_is_checked_before_anything_runs(done):
    text = said(done, "secateur check path/to/folder")
    assert text.startswith("path/to/folder: dialogues\n")
    assert re.search(r"^  questions +3: 3 with evidence, 3 with an answer$", text, re.M)
