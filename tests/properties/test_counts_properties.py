"""Counting tokens line by line gives the count of the whole text."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, trainers

from secateur.models import word_pieces

TEXT = [
    "It cost 1200, or so.\n\nNo: 35!\n",
    "don't\n- a list\n- of\tthings\n",
    "东京 naïve \n  x\r\ny",
    "a.\nb?\n\n\nc",
]
GPT2 = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]


@cache
def tokenizer() -> Tokenizer:
    """GPT-2's pieces with many merges, across line ends too where the pieces allow it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(GPT2)
    trainer = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator(TEXT * 50, trainer)
    return made


parts = st.sampled_from(
    [
        "a",
        "No",
        ".",
        "!",
        "5",
        "12",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r",
        "\t",
        "\x0b",
        "\x1c",
        "\x85",
        "\u2028",
        "'s",
        "东",
        "é",
        "- ",
    ]
)


@settings(max_examples=600)
@given(st.lists(parts, max_size=14).map("".join))
def test_lines_add_up_to_the_text(text):
    whole = len(tokenizer().encode(text, add_special_tokens=False).ids)
    assert word_pieces._splits_lines(tokenizer())
    assert word_pieces._counter(tokenizer())([text, text]).tolist() == [whole, whole]


def pieces(tokenizer: Tokenizer) -> None:
    """Qwen's and Llama 3's: a mark and the line end after it are one piece."""
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s+", "isolated"), *GPT2[1:]]
    )


def spaced(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()


def unsplit(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def led(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)


def normal(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Strip()


def added(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken(".\nb")])


def greedy(tokenizer: Tokenizer) -> None:
    """A token that takes the white space before it."""
    tokenizer.add_tokens([AddedToken("of", lstrip=True)])


def whole(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([])


@pytest.mark.parametrize("change", [pieces, spaced, unsplit, led, normal, added, greedy, whole])
def test_another_tokenizer_counts_whole_texts(change):
    other = Tokenizer.from_str(tokenizer().to_str())
    change(other)
    assert not word_pieces._splits_lines(other)
    assert word_pieces._counter(other)(TEXT).tolist() == [len(other.encode(text).ids) for text in TEXT]
