"""Metrics of any contexts, and the paired difference of two sets of them, as in the pipeline."""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.contexts.table import Read
from secateur.core.errors import SecateurError
from secateur.evaluation.comparison import common, paired_differences
from secateur.evaluation.evidence import Case, Gold
from secateur.evaluation.metric import measure_all, select_metrics
from secateur.library.memory import Retrieved
from secateur.library.options import LOG, cache_folder, chosen
from secateur.models.word_pieces import lm_counter
from secateur.models.words import lacks_words

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
    """question_id, metric, value: how much of its question's gold evidence each context holds.

    contexts: question id -> a retrieved context, a text, or (passage id or None, text) pairs; questions: id -> text;
    evidence: question id -> texts, or passage id -> text where contexts name passages; reader: an option of conf/lm, whose
    tokens are counted. Metrics that are undefined for a question are left out, as in the pipeline.

    Raises SecateurError for an unknown metric, and for a question without a text or without evidence.
    """
    for what, mapping in (("text", questions), ("evidence", evidence)):
        missing = [question for question in contexts if not mapping.get(question)]
        if missing:
            raise SecateurError(f"questions without {what}: {', '.join(missing[:5])}. Fix: one for each context.")
    spec = select_metrics(chosen("eval", "default").metrics, metrics)
    if len(spec) != len(set(metrics)):
        raise SecateurError(f"metrics {', '.join(metrics)}: some of them are no metrics of contexts (docs/methods.md).")
    count = lm_counter(chosen("lm", reader).model, cache_folder())
    pairs = {question: _pairs(context) for question, context in contexts.items()}
    texts = {q: c.text if isinstance(c, Retrieved) else "\n".join(t for _, t in pairs[q]) for q, c in contexts.items()}
    tokens = dict(zip(texts, count(list(texts.values())).tolist(), strict=True)) if texts else {}
    sourced = any(passage is not None for parts in pairs.values() for passage, _ in parts)
    cases = []
    for question, parts in pairs.items():
        gold = _gold(questions[question], evidence[question])
        whole = [p is not None and text.rstrip("\n") == gold.passages.get(p) for p, text in parts]
        read = Read([text for _, text in parts], [p for p, _ in parts], whole, tokens[question])
        cases.append(Case(gold, read, sourced))
    if unmeasured := sum(lacks_words(text) for case in cases for text in case.gold.texts):
        LOG.warning("gold texts without a word, which no metric of evidence counts: %d", unmeasured)
    by_question = zip(pairs, measure_all(cases, (), spec, "conf/eval/default"), strict=True)
    rows = [(question, metric, float(value)) for question, values in by_question for metric, value in values.items()]
    return pl.DataFrame(rows, schema={"question_id": pl.String, "metric": pl.String, "value": pl.Float64}, orient="row")


def _pairs(context: Given) -> list[tuple[str | None, str]]:
    """(passage, text) of each part of a context."""
    if isinstance(context, Retrieved):
        return [(source.passage_id, source.text) for source in context.sources]
    return [(None, context)] if isinstance(context, str) else list(context)


def _gold(question: str, evidence: Sequence[str] | Mapping[str, str]) -> Gold:
    passages = dict(evidence) if isinstance(evidence, Mapping) else {}
    return Gold(question, passages, tuple(passages.values() if passages else evidence))


def compare(a: pl.DataFrame, b: pl.DataFrame, clusters: Mapping[str, str] | None = None) -> pl.DataFrame:
    """metric, a, b, difference, low, high, p, n, units: `a` minus `b`, paired by question, for each metric.

    a, b: tables of `evaluate`. clusters: question -> resampling unit, such as its article; else each question is one.
    The test is the pipeline's: sign flips over units, two-sided, and the interval of the same flips. p is of each metric
    alone, not adjusted for the others. An end of the interval is null where too few units bound it.

    Raises SecateurError where the two have no question and metric in common.
    """
    cfg, unit = chosen("eval", "default"), pl.col("question_id").replace(clusters or {})
    theirs = b.partition_by("metric", as_dict=True)
    tables = []
    for (metric,), values in a.sort("metric").partition_by("metric", as_dict=True, maintain_order=True).items():
        sample = (
            common(values.with_columns(cluster_id=unit), theirs[metric,]) if (metric,) in theirs else pl.DataFrame()
        )
        if sample.height:
            table = paired_differences([sample], cfg).drop("p_holm")
            tables.append(table.select(pl.lit(metric).alias("metric"), pl.all()))
    if not tables:
        raise SecateurError("a and b have no question and metric in common. Fix: evaluate both on the same questions.")
    return pl.concat(tables)
