"""What several of these tests ask for."""

import pytest
from tests.support.browser import chromium
from tests.support.planted import Served, run_served
from tests.support.project import Project, copy_project


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def smoke_cache(smoke, monkeypatch):
    """The caches of the smoke run: what it parsed and embedded is not parsed again."""
    monkeypatch.setenv("SECATEUR_CACHE", str(smoke.root / ".cache"))


@pytest.fixture(scope="session")
def served(once) -> Served:
    """A run over an endpoint that wants a key, one for all workers. Read only."""

    def make(folder) -> None:
        (folder / "said.txt").write_text(run_served(copy_project(folder / "clone"), folder))

    folder = once("served", make)
    return Served(Project(folder / "clone"), (folder / "said.txt").read_text())
