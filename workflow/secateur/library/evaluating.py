"""What anybody's contexts hold of the gold evidence, by the pipeline's own metrics; and two of them compared."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import polars as pl

from secateur.contexts.table import Read
from secateur.core.errors import SecateurError
from secateur.evaluation.evidence import Case, Gold
from secateur.evaluation.metric import measured, only
from secateur.evaluation.resampling import paired, units
from secateur.library.memory import Retrieved
from secateur.library.options import cache_folder, chosen
from secateur.models.word_pieces import lm_counter

__all__ = ["compare", "evaluate"]

Given = Retrieved | str | Sequence[tuple[str | None, str]]
Evidence = Mapping[str, Sequence[str] | Mapping[str, str]]
METRICS = ("evidence_recall", "evidence_coverage", "token_recall", "tokens")


def evaluate(
    contexts: Mapping[str, Given],
    questions: Mapping[str, str],
    evidence: Evidence,
    *,
    metrics: Sequence[str] = METRICS,
    reader: str = "smollm2",
) -> pl.DataFrame:
    """question_id, metric, value: what each context holds of its question's gold evidence.

    contexts: by question: what a memory retrieved, a text, or (passage id or None, text) pairs; questions: id -> text;
    evidence: by question: texts, or passage id -> text where contexts name passages; reader: an option of conf/lm, whose
    tokens are counted. A metric that is undefined for a question is left out, as in the pipeline.

    Raises SecateurError for an unknown metric, and for a question without a text or without evidence.
    """
    for what, known in (("text", questions), ("evidence", evidence)):
        missing = [question for question in contexts if not known.get(question)]
        if missing:
            raise SecateurError(f"questions without {what}: {', '.join(missing[:5])}. Fix: one for each context.")
    spec = only(chosen("eval", "default").metrics, metrics)
    if len(spec) != len(set(metrics)):
        raise SecateurError(f"metrics {', '.join(metrics)}: some of them are no metrics of contexts (docs/papers.md).")
    count = lm_counter(chosen("lm", reader).model, cache_folder())
    pairs = {question: _pairs(given) for question, given in contexts.items()}
    texts = {q: g.text if isinstance(g, Retrieved) else "\n".join(t for _, t in pairs[q]) for q, g in contexts.items()}
    tokens = dict(zip(texts, count(list(texts.values())).tolist(), strict=True)) if texts else {}
    sourced = any(passage is not None for own in pairs.values() for passage, _ in own)
    cases = []
    for question, own in pairs.items():
        gold = _gold(questions[question], evidence[question])
        whole = [p is not None and text.rstrip("\n") == gold.passages.get(p) for p, text in own]
        read = Read([text for _, text in own], [p for p, _ in own], whole, tokens[question])
        cases.append(Case(gold, read, sourced))
    rows = zip(pairs, measured(cases, (), spec, "conf/eval/default"), strict=True)
    found = [(question, metric, float(value)) for question, values in rows for metric, value in values.items()]
    return pl.DataFrame(
        found, schema={"question_id": pl.String, "metric": pl.String, "value": pl.Float64}, orient="row"
    )


def _pairs(given: Given) -> list[tuple[str | None, str]]:
    """(passage, text) of each part of a context."""
    if isinstance(given, Retrieved):
        return [(source.passage_id, source.text) for source in given.sources]
    return [(None, given)] if isinstance(given, str) else list(given)


def _gold(question: str, evidence: Sequence[str] | Mapping[str, str]) -> Gold:
    passages = dict(evidence) if isinstance(evidence, Mapping) else {}
    return Gold(question, passages, tuple(passages.values() if passages else evidence))


def compare(a: pl.DataFrame, b: pl.DataFrame, clusters: Mapping[str, str] | None = None) -> pl.DataFrame:
    """metric, a, b, difference, low, high, p, n, units: `a` less `b`, paired by question, of what `evaluate` gave.

    clusters: question -> unit of resampling, such as its article; else each question is one. The test is the pipeline's:
    sign flips over units, two-sided, the interval of the same flips; an end that too few units bound is null.

    Raises SecateurError where the two have no question in common.
    """
    cfg: SimpleNamespace = chosen("eval", "default")
    both = a.join(b.rename({"value": "base"}), on=["question_id", "metric"]).sort("metric", "question_id")
    if both.is_empty():
        raise SecateurError("a and b have no question and metric in common. Fix: evaluate both on the same questions.")
    found = []
    for (metric,), own in both.group_by("metric", maintain_order=True):
        ids = own["question_id"].to_list()
        unit = units([(clusters or {}).get(q, q) for q in ids], cfg.min_clusters)
        values = (own["value"] - own["base"]).to_numpy()[:, None]
        test = paired(values, unit, cfg.permutations, cfg.confidence, cfg.seed)
        low, high = (float(end[0]) if abs(float(end[0])) != float("inf") else None for end in (test.low, test.high))
        row = {"metric": metric, "a": own["value"].mean(), "b": own["base"].mean(), "difference": float(test.mean[0])}
        found.append(row | {"low": low, "high": high, "p": float(test.p[0]), "n": own.height, "units": test.units})
    return pl.DataFrame(found, infer_schema_length=None)
