"""What several of these tests ask for."""

import pytest
from planted import Served, run_served


@pytest.fixture(scope="session")
def served(once, copy_project, project_at) -> Served:
    """A run over an endpoint that wants a key, one for all workers. Read only."""

    def make(folder) -> None:
        (folder / "said.txt").write_text(run_served(copy_project(folder / "clone"), folder))

    folder = once("served", make)
    return Served(project_at(folder / "clone"), (folder / "said.txt").read_text())
