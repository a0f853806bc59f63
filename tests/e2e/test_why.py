"""`secateur why`: of an experiment or of one file, which setting, file or module set off what would run."""

import pytest

GRAPH = "results/toy_documents_smoke/graph/openie.minilm.default.blind.default"


@pytest.fixture
def edited(rerun):
    """A finished run, of which two modules, a script and a comment were changed since."""
    library, added = rerun.root / "workflow/secateur", "\nADDED = 1\n"
    for path in (library / "graph/runs.py", library / "contexts/pack.py", rerun.root / "scripts/describe_dataset.py"):
        path.write_text(path.read_text(encoding="utf-8") + added)
    path = library / "evaluation/evidence.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# a remark\n")
    return rerun


def test_the_module_that_changed_is_named(edited):
    said = edited.secateur("why", "smoke")
    assert said.returncode == 0, said.stderr
    causes = [line.strip() for line in said.stdout.splitlines() if line.startswith("  its code changed")]
    assert set(causes) == {
        "its code changed: secateur.graph.runs",
        "its code changed: secateur.contexts.pack",
        "its code changed: scripts/describe_dataset.py",
    }


@pytest.mark.slow
def test_a_file_a_folder_and_an_experiment_can_be_asked_about(edited):
    for target in (f"{GRAPH}/edges.parquet", GRAPH):
        said = edited.secateur("why", target)
        assert said.returncode == 0, said.stderr
        assert f"{target}: " in said.stdout
        assert "its code changed: secateur.graph.runs\n" in said.stdout
        assert "secateur.contexts.pack" not in said.stdout
    passages = edited.secateur("why", "results/toy_documents_smoke/passages/passages.parquet")
    assert "nothing to do" in passages.stdout
    page = edited.secateur("why", "results/experiments/smoke/report.html")
    assert "secateur.contexts.pack" in page.stdout


def test_of_a_file_that_no_rule_makes_that_is_said(smoke):
    said = smoke.secateur("why", "results/toy_documents_smoke/grahp/openie.minilm.default.blind.default")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(
        "results/toy_documents_smoke/grahp/openie.minilm.default.blind.default/run.json: no rule"
    )
    said = smoke.secateur("why", "results/experiments/smok/report.html")
    assert (said.returncode, said.stdout) == (2, "")
    assert "did you mean 'smoke'?" in said.stderr


def test_where_an_earlier_state_of_the_code_was_not_noted_the_change_is_said_alone(edited):
    for path in (edited.root / ".cache/code").rglob("*.json"):
        path.unlink()
    said = edited.secateur("why", GRAPH)
    assert "  its code changed\n" in said.stdout
