"""Open information extraction against the bare parser, over the same sentences and the same pipeline."""

import json
from pathlib import Path

from harness import Figure, cpu_seconds, publish

from secateur.graph.triples.extractors import openie

TOY = Path(__file__).resolve().parent.parent / "data/toy/documents/passages.jsonl"
GOAL = 0.8  # share of the parser's own rate


def main() -> None:
    """Sentences per CPU second of both."""
    texts = [json.loads(line)["text"] for line in TOY.read_text(encoding="utf-8").splitlines()]
    parser = openie.load_parser()
    bare, ours = cpu_seconds(
        lambda: list(parser.pipe(texts, batch_size=32)), lambda: openie.extract(parser, texts, None, 32)
    )
    publish(
        "openie",
        [
            Figure(
                "openie", len(texts) / ours, "sentences per CPU second", "parser alone", len(texts) / bare, GOAL, ">="
            )
        ],
    )


if __name__ == "__main__":
    main()
