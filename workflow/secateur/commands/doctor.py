"""Checks what a run needs: packages, models, data, disk, locks, MLflow, SLURM."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from secateur.cluster.leftovers import remembered
from secateur.cluster.states import UNCONFIGURED
from secateur.cluster.submit import PATIENCE_AT_LIMIT, patience_with
from secateur.commands.processes import drivers
from secateur.config.compose import local, names, option
from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted
from secateur.models.locate import locate
from secateur.report.tracking import LOCAL, check_store

__all__ = ["checks"]

PACKAGES = (
    "snakemake",
    "hydra-core",
    "polars",
    "torch",
    "transformers",
    "sentence-transformers",
    "faiss-cpu",
    "mlflow",
)
SPACE = 5e9  # bytes of disk for quickstart, its caches and the converted models
Check = tuple[str, bool, str]  # name, whether it passes, what is there and how to fix it


def checks() -> Iterator[Check]:
    """Runs all checks."""
    version_text = f"{sys.version.split()[0]} at {sys.executable} (3.11 or later is needed)"
    yield "python", sys.version_info >= (3, 11), version_text
    yield _packages()
    yield from (_model(group, name) for group, name in (("embedder", "minilm"), ("lm", "smollm2")))
    yield _mirror()
    yield _disk()
    yield _lock()
    yield _store()
    yield _slurm()


def _packages() -> Check:
    installed, missing = [], []
    for name in PACKAGES:
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return (
            "packages",
            False,
            f"missing: {', '.join(missing)}. Fix: pip install 'secateur[pipeline]'; in a clone, make setup",
        )
    return "packages", True, ", ".join(installed)


def _model(group: str, name: str) -> Check:
    if name not in names(Path("conf"), group):
        return group, False, f"conf/{group}/{name}.yaml: no such file. Fix: change to the root of the clone"
    address = option(Path("conf"), group, name).model
    try:
        package = address.partition(":")[2].partition("/")[0] or address
        place = locate(address) if address.startswith("package:") else version(package.replace("_", "-"))
    except (SecateurError, PackageNotFoundError) as error:
        return group, False, f"{address}: {error}. Fix: make setup"
    return group, True, f"{name}: {place}"


def _mirror() -> Check:
    mirror = os.environ.get("SECATEUR_MIRROR") or local(Path("conf")).mirror
    if not mirror:
        return "mirror", True, "none: data sets are downloaded (MIRROR=DIR names a folder with their files)"
    exists = Path(mirror).is_dir()
    return "mirror", exists, mirror if exists else f"{mirror}: no such folder. Fix: MIRROR=DIR"


def _disk() -> Check:
    free = shutil.disk_usage(".").free
    return "disk", free >= SPACE, f"{free / 1e9:.0f} GB free, {SPACE / 1e9:.0f} GB are needed"


def _lock() -> Check:
    """The lock of a run that is active is no fault. Of a driver on another machine nothing can be told from here."""
    if not any(Path(".snakemake/locks").glob("*")):
        return "lock", True, "none"
    if driving := drivers():
        return "lock", True, f"held by process {driving[0]}, which drives a run here"
    with suppress(SecateurError):
        if (last := remembered()).host != socket.gethostname():
            ended = "if it has ended, secateur resume --anyway"
            return "lock", True, f"held by process {last.process} on {last.host}, which may drive a run; {ended}"
    return "lock", False, "its run was killed: no process here drives one. Fix: secateur resume"


def _store() -> Check:
    uri = os.environ.get("MLFLOW_TRACKING_URI") or LOCAL
    try:
        check_store(uri)
    except sqlite3.Error as error:
        return "mlflow", False, f"{uri}: {error}. Fix: delete it; secateur track rebuilds it from results/ledger"
    return "mlflow", True, redacted(uri)


def _slurm() -> Check:
    if not shutil.which("sbatch"):
        return "slurm", True, "not installed: jobs run on this machine"
    command = ["sbatch", "--test-only", "--wrap", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode and UNCONFIGURED.search(done.stderr):
        return "slurm", True, "installed but not configured: jobs run on this machine"
    reply = ((done.stderr or done.stdout).strip().splitlines() or ["a test job was accepted"])[-1]
    if done.returncode and patience_with(done.stderr) == PATIENCE_AT_LIMIT:
        return "slurm", True, f"{reply}. Jobs wait until others end"
    if done.returncode:
        fix = "wait until `scontrol ping` answers, or correct account and partition in profiles/slurm"
        return "slurm", False, f"{reply}. Fix: {fix}"
    return "slurm", True, reply
