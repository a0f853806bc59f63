"""Random language models small enough to compare with one sequence at a time."""

__all__ = ["byte_level", "tiny_network", "tiny_tokenizer"]

WORDS = (
    "Mira treated a spaniel in Ghent . Jonas left his flat by June 1994 . Question: What had she swallowed? Answer: "
    'half a tennis ball "The Mill" yes Yes YES no No NO Passage: 0 1 2 3 4 5 6 7 8 9 ( ) : \n'
)
CHAT = "{% for m in messages %}<|user|>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"


def byte_level(texts, special: list[str]):
    """Byte-level BPE trained on some texts; special tokens come first."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    settings = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, special_tokens=special, **settings))
    return tokenizer


def tiny_tokenizer(bos: bool, chat: bool):
    """With a BOS token that it adds itself, and a chat template, where asked for."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = byte_level([WORDS], ["<s>", "</s>", "<|user|>", "<|assistant|>"])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    names = {"bos_token": "<s>"} if bos else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", **names)
    fast.chat_template = CHAT if chat else None
    return fast


def tiny_network(kind: str, tokens: int):
    """A random network of two layers; `gemma3_text` alternates full and sliding attention, `mistral` slides in all."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8}
    size |= {"num_key_value_heads": 2, "max_position_embeddings": 8192, "vocab_size": tokens, "initializer_range": 0.3}
    own = {"gemma3_text": {"sliding_window": 12, "layer_types": ["sliding_attention", "full_attention"]}}
    own |= {"mistral": {"sliding_window": 12}}
    torch.manual_seed(3)
    config = AutoConfig.for_model(kind, **size, **own.get(kind, {}), pad_token_id=1, bos_token_id=0, eos_token_id=1)
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32)
