"""Checks what a run needs: packages, models, data, disk, locks, MLflow, SLURM; and what one experiment needs."""

import json
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
from urllib.parse import urlsplit

from secateur.cluster.leftovers import remembered
from secateur.cluster.states import UNCONFIGURED
from secateur.cluster.submit import PATIENCE_AT_LIMIT, patience_with
from secateur.commands.processes import drivers
from secateur.config.compose import local, names, option
from secateur.core.errors import SecateurError, absent
from secateur.core.redaction import redacted
from secateur.datasets.loaders import reads_folder
from secateur.datasets.registry import load_registry
from secateur.models.hub import cached, is_hub_id
from secateur.models.locate import locate
from secateur.planning.foretold import load_prices, needs
from secateur.planning.plan import variants
from secateur.planning.sizes import Data
from secateur.planning.sources import listed_files
from secateur.stage.tracking import LOCAL, check_store

__all__ = ["checks", "checks_of"]

PACKAGES = ("snakemake", "hydra-core", "polars", "torch", "transformers", "sentence-transformers", "mlflow")
INDEX = ("faiss-gpu", "faiss-cpu")  # one of them
KEYS = ("SECATEUR_API_KEY", "OPENAI_API_KEY")
SPACE = 5e9  # bytes of disk for quickstart, its caches and the converted models
Check = tuple[str, bool, str]  # name, whether it passes, what is there and how to fix it


def checks() -> Iterator[Check]:
    """Runs all checks."""
    version_text = f"{sys.version.split()[0]} at {sys.executable} (3.11 or later is needed)"
    yield "python", sys.version_info >= (3, 11), version_text
    yield _packages()
    if shutil.which("nvidia-smi"):
        yield _works_on_gpu()
    for group, name in (("embedder", "minilm"), ("lm", "smollm2")):
        if name in names(Path("conf"), group):
            yield _weights(f"{group}.{name}", option(Path("conf"), group, name).model)
        else:
            yield "model", False, f"conf/{group}/{name}.yaml: no such file. Fix: change to the root of the clone"
    yield _mirror()
    yield _disk()
    yield _lock()
    yield _store()
    yield _slurm()


def checks_of(experiment: str, overrides: tuple[str, ...]) -> Iterator[Check]:
    """What this machine lacks of an experiment: models, a GPU, keys, endpoints, files, packages of other systems."""
    conf = Path("conf")
    planned = variants(conf, experiment, overrides)
    prices = load_prices(conf)
    wanted = needs(conf, planned, Data(conf, overrides), prices, overrides)
    for name, address in wanted.models.items():
        yield _weights(name, address)
        if (weights := prices.weights.get(address)) and name.startswith("lm."):
            yield _gpu(name, weights["gpu_gb"])
    if remote := [url for url in wanted.endpoints if not _is_local(url)]:
        keyed = any(os.environ.get(name) for name in KEYS)
        fix = "" if keyed else f". Fix: export {' or '.join(KEYS)}"
        yield "key", keyed, f"for {', '.join(remote)}: {'set' if keyed else 'none'}{fix}"
    yield from (_endpoint(url) for url in wanted.endpoints if _is_local(url))
    named = dict.fromkeys((group, getattr(variant, group)) for variant in planned for group in ("corpus", "dataset"))
    specs = [option(conf, *name, overrides) for name in named]
    yield from map(_file, dict.fromkeys(path for spec in specs if not reads_folder(spec.format) for path in spec.files))
    peers = dict.fromkeys(variant["peer"] for variant in planned if variant["family"] == "peer")
    for environment in dict.fromkeys(option(conf, "peer", name, overrides).environment for name in peers):
        if environment:
            there = any(Path("results/peers").glob(f"{environment}/*"))
            yield "peer", True, f"{environment}: {'installed' if there else 'prepare_peer will install it, with pip'}"


def _weights(name: str, address: str) -> Check:
    """Whether the weights of an option are here."""
    if is_hub_id(address):
        there = cached(address)
        fix = f"not in the local cache. Fix: hf download {address}"
        fix += ", or HF_HUB_OFFLINE=0 make run ..." if name.startswith("lm.") else ""
        return "model", there, f"{name}: {address} {'is in the local cache' if there else fix}{_admitted(address)}"
    try:
        package = address.partition(":")[2].partition("/")[0]
        there = locate(address) if ":" not in address or address.startswith("package:") else version(package)
    except (SecateurError, PackageNotFoundError) as error:
        return "model", False, f"{name}: {error}. Fix: make setup, or docs/data.md"
    return "model", True, f"{name}: {there}{_admitted(address)}"


def _admitted(address: str) -> str:
    """What was admitted of a model when it was first loaded here; empty for one that was not."""
    cache = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
    notes = [*cache.glob("checked/*"), *cache.glob("embeddings/*/agrees.json")]
    read = (json.loads(note.read_text(encoding="utf-8")) for note in notes if note.read_text().startswith("{"))
    admitted = next((record for record in read if record.pop("model") == address), {})
    return "".join(
        f"; {key.replace('_', ' ')} {value}" for key, value in admitted.items() if value not in (None, [], ["", ""])
    )


def _gpu(name: str, needed: float) -> Check:
    """Whether a GPU here has the memory that a model needs. On a cluster this may be the wrong machine to ask."""
    import torch

    if not torch.cuda.is_available():
        text = "none here; on this machine the jobs would compute on the CPU, for days. Fix: PROFILE=slurm, or another reader"
        return "gpu", False, f"{name} needs {needed:g} GB: {text}"
    memory = torch.cuda.get_device_properties(0).total_memory / 1e9
    return "gpu", memory >= needed, f"{name} needs {needed:g} GB, {torch.cuda.get_device_name(0)} has {memory:.0f} GB"


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _endpoint(url: str) -> Check:
    """Whether a server listens at a local address."""
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname, address.port or 80), timeout=1):
            return "endpoint", True, f"{url}: a server listens"
    except OSError as error:
        text = f"{url}: no server ({error.strerror or error}). Fix: start it, or set its option's url"
        return "endpoint", False, text


def _file(name: str) -> Check:
    """Where a data file comes from."""
    path = Path(listed_files([name])[0])
    if path.exists() or path.name != name:
        return "file", path.exists(), f"{path}" + ("" if path.exists() else ": no such file. Fix: correct `files`")
    entry, mirror = (
        load_registry(Path("data/registry")).get(name),
        os.environ.get("SECATEUR_MIRROR") or local(Path("conf")).mirror,
    )
    if entry is None:
        return "file", False, f"{name}: not in data/registry. Fix: correct `files`"
    if mirror and any((Path(mirror) / copy).is_file() for copy in (name, f"{name}.gz")):
        return "file", True, f"{name}: in {mirror}"
    if entry.url is None:
        return "file", False, f"{name}: has no address. Fix: MIRROR=DIR with a folder that has it"
    if entry.sha256 is None:
        text = "no checksum is registered: the first fetch prints it and stops. Fix: enter it in data/registry"
        return "file", False, f"{name}: {text}"
    return "file", True, f"{name}: will be fetched from {urlsplit(entry.url).hostname}"


def _packages() -> Check:
    installed, missing = [], []
    for name in (*PACKAGES, *INDEX):
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if {*INDEX} - {*missing}:
        missing = [name for name in missing if name not in INDEX]
    if missing:
        text = f"missing: {', '.join(missing)}. Fix: pip install 'secateur[pipeline]'; in a clone, make setup"
        return "packages", False, text
    return "packages", True, ", ".join(installed)


def _works_on_gpu() -> Check:
    """A forward pass by PyTorch, and a search and a k-means by faiss, each on the GPU."""
    import torch

    if not torch.cuda.is_available():
        build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "a build for CPUs"
        return "gpu", False, f"PyTorch {torch.__version__} ({build}) sees none. Fix: envs/gpu.yaml, or a newer driver"
    vectors = torch.nn.functional.normalize(torch.randn(2000, 64, generator=torch.Generator().manual_seed(0)), dim=1)
    try:
        layer = torch.nn.TransformerEncoderLayer(64, 4, batch_first=True, device="cuda")
        finite = bool(layer(vectors[None].cuda()).isfinite().all())
    except RuntimeError as error:
        return "gpu", False, f"PyTorch {torch.__version__}: {str(error).splitlines()[0]}. Fix: a driver for this build"
    name = (
        f"{torch.cuda.get_device_name()}, {torch.cuda.mem_get_info()[0] / 1e9:.0f} GB free, CUDA {torch.version.cuda}"
    )
    if not finite:
        return "gpu", False, f"{name}: a forward pass gives numbers that are not finite. Fix: another card"
    try:
        import faiss
    except ModuleNotFoundError as error:
        return "gpu", True, f"{name}; {absent(error)}"
    if not faiss.get_num_gpus():
        text = "faiss has no GPU: indices and k-means run on the CPU (requirements/lock-gpu.txt has it)"
        return "gpu", True, f"{name}; {text}"
    index = faiss.index_cpu_to_all_gpus(faiss.IndexFlatIP(64))
    index.add(vectors.numpy())
    is_exact = (index.search(vectors[:50].numpy(), 1)[1].ravel() == range(50)).all()
    kmeans = faiss.Kmeans(64, 8, niter=5, seed=1, gpu=True)
    kmeans.train(vectors.numpy())
    return "gpu", bool(is_exact) and kmeans.centroids.shape == (8, 64), f"{name}; faiss searches and clusters on it"


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
