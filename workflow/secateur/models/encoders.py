"""Engines of a sentence-transformers model: OpenVINO on a CPU, PyTorch on a GPU. Both give float32 vectors of length one.

A string longer than the window is read in parts; its vector is the mean of theirs, weighted by tokens.

A vector is a function of its string alone, to the bit: each batch holds strings of one padded width, and at one width the
sums of a row depend neither on other rows nor on their number.
"""

import os
import secrets
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import file_digest, read_json, remade, whole, write_json
from secateur.core.errors import SecateurError
from secateur.core.threads import allowed
from secateur.models.admission import ADMITTED, positions
from secateur.models.hub import embedder_folder
from secateur.models.kernels import ROWS, gpu_expected, steady, usable
from secateur.models.marks import Marks, marks_of, textual
from secateur.models.prepare import loading, quiet, refuse_unaccounted

__all__ = ["PARTS", "STEP", "Encode", "batches", "device", "encoder", "engine", "sentence_transformer"]
__all__ += ["token_encoder", "widths"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # n strings -> (n, d)
Ids = list[list[int]]  # tokens of parts of strings
PARTS = "mean of parts"  # how strings beyond the window are read; part of the embedder's identity
PROBES = ["Who runs the Finch mill?", "THE WEIR AT LEÓN, built in 1902", "it stands by a river; see [1]", "mill"]
AGREES = {"openvino": 0.9999, "torch": 0.9999, "cuda": 0.999, "openvino_bf16": 0.999}  # least cosine, by engine
PRECISION = {"openvino": "f32", "openvino_bf16": "bf16"}  # OpenVINO's precision, by engine
# Widths are multiples of it: on a CPU so that no product has fewer rows than it needs, on a GPU so that batches are few.
STEP = {"cpu": ROWS, "cuda": 16}


@dataclass(frozen=True)
class _Model:
    """A loaded model.

    tokenizer: of texts, whose own marks are hidden; most: tokens of its window; rows(width): parts per batch; forward: runs
    a batch of one width, with vectors of strings, or of tokens; joined: the outputs of all batches as one array.
    """

    tokenizer: Any
    marks: Marks
    most: int
    step: int
    rows: Callable[[int], int]
    forward: Callable[[Ids, int], Any]
    joined: Callable[[Iterable[Any]], NDArray]


def encoder(cfg, cache: Path, prompts: Sequence[str] = ("",)) -> Encode:
    """The encoder of an embedder option, on the engine that `engine` names; checked once against sentence-transformers.

    prompts: texts that stand before others. Raises SecateurError where vectors differ from those of its own program.
    """
    model = _model(cfg, cache, pooled=True)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return _encoded(*_tokens(model, texts), model)

    if not (passed := cache / "agrees.json").is_file():
        whole = [
            text for text in (before + probe for before in {"", *prompts} for probe in PROBES) if _is_whole(text, model)
        ]
        admitted = {"model": cfg.model, "engine": engine(cfg), "window": cfg.max_tokens, "prompts": list(prompts)}
        write_json(passed, admitted | {"least_cosine": round(_least_cosine(cfg, encode, sorted(whole)), 7)})
    ADMITTED[cfg.model] = read_json(passed)
    return encode


def _is_whole(text: str, model: _Model) -> bool:
    return len(_tokens(model, [text])[0]) == 1


def _least_cosine(cfg, encode: Encode, texts: Sequence[str]) -> float:
    """The least cosine of the vectors of texts to those of sentence-transformers; it cuts longer ones."""
    if not texts:
        raise SecateurError(
            f"embedder.max_tokens {cfg.max_tokens}: too few for a word and the embedder's prompts, so that its vectors cannot be "
            "compared with those of sentence-transformers. Fix: a larger window, or shorter prompts."
        )
    ours, theirs = encode(texts), sentence_transformer(cfg, "cpu").encode(texts, prompt="", normalize_embeddings=True)
    least = float((ours * theirs).sum(1).min()) if ours.shape == theirs.shape else 0.0
    if not least >= AGREES[engine(cfg)]:
        raise SecateurError(
            f"embedder.model {cfg.model}: cosine {least:.4f} to the vectors of sentence-transformers (allowed: "
            f"{AGREES[engine(cfg)]} and more): its files ask for something that is not applied here. Fix: another model."
        )
    return least


def token_encoder(cfg, cache: Path) -> Callable[[Sequence[str]], list[NDArray[np.float32]]]:
    """A function of n strings: the vectors of each string's tokens, (tokens, d) of length one, without pooling.

    Special tokens are left out; a string without other tokens keeps them. Parts of a long string follow each other.
    """
    model = _model(cfg, cache, pooled=False)
    return lambda texts: _by_token(texts, model)


def _model(cfg, cache: Path, pooled: bool) -> _Model:
    precision = PRECISION.get(engine(cfg))
    return _openvino(cfg, cache, precision, pooled) if precision else _torch(cfg, pooled)


def engine(cfg) -> str:
    """openvino, openvino_bf16, torch, or cuda. A GPU uses PyTorch whatever the option says. Does not import torch."""
    return "cuda" if gpu_expected() else cfg.engine


def device(cfg) -> str:
    """cuda or cpu."""
    return "cuda" if engine(cfg) == "cuda" else "cpu"


def sentence_transformer(cfg, device: str):
    """The model loaded by sentence-transformers, with the option's window.

    Raises SecateurError where weights are missing. Mean and first-token pooling read no weights of a pooler.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer

    folder = embedder_folder(cfg.model)
    with loading(cfg.model, "sentence-transformers model", "embedder.model"):
        model = SentenceTransformer(folder, device=device)
    if network := getattr(model[0], "auto_model", None):  # static embeddings have none; their loader is strict
        refuse_unaccounted(network, cfg.model, "embedder.model", unused=("pooler.",), heads=False)
        _check_window(cfg, network.config)
    model.max_seq_length = cfg.max_tokens
    return model


def _check_window(cfg, network) -> None:
    """Raise SecateurError for a window beyond the model's positions: OpenVINO would read vectors of none."""
    room = positions(network)
    if room and cfg.max_tokens > room:
        raise SecateurError(
            f"embedder.max_tokens is {cfg.max_tokens}, {cfg.model} has {room} positions. Fix: embedder.max_tokens={room}"
        )


def _torch(cfg, pooled: bool) -> _Model:
    """PyTorch. On a GPU a batch is filled to a fixed number of rows, on which its kernels depend, and all are read at once."""
    steady()
    import torch
    from tokenizers import Tokenizer

    torch.set_num_threads(allowed())
    place = usable(device(cfg))
    model = sentence_transformer(cfg, place if torch.cuda.is_available() else "cpu")
    tokenizer, marks = _textual(Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str()), cfg.max_tokens)
    padding, filled = model.tokenizer.pad_token_id or 0, place == "cuda"

    def rows(width: int) -> int:
        return max(1, cfg.batch_tokens[place] // width)

    def forward(ids: Ids, width: int):
        mask = np.arange(width) < np.array([len(sequence) for sequence in ids])[:, None]
        tokens = np.where(mask, 0, padding)
        tokens[mask] = np.concatenate(ids)
        if filled:
            tokens, mask = (np.concatenate([x, np.repeat(x[-1:], rows(width) - len(ids), 0)]) for x in (tokens, mask))
        inputs = {"input_ids": tokens, "attention_mask": mask.astype(np.int64)}
        with torch.inference_mode():
            sent = {name: torch.from_numpy(x).to(model.device, non_blocking=True) for name, x in inputs.items()}
            return model(sent)["sentence_embedding" if pooled else "token_embeddings"][: len(ids)]

    def joined(arrays) -> NDArray[np.float32]:
        return torch.cat(list(arrays)).float().cpu().numpy()

    return _Model(tokenizer, marks, cfg.max_tokens, STEP[place], rows, forward, joined)


def _textual(tokenizer: Any, window: int) -> tuple[Any, Marks]:
    """A tokenizer of the parts of texts, and the marks that are text within them."""
    marks = marks_of(tokenizer)
    twin = textual(tokenizer, marks)
    twin.enable_truncation(window)
    twin.no_padding()
    return twin, marks


def _tokens(model: _Model, texts: Sequence[str]) -> tuple[Ids, list[int]]:
    """Tokens of the parts of strings, and the string of each part."""
    encoded = model.tokenizer.encode_batch_fast(list(map(model.marks.encodable, texts)))
    by_text = [[whole, *whole.overflowing] for whole in encoded]
    ids = [part.ids for pieces in by_text for part in pieces]
    return ids, [n for n, pieces in enumerate(by_text) for _ in pieces]


def _unobserved():
    """OpenVINO, without the statistics that each import sends to its makers, and the folder in HOME for them."""
    sys.modules.setdefault("openvino_telemetry", None)  # then it takes its own stub
    import openvino

    return openvino


def _openvino(cfg, cache: Path, precision: str, pooled: bool) -> _Model:
    """OpenVINO: twice PyTorch's rate at cosine .9999999 to it, without importing torch or transformers.

    In bfloat16, on CPUs that multiply it, 1.5 times as fast again, at cosine .9999.
    """
    from tokenizers import Tokenizer

    openvino = _unobserved()

    core = openvino.Core()
    if precision == "bf16" and "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        raise SecateurError(  # it would be emulated, and a vector would depend on its batch
            "embedder.engine=openvino_bf16: this CPU does not multiply bfloat16. Fix: embedder.engine=openvino"
        )
    settings = {"INFERENCE_NUM_THREADS": allowed(), "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision}
    model = remade(
        cache / ("model.xml" if pooled else "token_model.xml"),
        lambda saved: core.compile_model(whole(saved, _seal(saved)), "CPU", settings),
        lambda saved: _convert(cfg, saved, pooled),
    )
    file = Path(embedder_folder(cfg.model)) / "tokenizer.json"
    tokenizer, marks = _textual(Tokenizer.from_file(str(file)), cfg.max_tokens)

    def forward(ids: Ids, width: int) -> NDArray[np.float32]:
        mask = np.arange(width) < np.array([len(sequence) for sequence in ids])[:, None]
        tokens = np.zeros(mask.shape, np.int64)
        tokens[mask] = np.concatenate(ids)
        return model([tokens, mask.astype(np.int64)])[0].copy()  # the next run overwrites this memory

    def rows(width: int) -> int:
        return cfg.batch_tokens["cpu"] // width

    def joined(arrays) -> NDArray[np.float32]:
        return np.concatenate(list(arrays))

    return _Model(tokenizer, marks, cfg.max_tokens, STEP["cpu"], rows, forward, joined)


def _encoded(ids: Ids, owners: list[int], model: _Model) -> NDArray:
    """(n, d) vectors of length one of n strings. ids: tokens of their parts; owners: the string of each part, rising."""
    lengths = np.array([len(sequence) for sequence in ids])
    wide = widths(lengths, model.most, model.step)
    together = list(batches(wide, model.rows))
    vectors = model.joined(model.forward([ids[n] for n in part], int(wide[part[0]])) for part in together)
    vectors = _unit(vectors)[np.argsort(np.concatenate(together))]
    first, counts = np.unique(owners, return_index=True, return_counts=True)[1:]
    pooled = vectors[first]
    split = counts > 1
    if split.any():
        pooled[split] = _unit(np.add.reduceat(vectors * lengths[:, None].astype(np.float32), first)[split])
    return pooled


def _by_token(texts: Sequence[str], model: _Model) -> list[NDArray[np.float32]]:
    """(tokens, d) vectors of length one of each string."""
    ids, owners = _tokens(model, texts)
    special = set(model.tokenizer.encode("").ids)
    wide = widths(np.array([len(sequence) for sequence in ids]), model.most, model.step)
    token_vectors: list[Any] = [None] * len(ids)
    for batch in batches(wide, model.rows):
        vectors = model.joined([model.forward([ids[n] for n in batch], int(wide[batch[0]]))])
        for n, row in zip(batch, vectors, strict=True):
            kept = [place for place, token in enumerate(ids[n]) if token not in special] or range(len(ids[n]))
            token_vectors[n] = _unit(row[kept])
    starts = np.searchsorted(owners, range(len(texts) + 1))
    return [np.concatenate(token_vectors[start:end]) for start, end in zip(starts, starts[1:], strict=False)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def widths(lengths: NDArray[np.int64], most: int, step: int) -> NDArray[np.int64]:
    """Padded widths of strings: the next multiple of a step, within the window.

    >>> widths(np.array([2, 4, 5, 29]), 30, 4)
    array([ 4,  4,  8, 30])
    """
    return np.minimum(-(-lengths // step) * step, most)


def batches(wide: NDArray[np.int64], rows: Callable[[int], int]) -> Iterator[NDArray[np.int64]]:
    """Batches of indices by rising width: each of one width, with at most rows(width) rows and at least one."""
    for width in np.unique(wide):
        places = np.flatnonzero(wide == width)
        size = max(1, rows(int(width)))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _seal(saved: Path) -> Path:
    """The file with the digests of a converted model's files."""
    return saved.with_suffix(".json")


def _convert(cfg, saved: Path, pooled: bool) -> None:
    """Trace the model, with its pooling or without, once, and keep it beside its vectors; weights stay float32."""
    openvino = _unobserved()
    import torch
    from sentence_transformers.models import Normalize

    model = sentence_transformer(cfg, "cpu").eval()

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = model[0].auto_model
            after = (module for module in list(model)[1:] if not isinstance(module, Normalize))  # vectors are anyway
            self.after = torch.nn.Sequential(*after)

        def forward(self, input_ids, attention_mask):
            tokens = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            if not pooled:
                return tokens
            return self.after({"token_embeddings": tokens, "attention_mask": attention_mask})["sentence_embedding"]

    example = (torch.ones((2, 8), dtype=torch.long), torch.ones((2, 8), dtype=torch.long))
    shape = openvino.PartialShape([-1, -1])
    with quiet(), warnings.catch_warnings():  # the tracer warns of branches on shapes, and reads deprecated attributes
        warnings.simplefilter("ignore")
        converted = openvino.convert_model(Traced(), example_input=example, input=[shape, shape])
    saved.parent.mkdir(parents=True, exist_ok=True)
    temporary = saved.with_name(f".{secrets.token_hex(4)}.tmp.xml")  # process numbers are not unique on a shared folder
    try:
        openvino.save_model(converted, temporary, compress_to_fp16=False)
        temporary.with_suffix(".bin").replace(saved.with_suffix(".bin"))  # the .xml last: readers look for it
        named = {saved.with_suffix(".bin"): saved.with_suffix(".bin"), saved: temporary}
        write_json(_seal(saved), {path.name: file_digest(file) for path, file in named.items()})
        temporary.replace(saved)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_suffix(".bin").unlink(missing_ok=True)
