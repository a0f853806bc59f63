"""Snakemake's rules, read in the process of the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from secateur.cluster import executor


@contextmanager
def read_rules(root: Path, experiment: str) -> Iterator:
    """The workflow of a copy of the project, as Snakemake reads it for an experiment.

    The Snakefile mends the SLURM plugin. Here it must not, since other tests of this process show the plugin's own faults.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    with pytest.MonkeyPatch.context() as patch, SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        patch.setattr(executor, "patch", lambda: None)
        patch.setattr("sys.argv", ["snakemake", "--dry-run"])
        yield api.workflow(
            ResourceSettings(cores=1),
            config_settings=ConfigSettings(config={"experiment": experiment}),
            snakefile=root / "Snakefile",
            workdir=root,
        )._workflow
