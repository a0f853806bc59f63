"""A model is read in packs as by its own attention, or refused: tiny random ones of many architectures."""

import pytest
import torch
from tests.support.tiny_models import tiny_tokenizer
from transformers import AttentionInterface, AutoConfig, AutoModelForCausalLM

from secateur.core.errors import SecateurError
from secateur.models import agreement
from secateur.models.admission import refuse_window
from secateur.models.agreement import check_once, largest_difference
from secateur.models.causal import CausalLM

TOKENS = 400
SIZE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8}
SIZE |= {"num_key_value_heads": 2, "max_position_embeddings": 512}
SIZE |= {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 1}
ALTERNATE = {"sliding_window": 12, "layer_types": ["sliding_attention", "full_attention"]}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
SHORT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512}
READ = {
    "llama": {}, "qwen2": {}, "qwen3": {}, "olmo": {}, "olmo2": {}, "olmo3": ALTERNATE, "smollm3": {"no_rope_layers": [1, 0]},
    "granite": {"attention_multiplier": 0.3}, "glm": {}, "glm4": {}, "nemotron": {}, "ministral3": {}, "apertus": {},
    "hunyuan_v1_dense": {}, "exaone4": ALTERNATE, "cohere": {}, "cohere2": ALTERNATE, "stablelm": {}, "diffllama": {},
    "mistral": {"sliding_window": 12}, "starcoder2": {"sliding_window": 12}, "phi": {}, "phi3": {"sliding_window": 12},
    "gemma": {}, "gemma3_text": ALTERNATE, "mixtral": EXPERTS, "gpt_neox": {}, "opt": {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "gemma2": {**ALTERNATE, "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 16},
    "vaultgemma": {**ALTERNATE, "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 16},
    "gpt_oss": {**ALTERNATE, **EXPERTS}, "mimo_v2_flash": {},
    "gpt2": SHORT, "gptj": {**SHORT, "rotary_dim": 8}, "biogpt": {}, "modernbert-decoder": {"local_attention": 8},
    "deepseek_v3": {
        "num_key_value_heads": 4, "moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
        "topk_group": 1, "kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
        "qk_nope_head_dim": 8, "first_k_dense_replace": 1,
    },
}  # fmt: skip
REFUSED = {  # ALiBi, states, learnt masks, chunks, a local window in a buffer
    "bloom": {"n_layer": 2, "n_head": 4},
    "mpt": {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 512},
    "falcon": {"alibi": True, "new_decoder_architecture": False, "multi_query": True, "parallel_attn": False},
    "mamba": {"state_size": 8},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "doge": {},
    "llama4_text": {"num_local_experts": 2, "attention_chunk_size": 8, "intermediate_size_mlp": 64, "num_experts_per_tok": 1},
    "gpt_neo": {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "window_size": 8},
    "xglm": {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 64},
}  # fmt: skip


def reader(kind: str, settings: dict, dtype=torch.float32, window: int = 512) -> CausalLM:
    """A reader with random weights: large ones, so that attention is far from uniform."""
    torch.manual_seed(0)
    names = SHORT if kind in ("gpt2", "gptj") else SIZE
    names = {name: value for name, value in names.items() if (kind, name) != ("falcon", "head_dim")}
    config = AutoConfig.for_model(kind, **{"vocab_size": TOKENS, **names, **settings})
    network = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if "sink" in name:
                weights.normal_(0, 2)
            elif weights.dim() > 1:
                weights.mul_(4)
    return CausalLM(network.to(dtype), tiny_tokenizer(False, False), window, 128, f"tiny {kind}", kind)


@pytest.mark.parametrize("kind", READ)
def test_an_architecture_is_read_as_by_its_own_attention(kind):
    difference, allowed = largest_difference(reader(kind, READ[kind]))
    assert difference < 2e-5
    assert allowed == agreement.TOLERANCE


@pytest.mark.parametrize("kind", REFUSED)
def test_an_architecture_that_needs_more_than_a_mask_is_refused_by_name(kind, tmp_path):
    with pytest.raises(SecateurError, match=f"lm tiny {kind}.*Fix: use (a model|another model)"):
        check_once(reader(kind, REFUSED[kind]), tmp_path)
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("kind", ["llama", "gemma3_text", "gpt_oss", "mixtral", "gemma2"])
def test_half_precision_is_measured_against_its_own_roundings(kind, tmp_path):
    check_once(reader(kind, READ[kind], torch.bfloat16), tmp_path)
    assert len(list(tmp_path.rglob("*"))) == 2  # a folder and a file


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("kind", "dropped"), [("gpt_oss", "s_aux"), ("gemma2", "softcap")])
def test_an_argument_of_the_layers_that_is_not_read_is_found(kind, dropped, dtype, tmp_path):
    lm = reader(kind, READ[kind], dtype)
    whole = AttentionInterface()["blocks"]

    def deaf(*args, **kwargs):
        return whole(*args, **{name: value for name, value in kwargs.items() if name != dropped})

    AttentionInterface.register("blocks", deaf)
    try:
        with pytest.raises(SecateurError, match=r"differs by [\d.]+ nats from the model's own attention"):
            check_once(lm, tmp_path)
    finally:
        agreement.attend_in_blocks(lm.model)


def test_a_window_that_is_wider_than_the_check_is_made_narrow_and_restored(monkeypatch):
    lm = reader("mistral", {"sliding_window": 400})
    blind = "mask", lambda seen, at, keys: (seen.logical_not() * torch.finfo().min).view(-1, 1, *seen.shape[-2:])
    monkeypatch.setattr(lm, *blind)
    assert largest_difference(lm)[0] > 0.01  # that mask has no window
    assert lm.model.config.sliding_window == 400


def test_a_model_is_checked_once_for_each_identity(tmp_path, monkeypatch):
    calls, measure = [], agreement.largest_difference
    monkeypatch.setattr(agreement, "largest_difference", lambda lm: calls.append(lm.name) or measure(lm))
    for window in (512, 512, 64):
        check_once(reader("llama", {}, window=window), tmp_path)
    assert len(calls) == 2


STRETCHED = {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}


@pytest.mark.parametrize(
    ("kind", "rope", "room", "said"),
    [
        # Angles that hang on the longest sequence: Phi states its context apart.
        ("llama", {"rope_type": "dynamic", "factor": 4.0}, 512, "exceeds {} tokens, .* Fix: lm.window={}"),
        ("phi3", {"rope_type": "longrope", **STRETCHED}, 64, "exceeds {} tokens, .* Fix: lm.window={}"),
        # Positions that a table or the training bounds.
        ("llama", {"rope_type": "default"}, 512, "has {} positions, and lm.window is"),
        ("llama", {"rope_type": "linear", "factor": 4.0}, 512, "has {} positions, and lm.window is"),
        ("llama", {"rope_type": "yarn", "factor": 4.0}, 2048, "has {} positions, and lm.window is"),
    ],
)
def test_a_window_beyond_what_a_model_was_made_for_is_refused_with_the_longest(kind, rope, room, said):
    sizes = SIZE | ({"original_max_position_embeddings": room} if kind == "phi3" else {})
    config = AutoConfig.for_model(kind, vocab_size=TOKENS, **sizes, rope_parameters={"rope_theta": 1e4, **rope})
    refuse_window("a", config, room)
    with pytest.raises(SecateurError, match=said.format(room, room)):
        refuse_window("a", config, room + 1)
