"""The ECS engine on one conversation: against bare forward passes, a one-by-one loop, and itself without sharing.

40 turns and 24 questions of the toy dialogue are swept whole, once, for memory. The comparisons take turns over 6 of
the turns, the one-by-one loop over every seventh pair of them. Rates are per CPU second of one thread. n sequences that
share P of P + s tokens cannot gain more than (P + s) / (P / n + s), which comes close to the limit (P + s) / s where
many share; predictions, which nobody shares, keep the gain below it too.
`LM=gemma3_270m make bench NAME=ecs` takes another option of conf/lm. `make bench NAME=ecs ARGS=seconds` measures instead how
long the model takes to answer, and fits `lm.seconds`: by CPU time of one thread, on a GPU by the clock.
"""

import json
import os
import resource
import sys
import time
from copy import deepcopy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from harness import Figure, cpu_seconds, publish
from scipy.optimize import nnls
from scipy.stats import spearmanr

from secateur.answers.generate import InProcess
from secateur.config import compose
from secateur.ecs.reading.engine import cost, passes, read
from secateur.ecs.reading.pairs import base_readings, encode, families, pair_rows
from secateur.ecs.reading.statistics import of_predictions
from secateur.ecs.reading.template import Passage, Question, answer_text, prompt
from secateur.models.causal import CausalLM
from secateur.models.reader import load

ROOT = Path(__file__).resolve().parent.parent
TOY = ROOT / "data/toy/dialogue"
TURNS, COMPARED, ASKED, EVERY, REPEATS, BATCH = 40, 6, 24, 7, 3, 8
BARE, NAIVE, SHARING, DIVERGENCE, PARITY, MEMORY, HARNESS = 0.7, 4.0, 0.8, 0.15, 1e-4, 2.0, 1e-3


def conversation() -> tuple[list[Question], list[Passage]]:
    """The first questions and turns of the first conversation."""
    turns, asked = (
        [json.loads(line) for line in (TOY / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("passages", "questions")
    )
    group = asked[0]["group"]
    passages = [Passage(t["id"], t["text"], t["speaker"], t["date"]) for t in turns if t["group"] == group]
    questions = [Question(q["id"], q["question"], q["answer"]) for q in asked if q["group"] == group]
    return questions[:ASKED], passages[:TURNS]


def bare(lm, tokens: int, rows: int | None) -> None:
    """A model's forward passes over so many tokens, in batches of a pack's size, without mask or cache.

    rows: predictions made over all passes; one after every token where none is given.
    """
    passes = max(1, round(tokens / lm.pack))
    width = round(tokens / passes / BATCH)
    ids = torch.randint(5, 40_000, (BATCH, width), generator=torch.Generator().manual_seed(0))
    kept = 0 if rows is None else max(1, round(rows / passes / BATCH))
    with torch.inference_mode():
        for _ in range(passes):
            lm.model(ids, use_cache=False, logits_to_keep=kept)


def one_by_one(lm, sequences, bases) -> list[float]:
    """The log-probability of each answer: a pass with the candidate and one without, as in the paper's table 5."""
    found = []
    for pair in zip(sequences, bases, strict=True):
        for one in pair[::-1]:
            with torch.inference_mode():
                said = lm.model(torch.tensor([one.ids], device=lm.model.device)).logits[0].float().log_softmax(-1)
            total = sum(float(said[n - 1, one.ids[n]]) for n in range(one.start, len(one.ids)))
        found.append(total)
    return found


class Part:
    """The compared pairs in one layout."""

    def __init__(self, lm, cfg, questions, passages) -> None:
        self.lm, self.horizon = lm, cfg.horizon
        self.pairs = [(q, p) for p in range(COMPARED) for q in range(len(questions))]
        self.sequences = encode(lm, cfg, [questions[q] for q, _ in self.pairs], [[passages[p]] for _, p in self.pairs])
        self.kin = families(cfg, self.pairs)
        self.computed, self.whole = cost(self.sequences, self.kin), sum(len(one.read) for one in self.sequences)
        distinct, each = len(set(self.kin)), len(self.pairs)
        shared = (self.whole - self.computed) / (each - distinct)  # P: tokens of a mean prefix
        self.limit = self.whole / (self.whole - shared * each)

    def shared(self) -> list:
        """Read with prefixes computed once."""
        return [None for _ in read(self.lm, self.sequences, self.kin, self.horizon)]

    def apart(self) -> list:
        """Read without sharing."""
        return [None for _ in read(self.lm, self.sequences, range(len(self.pairs)), self.horizon)]


def sweep(lm, cfg, questions, passages, base) -> tuple[float, float]:
    """Pairs per CPU second over all turns, and the peak of memory in GB so far."""
    started, pairs = time.process_time(), [(q, p) for p in range(TURNS) for q in range(len(questions))]
    pair_rows(lm, cfg, questions, passages, pairs, base)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return len(pairs) / (time.process_time() - started), peak


def harness_gap(lm, cfg, questions, passages, pairs) -> list[Figure]:
    """The largest difference to lm-evaluation-harness's log-likelihoods of the same model, where it is installed."""
    if find_spec("lm_eval") is None:
        print("lm-evaluation-harness is not installed (pip install lm-eval): parity with it was not checked")
        return []
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    texts = [(prompt(questions[q], [passages[p]], cfg.layout)[0], answer_text(questions[q])) for q, p in pairs]
    asked = [Instance("loglikelihood", {}, text, n) for n, text in enumerate(texts)]
    theirs = HFLM(pretrained=lm.model, tokenizer=lm.tokenizer, batch_size=1).loglikelihood(asked)
    rows = pair_rows(lm, cfg, questions, passages, pairs, base_readings(lm, cfg, questions))
    gap = max(abs(row["answer_logprob"] - value) for row, (value, _) in zip(rows, theirs, strict=True))
    return [Figure("difference to lm-evaluation-harness", gap, "nats", None, None, HARNESS, "<=")]


def fit_seconds(lm, name: str, clock) -> None:
    """The coefficients of `lm.seconds`: non-negative least squares of relative errors, over prompts and answers of all sizes."""
    option, texts = compose.option(ROOT / "conf", "answer", "default"), [p.text for p in conversation()[1]]
    size, taken = len(lm.encoder.encode([" ".join(texts)], [""], [None], ["turns"])[0].ids), []
    with TemporaryDirectory() as folder:
        for n, (share, words) in enumerate((s, w) for s in (0, 0.05, 0.1, 0.2, 0.3) for w in (4, 16, 48)):
            shown = texts[: round(len(texts) * min(1, share * 4000 / size))]
            writer = InProcess(lm, replace(option, max_tokens=words, stop=(), repeats=1000), Path(folder))
            asked = f"{n}. " + "\n".join([*shown, "What was said?"])
            started = clock()
            (answer,) = writer([asked])
            taken.append((1, answer.prompt_tokens, answer.completion_tokens, clock() - started))
    rows = np.array(taken[1:])  # the first warms up
    weights = 1 / rows[:, 3:]
    fitted, _ = nnls(rows[:, :3] * weights, np.ones(len(rows)))
    error = float(np.median(np.abs(rows[:, :3] @ fitted / rows[:, 3] - 1)))
    names = ("call", "read", "write")
    print("seconds: {" + ", ".join(f"{k}: {v:.2g}" for k, v in zip(names, fitted, strict=True)) + "}")
    units = ("s", "s a token", "s a token")
    figures = [
        Figure(k, float(v), unit, None, None, None, None) for k, v, unit in zip(names, fitted, units, strict=True)
    ]
    publish(f"seconds_{name}", [*figures, Figure("median relative error", error, "", None, None, 0.15, "<=")])


def main() -> None:
    """Rates, the gain of sharing against its limit, latencies, parity and peak memory."""
    cache, name = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache")), os.environ.get("LM", "smollm2")
    lm, cfg = load(compose.option(ROOT / "conf", "lm", name), cache), compose.option(ROOT / "conf", "ecs", "default")
    if "seconds" in sys.argv[1:]:
        fit_seconds(lm, name, time.perf_counter if lm.model.device.type == "cuda" else time.process_time)
        return
    questions, passages = conversation()
    base = base_readings(lm, cfg, questions)
    all_turns, peak = sweep(lm, cfg, questions, passages, base)

    part, other = (Part(lm, c, questions, passages) for c in (cfg, replace(cfg, layout="question_first")))
    pairs, rows = part.pairs, sum(len(one.predicting) for one in part.sequences)
    some, alone = part.sequences[::EVERY], [base.sequences[q] for q, _ in pairs[::EVERY]]
    few, low = pairs[::EVERY], CausalLM(deepcopy(lm.model).bfloat16(), lm.tokenizer, 8192, lm.pack, "bf16", "bf16")
    kept = list(passes(lm, some, range(len(some))))
    low_base = base_readings(low, cfg, questions)

    def compare() -> None:
        for predictions in kept:
            of_predictions(lm, cfg, some, [q for q, _ in few], base, predictions)

    ours, bases, shared, apart, q_shared, q_apart, naive, plain, strict, numbers, screen = cpu_seconds(
        lambda: pair_rows(lm, cfg, questions, passages, pairs, base),
        lambda: base_readings(lm, cfg, questions),
        part.shared,
        part.apart,
        other.shared,
        other.apart,
        lambda: one_by_one(lm, some, alone),
        lambda: bare(lm, part.computed, None),
        lambda: bare(lm, part.computed, rows),
        compare,
        lambda: pair_rows(low, cfg, questions, passages, pairs, low_base),
        repeats=REPEATS,
    )
    scored = [row["answer_logprob"] for row in pair_rows(lm, cfg, questions, passages, pairs, base)]
    screened = [row["answer_logprob"] for row in pair_rows(low, cfg, questions, passages, pairs, low_base)]
    worst = max(abs(a - b) for a, b in zip(scored[::EVERY], one_by_one(lm, some, alone), strict=True))
    asked = np.array([q for q, _ in pairs])
    agree = np.mean([spearmanr(*(np.array(v)[asked == q] for v in (scored, screened))).statistic for q in set(asked)])
    each, n, rate, ms = len(pairs), len(some), "tokens per CPU second", 1e3
    print(f"{each} pairs compared, {part.computed} tokens computed of {part.whole}, {rows} predictions")
    publish(
        "ecs" if name == "smollm2" else f"ecs_{name}",
        [
            Figure("tokens computed", part.computed / ours, rate, "bare passes", part.computed / plain, BARE, ">="),
            Figure("the same", part.computed / ours, rate, "bare, our predictions", part.computed / strict, BARE, ">="),
            Figure("pairs", each / ours, "pairs per CPU second", "one by one", n / naive, NAIVE, ">="),
            Figure("pairs in bf16", each / screen, "pairs per CPU second", "one by one fp32", n / naive, NAIVE, ">="),
            Figure("rank agreement of bf16", float(agree), "Spearman in a question", None, None, 0.95, ">="),
            Figure("sharing a passage", apart / shared, "times", "limit (P+s)/s", part.limit, SHARING, ">="),
            Figure("sharing a question", q_apart / q_shared, "times", "limit (P+s)/s", other.limit, SHARING, ">="),
            Figure("base, a question", ms * bases / ASKED, "ms", "a cold candidate", ms * apart / each, 1.5, "<="),
            Figure("cached candidate", ms * shared / each, "ms", "a cold one", ms * apart / each, 0.7, "<="),
            Figure("divergence", ms * numbers / n, "ms", "a cached candidate", ms * shared / each, DIVERGENCE, "<="),
            Figure("largest difference", worst, "nats", None, None, PARITY, "<="),
            Figure("all turns", all_turns, "pairs per CPU second", "the compared ones", each / ours, 0.8, ">="),
            Figure("peak memory", peak, "GB", None, None, MEMORY, "<="),
            *harness_gap(lm, cfg, questions, passages, few),
        ],
    )


if __name__ == "__main__":
    main()
