"""A model is admitted if all that its files state is applied or changes no number; else it is refused by name."""

import json
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

from secateur.core.errors import SecateurError
from secateur.models.admission import (
    MOVED,
    PASSING,
    refuse_adapter,
    refuse_unread_metadata,
    refuse_unread_weights,
    unread_fields,
)

SIZE = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 40}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
BESIDE = {  # what makers' config.json states as transformers would not save it
    "qwen2": {"rope_theta": 1000000.0, "torch_dtype": "bfloat16", "use_mrope": False},
    "llama": {"pretraining_tp": 1, "rope_scaling": {"rope_type": "llama3", **LLAMA3}, "rope_theta": 500000.0},
    "bert": {"gradient_checkpointing": False, "position_embedding_type": "absolute", "label2id": {"LABEL_0": 0}},
}


@pytest.mark.parametrize(
    "kind", ["llama", "qwen2", "gpt2", "gpt_neox", "phi", "mpt", "bloom", "gemma3_text", "bert", "mistral"]
)
def test_what_transformers_and_makers_save_is_admitted(kind):
    config = AutoConfig.for_model(kind, **BESIDE.get(kind, {}))
    saved = json.loads(config.to_json_string(use_diff=False))
    assert unread_fields(saved | BESIDE.get(kind, {}), config) == {}


@pytest.mark.parametrize(
    ("kind", "field", "value", "off"),
    [
        ("llama", "use_mrope", True, False), ("llama", "logit_scale", 0.0625, None), ("mpt", "logit_scale", 0.5, None),
        ("qwen2", "attention_multiplier", 2.0, ...), ("llama", "output_multiplier", 2.0, ...), ("llama", "rope", True, ...),
        ("llama", "partial_rotary_factor", 0.5, ...), ("gpt2", "rope_scaling", {"type": "linear", "factor": 4.0}, ...),
        ("mpt", "attn_config", {"alibi": False}, ...), ("bert", "position_embedding_type", "relative_key", ...),
        ("llama", "rope_scaling", {"rope_type": "linear", "factor": 2.0, "ramp": 3.0}, ...),
    ],
)  # fmt: skip
def test_a_field_that_the_models_code_does_not_read_is_named_unless_it_is_off(kind, field, value, off):
    config = AutoConfig.for_model(kind, **{} if kind in ("gpt2", "mpt") else SIZE, **{field: value})
    (name,) = unread_fields({field: value}, config)
    assert name in (field, "rope_parameters.ramp")
    assert off is ... or unread_fields({field: off}, config) == {}


def _another(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "relu"
    return value * 2 if abs(value) > 0.01 else 0.5


@pytest.mark.parametrize("kind", ["llama", "qwen2", "bert"])
def test_a_field_that_is_admitted_changes_the_numbers_or_is_known_to_change_none(kind):
    causal = kind != "bert"
    size = SIZE | {"max_position_embeddings": 64} | ({"num_key_value_heads": 2} if causal else {})
    base = AutoConfig.for_model(kind, **size)

    def outputs(config):
        torch.manual_seed(0)
        model = (AutoModelForCausalLM if causal else AutoModel).from_config(config, attn_implementation="eager").eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.sin(torch.arange(parameter.numel()).reshape(parameter.shape) * 0.7))
            read = model(input_ids=torch.arange(3, 35)[None])
        return (read.logits if causal else read.last_hidden_state), sum(p.numel() for p in model.parameters())

    before, count = outputs(base)
    silent = set()
    for field in fields(type(base)):
        value = getattr(base, field.name, None)
        if PASSING.fullmatch(field.name) or field.name in MOVED or not isinstance(value, bool | int | float | str):
            continue
        try:
            after, now = outputs(AutoConfig.for_model(kind, **size | {field.name: _another(value)}))
        except Exception:  # no such model
            continue
        if now == count and after.shape == before.shape and torch.equal(after, before):
            silent.add(field.name)
    # Positions bound the window; the other three act with others alone, and a network without a head ties nothing.
    harmless = {"max_position_embeddings", "max_window_layers", "use_sliding_window", "type_vocab_size"}
    assert silent <= harmless | (set() if causal else {"tie_word_embeddings"})


def test_weights_without_a_place_are_named_and_heads_beside_a_network_are_left_out():
    info = {"missing_keys": set(), "mismatched_keys": set(), "unexpected_keys": {"encoder.layer.0.dense.weight_scale"}}
    with pytest.raises(SecateurError, match=r"encoder\.layer\.0\.dense\.weight_scale"):
        refuse_unread_weights("a", info)
    with pytest.raises(SecateurError, match="have no place"):
        refuse_unread_weights("a", info, inner=["encoder", "embeddings"])
    heads = info | {"unexpected_keys": {"cls.predictions.bias", "pooler.dense.weight"}}
    refuse_unread_weights("a", heads, unused=("pooler.",), inner=["encoder", "embeddings"])


def test_an_adapter_and_weights_that_no_index_names_are_refused(tmp_path):
    refuse_adapter("a", Path("/no/such/folder"))  # an address needs none
    refuse_adapter("a", tmp_path)
    for name in ("model.safetensors", "consolidated.safetensors"):
        (tmp_path / name).touch()
    refuse_adapter("a", tmp_path)
    (tmp_path / "extra.safetensors").touch()
    with pytest.raises(SecateurError, match=r"extra.safetensors would not be read beside model.safetensors"):
        refuse_adapter("a", tmp_path)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "the/base"}))
    with pytest.raises(SecateurError, match="an adapter of the/base"):
        refuse_adapter("a", tmp_path)


def _gguf(**metadata) -> SimpleNamespace:
    stated = {
        "general.architecture": "llama", "llama.block_count": 2, "llama.context_length": 64, "llama.embedding_length": 32,
        "llama.attention.head_count": 4, "llama.rope.dimension_count": 8, "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "llama-bpe",
    }  # fmt: skip
    contents = {name: SimpleNamespace(contents=lambda value=v: value) for name, v in (stated | metadata).items()}
    return SimpleNamespace(fields=contents, tensors=[])


@pytest.fixture(scope="module")
def llama():
    return AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SIZE, max_position_embeddings=64))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, None),
        ({"llama.rope.scaling.type": "none", "llama.rope.scaling.factor": 4.0}, None),
        ({"llama.attention.key_length": 8}, None),
        ({"llama.rope.scaling.type": "yarn"}, "llama.rope.scaling.type"),
        ({"llama.attention.key_length": 16}, "llama.attention.key_length"),
        ({"llama.attention.sliding_window": 4096}, "llama.attention.sliding_window"),
        ({"llama.logit_scale": 0.0625}, "llama.logit_scale"),
        ({"llama.expert_count": 8}, "llama.expert_count"),
        ({"tokenizer.ggml.pre": "superbpe"}, "tokenizer.ggml.pre"),
        # Single digits are split alike where no token has two.
        ({"tokenizer.ggml.pre": "smollm", "tokenizer.ggml.tokens": ["a", "1", "2"]}, None),
        ({"tokenizer.ggml.pre": "smollm", "tokenizer.ggml.tokens": ["a", "1", "2", "12"]}, "smollm"),
    ],
)
def test_metadata_of_gguf_is_read_or_off_or_named(llama, metadata, said):
    with pytest.raises(SecateurError, match=said) if said else nullcontext():
        refuse_unread_metadata("a.gguf", _gguf(**metadata), llama)


def test_a_tensor_of_gguf_that_is_not_read_is_named_unless_it_is_one_everywhere(llama):
    file = _gguf()
    file.tensors = [SimpleNamespace(name="rope_freqs.weight", data=np.ones(4))]
    refuse_unread_metadata("a.gguf", file, llama)
    file.tensors = [SimpleNamespace(name="rope_freqs.weight", data=np.array([1.0, 8.0]))]
    with pytest.raises(SecateurError, match=r"rope_freqs\.weight"):
        refuse_unread_metadata("a.gguf", file, llama)
