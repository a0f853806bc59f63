"""What an experiment asks of models that CPU time does not measure: tokens and money of endpoints, and hardware.

Contexts are counted at their full budget and replies at their maximum. A judge's controls and its verdicts on further gold
answers come on top. What a peer's requests or an extractor write is not known before; it is counted as much as they read of the text.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import yaml

from secateur.config import plugins
from secateur.config.compose import names, option
from secateur.core import layout
from secateur.models.hub import is_hub_id
from secateur.planning.plan import Variant
from secateur.planning.sizes import Data, Sizes

__all__ = ["ANOTHER", "ENDPOINT", "Needs", "Prices", "load_prices", "needs", "unmeasured"]

ENDPOINT, ANOTHER = "an endpoint's pace", "another model than was measured"
MEASURED = {
    "lm": "smollm2",
    "embedder": "minilm",
    "extractor": "openie",
    "reranker": "pmi_q",
}  # the options behind the shipped coefficients
READERS = {  # rules whose time is that of a model
    "lm": (
        *("score_candidates", "select_greedily", "measure_answer_gain", "answer_questions", "evaluate_answers"),
        *("build_preferences", "recall_context", "check_red_herrings"),
    ),
    "embedder": ("build_codebook", "rank_passages", "rank_by_graph", "encode_questions"),
    "extractor": ("extract_triples", "encode_questions"),
    "reranker": ("rerank_passages",),
}


@dataclass(frozen=True)
class Prices:
    """conf/prices.yaml."""

    date: str
    currency: str
    models: Mapping[str, Mapping[str, float]]
    peers: Mapping[str, Mapping[str, float | None]]
    weights: Mapping[str, Mapping[str, Any]]
    assumed: Mapping[str, int]


def load_prices(conf: Path) -> Prices:
    """Reads conf/prices.yaml."""
    return Prices(
        **{k: str(v) if k == "date" else v for k, v in yaml.safe_load((conf / "prices.yaml").read_text()).items()}
    )


@dataclass
class Needs:
    """Requests to endpoints, by model and purpose, and weights that are read in process.

    asked: (model, purpose) -> requests, tokens in, tokens out; uncounted: what could not be counted; models: addresses of
    weights by the key of their option; endpoints: addresses of endpoints.
    """

    asked: dict[tuple[str, str], list[float]]
    uncounted: list[str]
    models: dict[str, str]
    endpoints: list[str]

    def hardware(self, prices: Prices, read: Mapping[str, float]) -> Iterator[str]:
        """A line for each model of a hub that is read in process. read: tokens that jobs read of it, by its option's key."""
        for name, address in self.models.items():
            if weights := prices.weights.get(address):
                line = f"{name}: {address}, {weights['gb']} GB of weights, a GPU with {weights['gpu_gb']} GB"
                if tokens := read.get(name) if "rate" in weights else None:
                    line += f", some {tokens / weights['rate'] / 3600:.1f} hours of an {weights['device']} for {tokens:,.0f} tokens"
                yield line
            elif is_hub_id(address):
                yield f"{name}: {address}, size not known here (conf/prices.yaml)"

    def rows(self, prices: Prices) -> list[dict[str, Any]]:
        """A row for each model and purpose; the price is null for a model without one."""
        rows = []
        for (model, purpose), (requests, read, written) in self.asked.items():
            price = prices.models.get(model)
            cost = round((read * price["in"] + written * price["out"]) / 1e6, 2) if price else None
            counts = {"requests": round(requests) or None, "tokens in": round(read), "tokens out": round(written)}
            rows.append({"model": model, "for": purpose, **counts, prices.currency: cost})
        return rows


class _Counting:
    """Counts each job's requests once, whichever variants share it."""

    def __init__(self) -> None:
        self.asked: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        self.seen: set[tuple] = set()
        self.uncounted: dict[str, None] = {}

    def add(self, model: str, purpose: str, job: tuple, counts: Sequence[float] | None) -> None:
        """counts: requests, tokens in, tokens out of a job; None if unknown."""
        if (purpose, *job) in self.seen:
            return
        self.seen.add((purpose, *job))
        if counts is None:
            self.uncounted[purpose] = None
            return
        self.asked[model, purpose] = [a + b for a, b in zip(self.asked[model, purpose], counts, strict=True)]


def needs(conf: Path, variants: Sequence[Variant], data: Data, prices: Prices, overrides: tuple[str, ...]) -> Needs:
    """What the variants of an experiment ask of endpoints and hardware."""
    counting, models, endpoints = _Counting(), {}, {}

    def get(group: str, name: str) -> Any:
        return option(conf, group, name, overrides)

    for variant in variants:
        sizes = data.sizes(layout.beside(layout.question_table(variant.wildcards, "questions"), "run.json"))
        models |= _weights(get, variant)
        for writer in _endpoints(get, variant):
            endpoints[writer] = None
        if variant.answered:
            _answers(get, variant, sizes, counting, prices.assumed)
        extractor = get("extractor", variant["extractor"]) if _extracts(variant) else None
        if extractor and extractor.kind == "llm":
            job, model = (variant.corpus, variant["extractor"]), extractor.settings["model"]
            counting.add(model, "extraction", job, _extraction(extractor, sizes, prices.assumed))
        if variant["family"] == "peer" and (service := get("service", variant["service"])).url:
            kind = plugins.names_in(get("peer", variant["peer"]).adapter)[0]
            measured = prices.peers.get(kind, {})
            for purpose, per in (("index", "index"), ("search", "question")):
                job = (f"{variant['peer']} on {variant.corpus}", variant.dataset if per == "question" else "")
                counting.add(
                    service.model,
                    f"{variant['peer']}'s {purpose}",
                    job,
                    _peer(measured.get(per), per, sizes, prices.assumed["bytes"]),
                )
    return Needs(dict(counting.asked), list(counting.uncounted), models, list(endpoints))


def _answers(get, variant: Variant, sizes: Sizes | None, counting: _Counting, assumed: Mapping[str, int]) -> None:
    answer, budget = get("answer", variant["answer"]), get("assembly", variant["assembly"]).budget
    count, job = sizes and sizes["answered"], (variant.dataset, variant.system, variant.order)
    if answer.backend != "lm":
        counts = None if count is None else (count, count * (budget + assumed["prompt"]), count * answer.max_tokens)
        counting.add(answer.model, "answers", job, counts)
    for name in variant.judges:
        judge = get("judge", name)
        if judge.backend == "lm":
            continue
        judged = count if not judge.judged or count is None else min(count, judge.judged)
        readings, statements = assumed["readings"], assumed["statements"]
        read = readings * budget + statements * (assumed["prompt"] + answer.max_tokens)
        written = statements * judge.max_tokens
        counts = None if judged is None else (judged * statements, judged * read, judged * written)
        counting.add(judge.model, "judging", (*job, name), counts)


def _extracts(variant: Variant) -> bool:
    return variant["family"] in ("graph", "peer") or variant["book"] != layout.TEXT


def _extraction(extractor: Any, sizes: Sizes | None, assumed: Mapping[str, int]) -> tuple[float, float, float] | None:
    """At most: a block ends with its document, and each question is a request of its own."""
    if sizes is None:
        return None
    blocks = min(sizes["passages"], ceil(sizes["passages"] / extractor.block) + sizes["documents"])
    requests, text = blocks + sizes["questions"], sizes["bytes"] / assumed["bytes"]
    return requests, text + requests * assumed["extraction"], 2 * text


def _peer(tokens: float | None, per: str, sizes: Sizes | None, bytes_a_token: int) -> tuple[float, float, float] | None:
    if tokens is None or sizes is None:
        return None
    text = sizes["bytes"] / bytes_a_token
    return (0, tokens * text, text) if per == "index" else (0, tokens * sizes["questions"], 0)


def _weights(get, variant: Variant) -> dict[str, str]:
    """The addresses of the models that the variant's jobs read in process, each with its option's key."""
    addresses = {f"lm.model of {variant['lm']}": get("lm", variant["lm"]).model}
    addresses[f"embedder.model of {variant['embedder']}"] = get("embedder", variant["embedder"]).model
    extractor = get("extractor", variant["extractor"]) if _extracts(variant) else None
    if extractor and extractor.kind == "rebel":
        addresses[f"extractor.settings.model of {variant['extractor']}"] = extractor.settings["model"]
    spec = get("reranker", variant["reranker"]).spec
    if spec.get("kind") == "cross_encoder":
        addresses[f"reranker.spec.model of {variant['reranker']}"] = spec["model"]
    return addresses


def _endpoints(get, variant: Variant) -> Iterator[str]:
    """The addresses that the variant's jobs ask."""
    writers = [get("answer", variant["answer"])] if variant.answered else []
    writers += [get("judge", name) for name in variant.judges]
    writers += [get("service", variant["service"])] if variant["family"] == "peer" else []
    writers += [get("lm", variant["lm"])]
    yield from (writer.url for writer in writers if writer.url)
    if _extracts(variant) and (extractor := get("extractor", variant["extractor"])).kind == "llm":
        yield extractor.settings["url"]


def unmeasured(conf: Path, rule: str, record: str, overrides: tuple[str, ...]) -> str | None:
    """Why the shipped coefficients do not tell the time of a job; None if they do. record: the path of its record."""
    bases = {part.partition("+")[0] for segment in layout.data_of(record)[2] for part in segment.split(".")}
    writers = {"answer_questions": "answer", "judge_answers": "judge"}
    if group := writers.get(rule):
        named = [name for name in names(conf, group) if name in bases and name != "default"]
        if any(option(conf, group, name, overrides).backend != "lm" for name in named):
            return ENDPOINT
    extractors = [name for name in names(conf, "extractor") if name in bases]
    if rule in READERS["extractor"] and any(option(conf, "extractor", n, overrides).kind == "llm" for n in extractors):
        return ENDPOINT
    for group, rules in READERS.items():
        if rule in rules and any(name in bases for name in names(conf, group) if name != MEASURED[group]):
            return ANOTHER
    return None
