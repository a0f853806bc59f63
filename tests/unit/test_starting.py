"""`secateur new` writes files that work, `secateur list` says what there is."""

import sys

import pytest
from tests.support.project import ROOT, copy_project
from tests.support.refusals import message

from secateur.commands.starting import FILES, WHAT, Kind, What, listed, new


@pytest.mark.parametrize("kind", FILES)
def test_what_is_new_works_and_passes_its_test(tmp_path, kind):
    project = copy_project(tmp_path / "project")
    made = project.secateur("new", kind, "my_own")
    assert made.returncode == 0, made.stderr
    paths = [project.root / line for line in made.stdout.splitlines()[:-1]]
    assert all(path.is_file() for path in paths)
    assert made.stdout.splitlines()[-1].startswith("Next: secateur run ")
    if tests := [str(path) for path in paths if path.name.startswith("test_")]:
        done = project.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        assert (done.returncode, done.stdout[:1]) == (0, "."), done.stdout + done.stderr
    again = project.secateur("new", kind, "my_own")
    assert (again.returncode, "exists. Fix: another name" in again.stderr) == (2, True)


def test_a_name_that_is_none_or_that_of_our_rows_is_refused(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert "is no name" in message(new, Kind.ranker, "my ranker/x")
    for name in ("named_two_step", "lightrag", "pool_random"):
        assert f"'{name}' is a row of Secateur. Fix: another name" in message(new, Kind.ranker, name)


LISTED = {"rankers": "two_step", "metrics": "evidence_recall", "systems": "beam", "experiments": "quickstart"}


@pytest.mark.parametrize(("what", "line"), [*LISTED.items(), ("data", "toy_articles")])
def test_a_list_has_every_name_with_what_it_is(monkeypatch, capsys, what, line):
    monkeypatch.chdir(ROOT)
    listed(What(what))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(WHAT[what]())
    (found,) = [one for one in lines if one.split()[0] == line]
    assert len(found.split()) > 3, found
