"""The embedder, in fp32 and in bf16, against sentence-transformers in fp32 (batch 32, sorted by length), over the same
sentences.

Sentences are those of Medical where a mirror holds it, else the toy data's.
"""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Figure, cpu_seconds, publish

from secateur.config import compose
from secateur.datasets.sentences import sentences
from secateur.models import encoders

ROOT = Path(__file__).resolve().parent.parent
TOY = (ROOT / "data/toy/documents/passages.jsonl", ROOT / "data/toy/dialogue/passages.jsonl")
MEDICAL = Path(os.environ.get("SECATEUR_MIRROR", "")) / "medical_corpus.json.gz"
COUNT, BATCH = 400, 32
GOAL, COSINE = 3.0, 0.99999
GOAL_BF16, COSINE_BF16 = 3.0, 0.9995


def corpus() -> list[str]:
    """COUNT sentences."""
    if not MEDICAL.is_file():
        lines = [line for path in TOY for line in path.read_text(encoding="utf-8").splitlines()]
        return [json.loads(line)["text"] for line in lines][:COUNT]
    text = json.loads(gzip.decompress(MEDICAL.read_bytes()))[0]["context"]
    return list(dict.fromkeys(sentence for sentence, _, _ in sentences(text)))[:COUNT]


def main() -> None:
    """Tokens per CPU second of both, and the smallest cosine between them. Both are warm: timing starts after a pass."""
    import torch
    from tokenizers import Tokenizer

    torch.set_num_threads(1)
    texts, option = corpus(), compose.option(ROOT / "conf", "embedder", "minilm")
    tokenizer = Tokenizer.from_file(str(Path(encoders.locate(option.model)) / "tokenizer.json"))
    tokenizer.no_padding()
    tokens = sum(min(len(one.ids), option.max_tokens) for one in tokenizer.encode_batch(texts))
    settings = {"batch_size": BATCH, "convert_to_numpy": True, "normalize_embeddings": True, "show_progress_bar": False}
    with TemporaryDirectory() as folder:
        anchor = encoders.sentence_transformer(option, "cpu")
        ours = encoders.encoder(option, Path(folder))
        half = encoders.encoder(replace(option, engine="openvino_bf16"), Path(folder))
        theirs = anchor.encode(texts, **settings)
        low, lower = (float((theirs * encode(texts)).sum(1).min()) for encode in (ours, half))
        slow, fast, faster = cpu_seconds(
            lambda: anchor.encode(texts, **settings), lambda: ours(texts), lambda: half(texts)
        )
    unit, peer = "tokens per CPU second", "sentence-transformers fp32"
    publish(
        "embed",
        [
            Figure("embed", tokens / fast, unit, peer, tokens / slow, GOAL, ">="),
            Figure("smallest cosine", low, "cosine", None, None, COSINE, ">="),
            Figure("embed in bf16", tokens / faster, unit, peer, tokens / slow, GOAL_BF16, ">="),
            Figure("smallest cosine in bf16", lower, "cosine", None, None, COSINE_BF16, ">="),
        ],
    )


if __name__ == "__main__":
    main()
