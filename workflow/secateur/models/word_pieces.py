"""Token counts: word pieces for budgets, the answering model's tokens for prompt costs."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import remade, seal, unsealed, whole, write_text
from secateur.models.hub import embedder_folder
from secateur.models.locate import locate
from secateur.models.marks import marks_of, textual
from secateur.models.prepare import SEAL as CONVERTED
from secateur.models.prepare import gguf_file, is_gguf, weights_digest

__all__ = ["Counter", "lm_counter", "word_piece_counter"]

SEAL = ".sha256"  # digest of a tokenizer's file: a flipped bit may be another token


Counter = Callable[[Sequence[str]], NDArray[np.int64]]  # (n,) token counts of n texts, without special tokens


def _counter(tokenizer) -> Counter:
    marks = marks_of(tokenizer)
    twin = textual(tokenizer, marks)
    twin.no_truncation()
    twin.no_padding()

    def count(texts: Sequence[str]) -> NDArray[np.int64]:
        encoded = twin.encode_batch_fast(list(map(marks.encodable, texts)), add_special_tokens=False)
        return np.array([len(e.ids) for e in encoded], np.int64)

    return count


@cache
def word_piece_counter(model: str) -> Counter:
    """Counter of the embedder's tokenizer.

    Word pieces never span white space or punctuation, so counts of parts joined by either add up.
    """
    from tokenizers import Tokenizer

    return _counter(Tokenizer.from_file(str(Path(embedder_folder(model)) / "tokenizer.json")))


@cache
def lm_counter(model: str, cache: Path) -> Counter:
    """Counter of a language model's tokenizer, from its GGUF file or folder; weights are not loaded.

    The tokenizer of a GGUF file is converted once, into cache/tokenizers/DIGEST. That takes five seconds, or one where the
    model has been converted; a later read takes a tenth.
    """
    from tokenizers import Tokenizer

    if not is_gguf(model):
        return _counter(_tokenizer(locate(model)))

    digest = weights_digest(model, cache)
    prepared, path = cache / "models" / digest, cache / "tokenizers" / f"{digest}.json"

    def convert(path: Path) -> None:
        if (prepared / CONVERTED).is_file() and not unsealed(prepared / CONVERTED):
            found = _tokenizer(prepared)
        else:
            with gguf_file(model) as file:
                found = _tokenizer(file.parent, gguf_file=file.name)
        write_text(path, found.to_str())
        seal(path.with_suffix(SEAL), [path])

    return _counter(remade(path, lambda path: Tokenizer.from_file(str(whole(path, path.with_suffix(SEAL)))), convert))


def _tokenizer(folder: str | Path, **named: str):
    """A tokenizer whose special tokens are all that its model takes for control tokens."""
    from tokenizers import AddedToken
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, **named)
    marks = marks_of(tokenizer.backend_tokenizer, str(tokenizer.chat_template)).ours
    tokenizer.backend_tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    return tokenizer.backend_tokenizer
