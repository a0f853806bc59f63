"""The ECS engine on a GPU, at the papers' model size: against a bare forward pass, a padded batch and a one-by-one loop.

The model has the architecture of Qwen2.5-7B-Instruct and random weights, in bfloat16; questions and turns are those of the
toy dialogues. The share is that of the FLOP of a bare pass: one packed pass of 8,192 tokens of the unmodified model. Without a
GPU the half that checks values runs on a tiny model.
`make bench NAME=gpu`
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from ecs import ROOT, TOY, one_by_one
from harness import Figure, publish
from transformers import Qwen2Config, Qwen2ForCausalLM

from secateur.config import compose
from secateur.ecs.reading.decode import generate, greedily, sampling
from secateur.ecs.reading.engine import cost
from secateur.ecs.reading.independent import read_independently
from secateur.ecs.reading.pairs import base_readings, encode, families, pair_rows
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.reading.trajectory import along_context, prefilled_prompts
from secateur.models.causal import CausalLM
from secateur.models.embedder import Embedder
from secateur.models.encoders import sentence_transformer
from secateur.models.reader import load

WHOLE = {"hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4}
WHOLE |= {"intermediate_size": 18944, "vocab_size": 152064}  # Qwen2.5-7B
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
TINY |= {"intermediate_size": 128, "vocab_size": 50000}
QUESTIONS, TURNS, BLOCK, BARE, BATCH, SOME, SAMPLES = 8, 400, 64, 8192, 64, 64, 4
SHARE, CANDIDATE, PROBE, PSEUDO, LEAN, CLOSE = 0.8, 1.2, 5.0, 60.0, 1.5, 1e-4


def clock(device: str, call: Callable[[], object], repeats: int = 3) -> float:
    """The best of some wall times of a call, in seconds; a GPU's queue is empty at both ends."""
    best = float("inf")
    for _ in range(repeats):
        wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
        wait()
        started = time.perf_counter()
        call()
        wait()
        best = min(best, time.perf_counter() - started)
    return best


def conversation(turns: int) -> tuple[list[Question], list[Passage]]:
    """Questions and turns of the toy dialogues, turns repeated with their number where there are too few."""
    spoken, asked = (
        [json.loads(line) for line in (TOY / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("passages", "questions")
    )
    questions = [Question(q["id"], q["question"], q["answer"]) for q in asked if q.get("answer")][:QUESTIONS]
    shown = [spoken[n % len(spoken)] for n in range(turns)]
    return questions, [Passage(str(n), f"{t['text']} ({n})", t["speaker"], t["date"]) for n, t in enumerate(shown)]


def reader(device: str, tokenizer) -> CausalLM:
    """The architecture with random weights: the papers' size on a GPU, a tiny one elsewhere."""
    torch.manual_seed(0)
    config = Qwen2Config(
        **(WHOLE if device == "cuda" else TINY), max_position_embeddings=32768, tie_word_embeddings=False
    )
    with torch.device(device):
        model = Qwen2ForCausalLM(config).to(torch.bfloat16 if device == "cuda" else torch.float32)
    return CausalLM(model, tokenizer, 8192, BARE if device == "cuda" else 256, "random Qwen2.5-7B", "random")


def padded(lm: CausalLM, sequences) -> None:
    """Padded batches with logits at the answer's tokens alone: what a script with transformers does."""
    for start in range(0, len(sequences), BATCH):
        part = sequences[start : start + BATCH]
        width = max(len(one.ids) for one in part)
        rows = [[*[0] * (width - len(one.ids)), *one.ids] for one in part]
        kept = max(len(one.ids) - one.start for one in part) + 1
        ids = torch.tensor(rows, device=lm.model.device)
        mask = torch.tensor([[0] * (width - len(o.ids)) + [1] * len(o.ids) for o in part], device=lm.model.device)
        with torch.inference_mode():
            logits = lm.model(input_ids=ids, attention_mask=mask, use_cache=False, logits_to_keep=kept).logits
            logits.float().log_softmax(-1).sum(-1).cpu()


def speed(lm: CausalLM, device: str, questions, passages) -> list[Figure]:
    """The engine against the other ways to compute the same, in this run."""
    cfg = compose.option(ROOT / "conf", "ecs", "default")
    base, pairs = (
        base_readings(lm, cfg, questions),
        [(q, p) for p in range(len(passages)) for q in range(len(questions))],
    )
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[passages[p]] for _, p in pairs])
    tokens, rows = cost(sequences, families(cfg, pairs)), sum(len(one.predicting) for one in sequences)
    head = lm.model.config.vocab_size * lm.model.config.hidden_size
    body = sum(p.numel() for p in lm.model.parameters()) - 2 * head
    ids = torch.randint(5, 40_000, (1, BARE if device == "cuda" else 256), device=device)

    def sweep() -> None:
        for start in range(0, len(passages), BLOCK):
            part = passages[start : start + BLOCK]
            shown = [(q, p) for p in range(len(part)) for q in range(len(questions))]
            pair_rows(lm, cfg, questions, part, shown, base)

    def bare() -> None:
        with torch.inference_mode():
            lm.model(ids, use_cache=False)

    few = sequences[:: max(1, len(sequences) // 32)]
    alone = [base.sequences[pairs[n][0]] for n in range(0, len(sequences), max(1, len(sequences) // 32))]
    ours, plain = clock(device, sweep), clock(device, bare)
    batch, naive = (
        clock(device, lambda: padded(lm, sequences[:512]), 1),
        clock(device, lambda: one_by_one(lm, few, alone), 1),
    )
    share = (2 * (body * tokens + head * rows) / ours) / (2 * (body + head) * ids.shape[1] / plain)
    some, prompts = pairs[:SOME], encode(lm, cfg, questions, [()] * len(questions), answered=False)
    probes = clock(
        device, lambda: along_context(lm, cfg, prompts, prefilled_prompts(lm, cfg, questions, passages, some))
    )
    path = clock(device, lambda: generate(lm, [one.ids for one in prompts], cfg.horizon, greedily))
    draw = sampling(cfg.temperature, range(SAMPLES))
    pseudo = clock(device, lambda: generate(lm, [prompts[0].ids] * SAMPLES, cfg.pseudo_tokens, draw))
    n, ms = len(pairs), 1e3
    goal = (lambda value: value) if device == "cuda" else (lambda _: None)
    return [
        Figure("pairs", n / ours, "pairs a second", "padded batch of 64", min(512, n) / batch, None, None),
        Figure("the same", n / ours, "pairs a second", "one by one", len(few) / naive, None, None),
        Figure("tokens", tokens / ours, "tokens a second", "bare pass", ids.shape[1] / plain, None, None),
        Figure("share of a bare pass's FLOP/s", share, "", None, None, goal(SHARE), ">="),
        Figure("candidate", ms * ours / n, "ms", None, None, goal(CANDIDATE), "<="),
        Figure("trajectory", ms * probes / len(some), "ms a pair", None, None, goal(PROBE), "<="),
        Figure("greedy answer", ms * path / len(questions), "ms a question", None, None, None, None),
        Figure("sampled answers", ms * pseudo, "ms a question", None, None, goal(PSEUDO), "<="),
    ]


def embedding(device: str, texts: list[str]) -> list[Figure]:
    """Sentences a second, against sentence-transformers at its best batch."""
    cfg = compose.option(ROOT / "conf", "embedder", "minilm")
    with tempfile.TemporaryDirectory() as folder:
        ours = Embedder(cfg, Path(folder))
        ours.encode(texts[:200])
        lean = clock(device, lambda: ours.encode(texts))
    model = sentence_transformer(cfg, device)
    theirs = min(clock(device, lambda size=size: model.encode(texts, batch_size=size), 1) for size in (32, 128, 512))
    goal = LEAN if device == "cuda" else None
    rate = len(texts) / lean, len(texts) / theirs
    return [Figure("embedder", rate[0], "sentences a second", "sentence-transformers", rate[1], goal, ">=")]


def values(lm: CausalLM, questions, passages) -> list[Figure]:
    """How far the engine's values are from reading one by one, and the exact mode's from itself in other company."""
    cfg = compose.option(ROOT / "conf", "ecs", "default")
    pairs = [(q, p) for p in range(len(passages)) for q in range(len(questions))]
    sequences = encode(lm, cfg, [questions[q] for q, _ in pairs], [[passages[p]] for _, p in pairs])
    base = base_readings(lm, cfg, questions)
    rows = pair_rows(lm, cfg, questions, passages, pairs, base)
    naive = one_by_one(lm, sequences, [base.sequences[q] for q, _ in pairs])
    worst = max(abs(row["answer_logprob"] - value) for row, value in zip(rows, naive, strict=True))
    lm.exact = True
    company = {n: reading.answer.sum() for n, reading in read_independently(lm, sequences, 1)}
    alone = [next(read_independently(lm, [one], 1))[1].answer.sum() for one in sequences[::7]]
    lm.exact = False
    apart = max(float(abs(value - company[7 * n])) for n, value in enumerate(alone))
    goal = CLOSE if lm.model.dtype == torch.float32 else None
    return [
        Figure("largest difference to reading one by one", worst, "nats", None, None, goal, "<="),
        Figure("exact mode, alone against in company", apart, "nats", None, None, 0.0, "<="),
    ]


def main() -> None:
    """The table for this node; without a GPU its values alone, on a tiny model."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cache = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
    small = load(compose.option(ROOT / "conf", "lm", "smollm2"), cache, device)
    questions, passages = conversation(TURNS if device == "cuda" else 16)
    lm = reader(device, small.tokenizer)
    figures = values(lm, questions, passages[:8])
    if device == "cuda":
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
        figures += speed(lm, device, questions, passages)
        figures += embedding(device, [p.text for p in passages] * 50)
    else:
        print("no GPU: values are checked on a tiny model, speeds are not measured")
        speed(lm, device, questions, passages)  # that it runs
    publish("gpu", figures)


if __name__ == "__main__":
    main()
