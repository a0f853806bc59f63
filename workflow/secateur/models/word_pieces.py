"""Token counts: word pieces for budgets, the answering model's tokens for prompt costs."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import remade, seal, unsealed, whole, write_text
from secateur.models.hub import embedder_folder
from secateur.models.locate import locate
from secateur.models.marks import Rendered, marks_of, textual
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

    return _by_lines(count) if _splits_lines(twin) else count


LINE_END = re.compile(r"(?<=\S\n)(?=\S)")
LINES, LONG = 1 << 17, 500  # lines whose counts are remembered, and characters of one that is not


def _splits_lines(tokenizer) -> bool:
    """Whether no token has parts of two lines, where no other white space stands beside the line end.

    It holds for byte-level BPE with GPT-2's regular expression: bytes are merged within its matches, and a match ends at
    such a line end.
    """
    from tokenizers.models import BPE

    kinds = json.loads(tokenizer.pre_tokenizer.__getstate__()) if tokenizer.pre_tokenizer else {}
    pieces = kinds.get("pretokenizers", [kinds])
    added = tokenizer.get_added_tokens_decoder().values()
    return (
        isinstance(tokenizer.model, BPE)
        and not tokenizer.model.dropout
        and tokenizer.normalizer is None
        and [kind.get("type") for kind in pieces if kind.get("type") != "Digits"] == ["ByteLevel"]
        and pieces[-1].get("use_regex", False)
        and not pieces[-1]["add_prefix_space"]
        and not any(token.lstrip or "\n" in token.content for token in added)
    )


def _by_lines(count: Counter) -> Counter:
    """The same counts, each line counted once: a packer counts the same lines again in other texts."""

    def whole(line: str) -> int:
        return int(count([line])[0])

    short = lru_cache(LINES)(whole)

    def counted(texts: Sequence[str]) -> NDArray[np.int64]:
        if any(isinstance(text, Rendered) for text in texts):  # a template's marks count as control tokens
            return count(texts)
        lines = (LINE_END.split(text) for text in texts)
        return np.array([sum((short if len(line) < LONG else whole)(line) for line in of) for of in lines], np.int64)

    return counted


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
            tokenizer = _tokenizer(prepared)
        else:
            with gguf_file(model) as file:
                tokenizer = _tokenizer(file.parent, gguf_file=file.name)
        write_text(path, tokenizer.to_str())
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
