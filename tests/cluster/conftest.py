"""One cluster for all tests here; without SLURM's programs they are skipped, and say which are lacking."""

import os
import shutil
from collections.abc import Iterator

import pytest
from driving import Driven
from slurm import Cluster, cluster, lacking, until

AGE = 10  # seconds that the controller knows an ended job


@pytest.fixture(scope="session")
def slurm(tmp_path_factory) -> Iterator[Cluster]:
    """A cluster with accounting whose controller soon forgets."""
    if missing := lacking():
        pytest.skip(
            f"no SLURM here: {', '.join(missing)} not installed (apt install slurm-wlm slurmdbd mariadb-server)"
        )
    with cluster(tmp_path_factory.mktemp("cluster") / "s", min_job_age=AGE) as one:
        yield one


@pytest.fixture
def driven(slurm, smoke, copy_project, tmp_path) -> Iterator[Driven]:
    """A project in which nothing has run, with an account, and the converted models of the shared smoke run."""
    project = copy_project(tmp_path / "project")
    project.edit("profiles/slurm/config.yaml", "CHANGE_ME", "secateur")
    project.edit("profiles/slurm/config.yaml", "latency-wait: 60", "latency-wait: 5")
    cache = project.root / ".cache"
    for name in ("models", "tokenizers", "embeddings", "config"):
        if (smoke.root / ".cache" / name).exists():
            shutil.copytree(smoke.root / ".cache" / name, cache / name, copy_function=os.link)
    yield Driven(project.root, slurm)
    for job, *_ in slurm.jobs():
        slurm.ask("scancel", job, check=False)
    until(lambda: not slurm.jobs(), what="an empty queue")
