"""What runs a sentence-transformers model: OpenVINO on a CPU, PyTorch on a GPU. Both give unit vectors in fp32."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.models.locate import locate

__all__ = ["Encode", "batches", "encoder", "engine", "sentence_transformer"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # n strings -> (n, d)


def encoder(cfg, cache: Path) -> Encode:
    """The encoder of an embedder option, on the engine `engine` names."""
    return _torch(cfg) if engine(cfg) != "openvino" else _openvino(cfg, cache)


def engine(cfg) -> str:
    """openvino, torch, or cuda: a GPU takes PyTorch whatever the option says. Asked without importing torch."""
    return "cuda" if shutil.which("nvidia-smi") else cfg.engine


def sentence_transformer(cfg, device: str):
    """The model as sentence-transformers loads it, cutting its input at the option's window."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(locate(cfg.model), device=device)
    model.max_seq_length = cfg.max_tokens
    return model


def _torch(cfg) -> Encode:
    import torch

    torch.set_num_threads(_threads())
    model = sentence_transformer(cfg, "cuda" if engine(cfg) == "cuda" and torch.cuda.is_available() else "cpu")
    options = {"batch_size": cfg.batch, "normalize_embeddings": True, "show_progress_bar": False}
    return lambda texts: model.encode(list(texts), convert_to_numpy=True, **options)


def _threads() -> int:
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def _openvino(cfg, cache: Path) -> Encode:
    """Twice PyTorch's rate at cosine .9999999 to it, and neither torch nor transformers is imported."""
    import openvino
    from tokenizers import Tokenizer

    saved = cache / "model.xml"
    if not saved.exists():
        _convert(cfg, saved)
    settings = {"INFERENCE_NUM_THREADS": _threads(), "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.Core().compile_model(saved, "CPU", settings)
    tokenizer = Tokenizer.from_file(str(Path(locate(cfg.model)) / "tokenizer.json"))
    tokenizer.enable_truncation(cfg.max_tokens)
    tokenizer.no_padding()

    def forward(ids: list[list[int]]) -> NDArray[np.float32]:
        lengths = np.array([len(one) for one in ids])
        mask = np.arange(lengths.max()) < lengths[:, None]
        tokens = np.zeros(mask.shape, np.int64)
        tokens[mask] = np.concatenate(ids)
        vectors = model([tokens, mask.astype(np.int64)])[0]
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts))]
        parts = list(batches(np.array([len(one) for one in ids]), cfg.batch_tokens))
        vectors = np.concatenate([forward([ids[n] for n in part]) for part in parts])
        return vectors[np.argsort(np.concatenate(parts))]

    return encode


def batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Places by rising length, cut where a batch, padded to its longest, would exceed `budget` tokens; one at least."""
    order, start = np.argsort(lengths, kind="stable"), 0
    while start < len(order):
        padded = lengths[order[start:]] * np.arange(1, len(order) - start + 1)  # rises, as both factors do
        stop = start + max(1, int(np.searchsorted(padded, budget, side="right")))
        yield order[start:stop]
        start = stop


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
    temporary = saved.with_name(f"{os.getpid()}.xml")
    openvino.save_model(converted, temporary, compress_to_fp16=False)
    temporary.with_suffix(".bin").replace(saved.with_suffix(".bin"))  # the .xml last: it is what is looked for
    temporary.replace(saved)
