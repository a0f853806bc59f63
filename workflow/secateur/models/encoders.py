"""What runs a sentence-transformers model: OpenVINO on a CPU, PyTorch on a GPU. Both give unit vectors in fp32.

A string that is longer than the window is read in parts, and its vector is their mean, weighted by their tokens.

A vector is a function of its string alone, to the bit: strings are padded to a width of their own and batched with none
of another, and of one width a row's sums hang on neither the other rows nor on how many there are.
"""

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import file_digest, remade, whole, write_json
from secateur.models.kernels import ROWS, steady
from secateur.models.locate import locate

__all__ = ["PARTS", "STEP", "Encode", "batches", "encoder", "engine", "sentence_transformer", "widths"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # n strings -> (n, d)
Ids = list[list[int]]  # the tokens of parts of strings
PARTS = "mean of parts"  # what becomes of a string beyond the window
SEAL = "model.json"  # what the files of a converted model hold, beside them
PRECISION = {"openvino": "f32", "openvino_bf16": "bf16"}  # of what OpenVINO computes, by engine
STEP = ROWS  # widths are multiples of it, so that no product has fewer rows


def encoder(cfg, cache: Path) -> Encode:
    """The encoder of an embedder option, on the engine `engine` names."""
    precision = PRECISION.get(engine(cfg))
    return _openvino(cfg, cache, precision) if precision else _torch(cfg)


def engine(cfg) -> str:
    """openvino, openvino_bf16, torch, or cuda: a GPU takes PyTorch whatever the option says. Asked without importing
    torch."""
    return "cuda" if shutil.which("nvidia-smi") else cfg.engine


def sentence_transformer(cfg, device: str):
    """The model as sentence-transformers loads it, with the option's window."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(locate(cfg.model), device=device)
    model.max_seq_length = cfg.max_tokens
    return model


def _torch(cfg) -> Encode:
    steady()
    import torch

    torch.set_num_threads(_threads())
    model = sentence_transformer(cfg, "cuda" if engine(cfg) == "cuda" and torch.cuda.is_available() else "cpu")
    rows = cfg.batch if model.device.type == "cuda" else 0  # a GPU's kernel hangs on the number of rows: always as many

    def tokens(texts: list[str]) -> tuple[Ids, list[int]]:
        found = model.tokenizer(texts, truncation=True, max_length=cfg.max_tokens, return_overflowing_tokens=True)
        return found["input_ids"], found["overflow_to_sample_mapping"]

    def forward(ids: Ids, width: int) -> NDArray[np.float32]:
        full = {"input_ids": ids + ids[-1:] * (rows - len(ids))}
        padded = model.tokenizer.pad(full, padding="max_length", max_length=width, return_tensors="pt")
        with torch.inference_mode():
            return model(dict(padded.to(model.device)))["sentence_embedding"][: len(ids)].float().cpu().numpy()

    return lambda texts: _encoded(*tokens(list(texts)), cfg.max_tokens, lambda width: cfg.batch, forward)


def _threads() -> int:
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def _openvino(cfg, cache: Path, precision: str) -> Encode:
    """Twice PyTorch's rate at cosine .9999999 to it, and neither torch nor transformers is imported. In bfloat16, where the
    CPU multiplies that, half as fast again, at .9999."""
    import openvino
    from tokenizers import Tokenizer

    settings = {"INFERENCE_NUM_THREADS": _threads(), "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision}
    model = remade(
        cache / "model.xml",
        lambda saved: openvino.Core().compile_model(whole(saved, saved.with_name(SEAL)), "CPU", settings),
        lambda saved: _convert(cfg, saved),
    )
    tokenizer = Tokenizer.from_file(str(Path(locate(cfg.model)) / "tokenizer.json"))
    tokenizer.enable_truncation(cfg.max_tokens)
    tokenizer.no_padding()

    def forward(ids: Ids, width: int) -> NDArray[np.float32]:
        mask = np.arange(width) < np.array([len(one) for one in ids])[:, None]
        tokens = np.zeros(mask.shape, np.int64)
        tokens[mask] = np.concatenate(ids)
        return model([tokens, mask.astype(np.int64)])[0].copy()  # the next run writes into the same memory

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [[whole, *whole.overflowing] for whole in tokenizer.encode_batch_fast(list(texts))]
        ids, owners = [part.ids for own in parts for part in own], [n for n, own in enumerate(parts) for _ in own]
        return _encoded(ids, owners, cfg.max_tokens, lambda width: cfg.batch_tokens // width, forward)

    return encode


def _encoded(
    ids: Ids, owners: list[int], most: int, rows: Callable[[int], int], forward: Callable[[Ids, int], NDArray]
) -> NDArray:
    """(n, d) unit vectors of n strings. ids: of their parts, owners: whose each is, rising; rows: parts of a width that
    are run at once; forward: runs them."""
    lengths = np.array([len(one) for one in ids])
    wide = widths(lengths, most)
    together = list(batches(wide, rows))
    vectors = np.concatenate([forward([ids[n] for n in part], int(wide[part[0]])) for part in together])
    vectors = _unit(vectors)[np.argsort(np.concatenate(together))]
    first, parts = np.unique(owners, return_index=True, return_counts=True)[1:]
    found, split = vectors[first], parts > 1
    if split.any():
        found[split] = _unit(np.add.reduceat(vectors * lengths[:, None].astype(np.float32), first)[split])
    return found


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def widths(lengths: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """What strings of these lengths are padded to: the next multiple of STEP, within the window.

    >>> widths(np.array([2, 4, 5, 29]), 30)
    array([ 4,  4,  8, 30])
    """
    return np.minimum(-(-lengths // STEP) * STEP, most)


def batches(wide: NDArray[np.int64], rows: Callable[[int], int]) -> Iterator[NDArray[np.int64]]:
    """Places by rising width, each batch of one width and at most so many rows; one at least."""
    for width in np.unique(wide):
        places, size = np.flatnonzero(wide == width), max(1, rows(int(width)))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _convert(cfg, saved: Path) -> None:
    """Trace the whole model, pooling included, once, and keep it beside its vectors; weights stay fp32."""
    sys.modules.setdefault("openvino_telemetry", None)  # the converter would report its use over the network
    import openvino
    import torch

    model = sentence_transformer(cfg, "cpu").eval()

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer, self.pooling = model[0].auto_model, model[1]

        def forward(self, input_ids, attention_mask):
            tokens = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return self.pooling({"token_embeddings": tokens, "attention_mask": attention_mask})["sentence_embedding"]

    example = (torch.ones((2, 8), dtype=torch.long), torch.ones((2, 8), dtype=torch.long))
    shape = openvino.PartialShape([-1, -1])
    converted = openvino.convert_model(Traced(), example_input=example, input=[shape, shape])
    saved.parent.mkdir(parents=True, exist_ok=True)
    temporary = saved.with_name(f".{secrets.token_hex(4)}.tmp.xml")  # nodes that share the folder share process numbers
    try:
        openvino.save_model(converted, temporary, compress_to_fp16=False)
        temporary.with_suffix(".bin").replace(saved.with_suffix(".bin"))  # the .xml last: it is what is looked for
        named = {saved.with_suffix(".bin"): saved.with_suffix(".bin"), saved: temporary}
        write_json(saved.with_name(SEAL), {path.name: file_digest(held) for path, held in named.items()})
        temporary.replace(saved)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_suffix(".bin").unlink(missing_ok=True)
