"""The embedder against sentence-transformers in fp32 (batch 32, sorted by length), over the same sentences."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from harness import Figure, cpu_seconds, publish

from secateur import config
from secateur.models import encoders

ROOT = Path(__file__).resolve().parent.parent
TOY = (ROOT / "data/toy/documents/passages.jsonl", ROOT / "data/toy/dialogue/passages.jsonl")
GOAL, COSINE = 2.4, 0.99999


def main() -> None:
    """Sentences per CPU second of both, and the smallest cosine between them."""
    texts = [json.loads(line)["text"] for path in TOY for line in path.read_text(encoding="utf-8").splitlines()]
    option = config.option(ROOT / "conf", "embedder", "minilm")
    with TemporaryDirectory() as folder:
        anchor, ours = encoders._torch(option), encoders._openvino(option, Path(folder))
        low = float((np.asarray(anchor(texts)) * ours(texts)).sum(1).min())
        slow, fast = cpu_seconds(lambda: anchor(texts), lambda: ours(texts))
    unit, count = "sentences per CPU second", len(texts)
    publish(
        "embed",
        [
            Figure("embed", count / fast, unit, "sentence-transformers fp32", count / slow, GOAL, ">="),
            Figure("smallest cosine", low, "cosine", None, None, COSINE, ">="),
        ],
    )


if __name__ == "__main__":
    main()
