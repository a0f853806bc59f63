"""Token counts: word pieces for budgets, the answering model's tokens for prompt costs."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import remade, seal, whole, write_text
from secateur.models.hub import embedder_folder
from secateur.models.locate import locate
from secateur.models.prepare import gguf_file, is_gguf, weights_digest

__all__ = ["Counter", "lm_counter", "word_piece_counter"]

SEAL = ".sha256"  # digest of a tokenizer's file: a flipped bit may be another token


Counter = Callable[[Sequence[str]], NDArray[np.int64]]  # (n,) token counts of n texts, without special tokens


def _counter(tokenizer) -> Counter:
    def count(texts: Sequence[str]) -> NDArray[np.int64]:
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return np.array([len(e.ids) for e in encoded], np.int64)

    return count


@cache
def word_piece_counter(model: str) -> Counter:
    """Counter of the embedder's tokenizer.

    Word pieces never span white space or punctuation, so counts of parts joined by either add up.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(embedder_folder(model)) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return _counter(tokenizer)


@cache
def lm_counter(model: str, cache: Path) -> Counter:
    """Counter of a language model's tokenizer, from its GGUF file or folder; weights are not loaded.

    The tokenizer of a GGUF file is converted once, into cache/tokenizers/DIGEST. That takes ten seconds, a later read a
    tenth of a second.
    """
    from tokenizers import Tokenizer

    if not is_gguf(model):
        return _counter(_tokenizer(locate(model)))

    def convert(path: Path) -> None:
        with gguf_file(model) as file:
            write_text(path, _tokenizer(file.parent, gguf_file=file.name).to_str())
        seal(path.with_suffix(SEAL), [path])

    path = cache / "tokenizers" / f"{weights_digest(model, cache)}.json"
    return _counter(remade(path, lambda path: Tokenizer.from_file(str(whole(path, path.with_suffix(SEAL)))), convert))


def _tokenizer(folder: str | Path, **named: str):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, **named).backend_tokenizer
