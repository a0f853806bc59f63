"""Files that hold no whole model: refused with what they are, never loaded with random weights."""

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import gguf
import numpy as np
import pytest
import transformers
from safetensors.torch import load_file, save_file
from tests.support.tiny_models import tiny_network, tiny_tokenizer

from secateur.core.errors import SecateurError
from secateur.library.options import chosen
from secateur.models.encoders import sentence_transformer
from secateur.models.reader import load
from secateur.ranking.rerankers import cross_encoder

SMOLLM2 = chosen("lm", "smollm2")
WEIGHTS = "model.safetensors"


def loaded(address: Path, cache: Path, window: int = 64):
    return load(dataclasses.replace(SMOLLM2, model=str(address), window=window), cache)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A whole model."""
    path = tmp_path / "model"
    tiny_network("llama", 400).save_pretrained(path)
    tiny_tokenizer(True, False).save_pretrained(path)
    return path


def write_gguf(path: Path, architecture: str = "llama", split: tuple[int, int] | None = None) -> Path:
    """A GGUF file of one tensor."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_head_count(4)
    if split:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    writer.add_tensor("token_embd.weight", np.zeros((16, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def change(folder: Path, edit) -> None:
    """Write the weights of a folder anew, edited."""
    weights = edit(load_file(folder / WEIGHTS))
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def configured(folder: Path, **changes) -> None:
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))


def test_a_whole_folder_is_loaded_and_checked(folder, tmp_path):
    assert loaded(folder, tmp_path / "cache").name == str(folder)
    assert len(list((tmp_path / "cache/checked").iterdir())) == 1


def without(name: str):
    return lambda weights: {key: value for key, value in weights.items() if name not in key}


def bert(kind: str, folder: Path, **changes) -> Path:
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=400, num_labels=1, **sizes, **changes)
    getattr(transformers, kind)(config).save_pretrained(folder)
    tiny_tokenizer(False, False).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (without(".layers.1."), r"9 of the model's weights are not in its files"),
        (lambda w: {f"base.{k}": v for k, v in w.items()}, r"weights are not in its files.*\d+ weights of its files are not read"),
        (without("lm_head"), r"1 of the model's weights .*lm_head"),
        (without("embed_tokens"), r"1 of the model's weights .*embed_tokens"),
        (lambda w: {k: v[:300] if "lm_head" in k else v for k, v in w.items()}, r"lm_head"),
    ],
    ids=["layer", "prefix", "head", "embeddings", "shape"],
)  # fmt: skip
def test_weights_that_are_not_in_the_files_are_refused(folder, tmp_path, edit, message):
    change(folder, edit)
    with pytest.raises(SecateurError, match=message):
        loaded(folder, tmp_path / "cache")


def test_an_encoder_is_no_reader(tmp_path):
    with pytest.raises(SecateurError, match=r"weights are not in its files.*cls\.predictions"):
        loaded(bert("BertModel", tmp_path / "bert", is_decoder=True), tmp_path / "cache")


@pytest.mark.parametrize("name", [WEIGHTS, "tokenizer.json", "config.json"])
def test_a_file_that_git_lfs_has_not_fetched_is_named(folder, tmp_path, name):
    (folder / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    with pytest.raises(SecateurError, match=rf"{name} is a Git LFS pointer. Fix: git lfs pull"):
        loaded(folder, tmp_path / "cache")


def test_weights_that_are_cut_off_and_a_model_type_that_transformers_does_not_know_are_refused_by_address(
    folder, tmp_path
):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:5000])
    with pytest.raises(SecateurError, match=r"lm.model .*model: cannot be loaded as a causal language model"):
        loaded(folder, tmp_path / "cache")
    (folder / WEIGHTS).write_bytes(whole)
    configured(folder, model_type="lama9", architectures=["Lama9"])
    with pytest.raises(SecateurError, match=r"cannot be loaded as a causal language model .*lama9"):
        loaded(folder, tmp_path / "cache")


@pytest.mark.parametrize("tokenizer", ["none", "slow"])
def test_a_folder_without_a_fast_tokenizer_is_refused(folder, tmp_path, tokenizer):
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    if tokenizer == "slow":
        transformers.ByT5Tokenizer().save_pretrained(folder)
    with pytest.raises(SecateurError, match="no fast form" if tokenizer == "slow" else "cannot be loaded"):
        loaded(folder, tmp_path / "cache")


@pytest.mark.parametrize("number", [0, 1])
def test_a_split_of_a_gguf_file_is_recognised(tmp_path, number):
    path = write_gguf(tmp_path / f"m-0000{number + 1}-of-00002.gguf", split=(number, 2))
    with pytest.raises(SecateurError, match=r"one of 2 splits. Fix: llama-gguf-split --merge"):
        loaded(path, tmp_path / "cache")
    assert not (tmp_path / "cache/models").exists() or not list((tmp_path / "cache/models").iterdir())


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        ("whole.gguf", slice(None), "cannot be loaded as a causal language model .*nosuch"),
        ("cut.gguf", slice(-100), "cut off or damaged"),
        ("head.gguf", slice(40), "cut off or damaged"),
        ("page.gguf", b"<!doctype html><title>404</title>", "no GGUF file"),
        ("empty.GGUF", b"", "no GGUF file"),
        ("lfs.GGUF", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "Git LFS pointer"),
    ],
)
def test_a_gguf_file_that_is_something_else_is_named(tmp_path, name, part, message):
    whole = write_gguf(tmp_path / "whole.gguf", "nosuch").read_bytes()
    (tmp_path / name).write_bytes(whole[part] if isinstance(part, slice) else part)
    with pytest.raises(SecateurError, match=message):
        loaded(tmp_path / name, tmp_path / "cache")


def test_a_window_beyond_the_original_context_is_refused_where_angles_change(folder, tmp_path):
    configured(folder, rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4})
    assert loaded(folder, tmp_path / "cache", window=512)
    with pytest.raises(SecateurError, match=r"rope_type dynamic .*exceeds 8192 tokens, .*Fix: lm.window=8192"):
        loaded(folder, tmp_path / "cache", window=8193)


@pytest.mark.parametrize("gone", ["attention.self.query", "word_embeddings"])
def test_an_embedder_without_its_weights_is_refused(tmp_path, gone):
    folder = bert("BertModel", tmp_path / "embedder")
    change(folder, without(gone))
    with pytest.raises(SecateurError, match=rf"embedder.model .*not in its files.*{gone}"):
        sentence_transformer(SimpleNamespace(model=str(folder), max_tokens=32), "cpu")


def test_an_embedder_needs_no_pooler_for_the_mean_of_tokens(tmp_path):
    folder = bert("BertModel", tmp_path / "embedder")
    change(folder, without("pooler"))
    assert sentence_transformer(SimpleNamespace(model=str(folder), max_tokens=32), "cpu").max_seq_length == 32


@pytest.mark.parametrize("gone", ["classifier", "pooler", "attention.self.query"])
def test_a_cross_encoder_without_its_weights_is_refused(tmp_path, gone):
    folder = bert("BertForSequenceClassification", tmp_path / "crossing")
    assert cross_encoder._loaded(SimpleNamespace(model=str(folder), max_tokens=32), "cpu")
    change(folder, without(gone))
    with pytest.raises(SecateurError, match=rf"reranker.spec.model .*not in its files.*{gone}"):
        cross_encoder._loaded(SimpleNamespace(model=str(folder), max_tokens=32), "cpu")
