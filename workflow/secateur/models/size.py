"""The memory that a model takes, from the headers of its weights, before they are loaded."""

import json
from math import prod
from pathlib import Path

from secateur.core.errors import SecateurError

__all__ = ["BYTES", "fitting_pack", "parameters", "refuse_too_large"]

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
ROOM = 0.8  # share of a GPU's free memory that weights may take: activations, keys and values need the rest
LOGITS = 0.5  # share of the memory beside the weights that the logits of one pass may take
STEP = 256  # tokens of a pass are a multiple of it
GB = 1e9


def parameters(address: str) -> int | None:
    """The parameters in a folder's safetensors, or in those that the local cache holds of a hub id; None without any."""
    folder = Path(address)
    if not folder.is_dir():
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.utils import HFValidationError

        try:
            settings = try_to_load_from_cache(address, "config.json")
        except HFValidationError:
            return None
        if not isinstance(settings, str):
            return None
        folder = Path(settings).parent
    return sum(map(_in_file, folder.glob("*.safetensors"))) or None


def _in_file(path: Path) -> int:
    """Parameters of one file: its header, as the format says, is a length of 8 bytes and so many bytes of JSON."""
    with path.open("rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def refuse_too_large(named: str, count: int | None, dtype: str, free: int, total: int) -> None:
    """Raise SecateurError for weights that do not fit in a GPU's free memory.

    named: the model, for the message; count: its parameters; free, total: bytes of the GPU.
    """
    need, room = (count or 0) * BYTES[dtype], ROOM * free
    if need <= room:
        return
    shared = " Other programs use the rest: run one job on this GPU at a time." if free < 0.9 * total else ""
    half = "bfloat16, which halves it; " if dtype == "float32" and need / 2 <= room else ""
    raise SecateurError(
        f"lm.model {named}: its weights need {need / GB:.1f} GB in {dtype}; of this GPU's {total / GB:.1f} GB, "
        f"{free / GB:.1f} are free.{shared} Fix: {half}a GPU with at least {need / ROOM / GB:.0f} GB free, or a model of "
        f"at most {room / BYTES[dtype] / GB:.1f} billion parameters."
    )


def fitting_pack(asked: int, vocabulary: int, dtype: str, beside: int) -> int:
    """Tokens of a forward pass: those asked for, or fewer where their logits would not fit.

    beside: bytes of the GPU without the model's weights. It is a function of the card, not of what is free, so that equal
    cards compute equal passes.

    >>> fitting_pack(8192, 152_064, "float16", 60 * 10**9), fitting_pack(8192, 152_064, "float16", 4 * 10**9)
    (8192, 6400)
    """
    most = int(LOGITS * beside / (vocabulary * BYTES[dtype]))
    return min(asked, max(STEP, most // STEP * STEP))
