"""Fixtures that all tests share."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from secateur.models.http import KEYS
from secateur.models.kernels import steady
from tests.support.converted import convert, linked
from tests.support.project import ROOT, Project, copy_project
from tests.support.tiny_models import tiny_network, tiny_tokenizer

steady()  # before the first product of whichever test comes first
# No test depends on the clock: a busy machine is slow, not wrong.
settings.register_profile("any machine", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture
def project(tmp_path) -> Project:
    """A copy in which nothing has run."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="session")
def untouched(tmp_path_factory) -> Project:
    """The same for tests that write nothing."""
    return copy_project(tmp_path_factory.mktemp("untouched") / "project")


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """A function that makes a folder for all workers: the first one that asks for it fills it."""

    def made(name: str, make) -> Path:
        own = tmp_path_factory.getbasetemp()
        shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
        with FileLock(shared / f"{name}.lock"):
            if not (shared / f"{name}.done").exists():
                shutil.rmtree(shared / name, ignore_errors=True)  # of a worker that failed
                make(shared / name)
                (shared / f"{name}.done").touch()
        return shared / name

    return made


@pytest.fixture(scope="session")
def smoke(once, converted) -> Project:
    """A copy in which the experiment `smoke` has run, one for all workers. Read only; `rerun` is the one to edit.

    SMOKE_RUN: a folder in which `make smoke` has run. What is current there is taken over, what is not is made again.
    """

    def make(target: Path) -> None:
        project = copy_project(target)
        if "SMOKE_RUN" in os.environ:
            project.take_over(Path(os.environ["SMOKE_RUN"]))
        else:
            linked(converted, project.root / ".cache")
        done = project.snakemake("--profile", "profiles/smoke")
        assert done.returncode == 0, done.stdout + done.stderr

    return Project(once("smoke", make))


@pytest.fixture(scope="session")
def converted(once) -> Path:
    """A cache that holds converted weights alone: MiniLM's, and the tokenizer of SmolLM2. Read only."""
    return once("converted", convert)


@pytest.fixture
def fresh_cache(converted, tmp_path, monkeypatch) -> Path:
    """An empty cache of the test's own, but for converted weights, which take ten seconds to make."""
    cache = linked(converted, tmp_path / "cache")
    monkeypatch.setenv("SECATEUR_CACHE", str(cache))
    return cache


@pytest.fixture
def rerun(smoke, tmp_path) -> Project:
    """A copy of the finished smoke run, to edit and to run again."""
    return smoke.copied(tmp_path / "rerun")


@pytest.fixture
def bare(monkeypatch) -> None:
    """An environment without keys, proxies and certificates."""
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


# --- language models small enough to compare with one sequence at a time ---------------------------


@pytest.fixture(scope="session")
def tiny_lm():
    """A function that gives tiny models; one set of weights for each kind."""
    from functools import cache

    from secateur.models.causal import CausalLM

    known = cache(tiny_network)

    def make(kind: str = "llama", bos: bool = False, chat: bool = False, window: int = 256, pack: int = 64):
        tokenizer = tiny_tokenizer(bos, chat)
        return CausalLM(known(kind, 400), tokenizer, window, pack, f"tiny {kind}", kind)

    return make


@pytest.fixture(scope="session")
def ecs():
    """A function that gives the default `ecs` option with some keys changed."""
    from dataclasses import replace

    from secateur.config import compose

    return lambda **changes: replace(compose.option(ROOT / "conf", "ecs", "default"), **changes)


@pytest.fixture(scope="session")
def naive():
    """A function that reads one sequence by itself: float64 log-distributions (tokens, vocabulary) after each token."""
    import torch

    def distributions(lm, ids) -> np.ndarray:
        with torch.inference_mode():
            logits = lm.model(torch.tensor([list(ids)], device=lm.model.device)).logits[0].double().cpu().numpy()
        return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)

    return distributions
