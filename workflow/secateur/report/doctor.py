"""What a machine has and lacks."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from secateur.cluster.states import UNCONFIGURED
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
LEAST = 5e9  # bytes of disk for quickstart, its caches and the converted models
Check = tuple[str, bool, str]  # name, whether it is fine, what was found and what to do


def checks() -> Iterator[Check]:
    """Every check in turn."""
    yield (
        "python",
        sys.version_info >= (3, 11),
        f"{sys.version.split()[0]} at {sys.executable} (3.11 or later is needed)",
    )
    yield _packages()
    yield from (_model(group, name) for group, name in (("embedder", "minilm"), ("lm", "smollm2")))
    yield _mirror()
    yield _disk()
    yield _lock()
    yield _store()
    yield from _slurm()


def _packages() -> Check:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    return "packages", not missing, f"missing: {', '.join(missing)}. Fix: make setup" if missing else ", ".join(found)


def _model(group: str, name: str) -> Check:
    if name not in names(Path("conf"), group):
        return group, False, f"conf/{group}/{name}.yaml is not here. Fix: run in the root of the clone"
    address = option(Path("conf"), group, name).model
    try:
        package = address.partition(":")[2].partition("/")[0] or address
        where = locate(address) if address.startswith("package:") else version(package.replace("_", "-"))
    except (SecateurError, PackageNotFoundError) as error:
        return group, False, f"{address}: {error}. Fix: make setup"
    return group, True, f"{name}: {where}"


def _mirror() -> Check:
    known = os.environ.get("SECATEUR_MIRROR") or local(Path("conf")).mirror
    if not known:
        return "mirror", True, "none set: files come from their addresses (MIRROR=DIR asks a folder first)"
    there = Path(known).is_dir()
    return "mirror", there, known if there else f"{known} is no folder. Fix: MIRROR=DIR"


def _disk() -> Check:
    free = shutil.disk_usage(".").free
    return "disk", free >= LEAST, f"{free / 1e9:.0f} GB free here" + ("" if free >= LEAST else "; 5 GB are needed")


def _lock() -> Check:
    left = Path(".snakemake/locks").exists() and any(Path(".snakemake/locks").iterdir())
    fix = "a run is going on, or was killed. Fix: wait for it, or snakemake --unlock"
    return "lock", not left, fix if left else "none"


def _store() -> Check:
    uri = os.environ.get("MLFLOW_TRACKING_URI") or LOCAL
    try:
        check_store(uri)
    except sqlite3.Error as error:
        return "mlflow", False, f"{uri}: {error}. Fix: delete it; secateur track rebuilds it from results/ledger"
    return "mlflow", True, redacted(uri)


def _slurm() -> Iterator[Check]:
    """Nothing where there is no SLURM."""
    if not shutil.which("sbatch"):
        yield "slurm", True, "none here: jobs run on this machine"
        return
    asked = ["sbatch", "--test-only", "--wrap", "true"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    said = ((done.stderr or done.stdout).strip().splitlines() or ["a job would be taken"])[-1]
    if done.returncode and UNCONFIGURED.search(done.stderr):
        yield "slurm", True, "its programs are here and no cluster is: jobs run on this machine"
    elif done.returncode:
        yield (
            "slurm",
            False,
            f"{said}. Fix: wait until `scontrol ping` answers, or correct account and partition in profiles/slurm",
        )
    else:
        yield "slurm", True, said
