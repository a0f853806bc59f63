"""Embedders of other shapes than MiniLM: layers after the pooling, and folders that differ in one file."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

from secateur.core.errors import SecateurError
from secateur.models import encoders
from secateur.models.embedder import Embedder
from secateur.models.prompts import asked

TEXTS = ["the bears eat salmon", "a mill in leeds", "salmon"]
WIDTH, POSITIONS = 32, 64


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A random BERT with mean pooling, a dense layer of the same width, and unit vectors."""
    folder = tmp_path_factory.mktemp("tiny")
    words = sorted({word for text in TEXTS for word in text.split()})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n")
    torch.manual_seed(1)
    shape = {"hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=5 + len(words), max_position_embeddings=POSITIONS, **shape)).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    modules = [Transformer(str(folder), max_seq_length=POSITIONS), Pooling(WIDTH), Dense(WIDTH, WIDTH), Normalize()]
    SentenceTransformer(modules=modules).save(str(saved := tmp_path_factory.mktemp("saved") / "model"))
    return saved


def embedder(folder: Path, cache: Path, **changes) -> Embedder:
    both = {name: dict.fromkeys(("cpu", "cuda"), 16) for name in ("batch_tokens", "block")}
    base = {"model": str(folder), "dim": WIDTH, "max_tokens": POSITIONS, "engine": "openvino"}
    return Embedder(SimpleNamespace(**base | both | changes), cache)


@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_layers_after_the_pooling_are_read(tiny, tmp_path, engine):
    expected = SentenceTransformer(str(tiny), device="cpu").encode(TEXTS, normalize_embeddings=True)
    found = embedder(tiny, tmp_path, engine=engine).embed(TEXTS)
    np.testing.assert_allclose((found * expected).sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_a_window_beyond_the_models_positions_is_refused(tiny, tmp_path, engine):
    with pytest.raises(SecateurError, match=rf"max_tokens is 65, .* has {POSITIONS} positions"):
        embedder(tiny, tmp_path, engine=engine, max_tokens=65).embed(TEXTS)


def test_each_file_that_a_vector_depends_on_is_part_of_the_cache_key(tiny, tmp_path):
    copies = [tmp_path / name for name in ("same", "pooling", "dense", "tokenizer")]
    same, pooling, dense, tokenizer = (Path(shutil.copytree(tiny, copy)) for copy in copies)
    (config,) = pooling.glob("1_*/config.json")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"changed": True}))
    (weights,) = dense.glob("2_*/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    vocabulary = tokenizer / "tokenizer.json"
    vocabulary.write_text(vocabulary.read_text().replace('"mill"', '"kiln"'))
    identities = [embedder(folder, tmp_path).identity for folder in (tiny, same, pooling, dense, tokenizer)]
    assert identities[0] == identities[1]
    assert len(set(identities[1:])) == 4


def test_a_string_of_many_bytes_a_character_may_be_beyond_the_window(tiny, tmp_path):
    """Each of its characters is an unknown word, and tokens are counted, not characters."""
    assert embedder(tiny, tmp_path).split(["茶厂由周敏创办" * 9, "a mill"]) == 1


def _stated(tiny, tmp_path, **more) -> Path:
    folder = Path(shutil.copytree(tiny, tmp_path / "stated"))
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))
    return folder


@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_questions_and_passages_have_the_prompts_of_the_models_files_or_of_the_option(tiny, tmp_path, engine):
    folder = _stated(tiny, tmp_path, prompts={"query": "leeds ", "passage": "bears "})
    own = SentenceTransformer(str(folder), device="cpu")
    found = embedder(folder, tmp_path, engine=engine)
    for name, texts in (("query", asked(TEXTS)), ("passage", TEXTS)):
        expected = own.encode(TEXTS, prompt_name=name, normalize_embeddings=True)
        np.testing.assert_allclose((found.embed(texts) * expected).sum(1), 1, atol=1e-5)
    bare = embedder(folder, tmp_path, engine=engine, query_prompt="", document_prompt="")
    np.testing.assert_array_equal(bare.embed(asked(TEXTS)), bare.embed(TEXTS))
    assert not np.allclose(bare.embed(TEXTS), found.embed(TEXTS))


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ({"similarity_fn_name": "euclidean"}, "similarity_fn_name"),
        ({"truncate_dim": 16}, "truncate_dim=16"),
        ({"prompts": {"query": "leeds "}, "pooled_alone": True}, "pooled_alone"),
    ],
)
def test_what_the_files_of_an_embedder_state_and_is_not_applied_is_named(tiny, tmp_path, stated, named):
    with pytest.raises(SecateurError, match=named):
        embedder(_stated(tiny, tmp_path, **stated), tmp_path)


def test_vectors_unlike_those_of_sentence_transformers_are_refused(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(encoders, "_unit", lambda vectors: -vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    with pytest.raises(SecateurError, match="to the vectors of sentence-transformers"):
        embedder(tiny, tmp_path, engine="torch").embed(TEXTS)
