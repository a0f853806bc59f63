"""Metrics of any contexts, and the paired difference of two sets of them, as in the pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from secateur.contexts.table import Read
from secateur.core.errors import SecateurError
from secateur.evaluation.comparison import common, paired_differences
from secateur.evaluation.evidence import Case, Gold
from secateur.evaluation.metric import measure_all, select_metrics
from secateur.evaluation.verdict import enough_data, verdict
from secateur.library.arguments import as_texts, check, is_mapping, is_text, reported
from secateur.library.options import LOG, cache_folder, chosen
from secateur.library.retrieved import Retrieved
from secateur.models.word_pieces import lm_counter
from secateur.models.words import lacks_words, same_text

__all__ = ["compare", "evaluate"]

Given = Retrieved | str | Sequence[tuple[str | None, str]]
Evidence = Mapping[str, Sequence[str] | Mapping[str, str]]
EXAMPLE = "evaluate({'q1': 'Leeds'}, {'q1': 'Where?'}, {'q1': ['The mill is in Leeds.']})"
COLUMNS = {"question_id": pl.String, "metric": pl.String, "value": pl.Float64}
METRICS = ("evidence_recall", "evidence_coverage", "token_recall", "tokens")


@reported()
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
    for name, mapping in (("contexts", contexts), ("questions", questions), ("evidence", evidence)):
        check(is_mapping(mapping), name, mapping, "a mapping whose keys are question ids", EXAMPLE)
    metrics = as_texts("metrics", metrics, f"a list of metrics, e.g. {', '.join(METRICS)}", f"metrics={list(METRICS)}")
    check(len(metrics) > 0, "metrics", metrics, "one metric or more", f"metrics={list(METRICS)}")
    check(is_text(reader) and reader != "", "reader", reader, "an option of conf/lm", "reader='smollm2'")
    for what, mapping in (("text", questions), ("evidence", evidence)):
        missing = [question for question in contexts if not mapping.get(question)]
        if missing:
            raise SecateurError(f"questions without {what}: {', '.join(missing[:5])}. Fix: one for each context.")
    if unread := len({*questions} & {*evidence} - {*contexts}):
        LOG.warning('%d questions with evidence have no context, and are left out: "" is an empty context', unread)
    spec = select_metrics(chosen("eval", "default").metrics, metrics)
    if len(spec) != len(set(metrics)):
        raise SecateurError(f"metrics {', '.join(metrics)}: some of them are no metrics of contexts (docs/reading.md).")
    for question in contexts:
        text = questions[question]
        check(is_text(text), f"questions[{question!r}]", text, "a text", EXAMPLE)
    count = lm_counter(chosen("lm", reader).model, cache_folder())
    pairs = {question: _pairs(question, context) for question, context in contexts.items()}
    texts = {q: c.text if isinstance(c, Retrieved) else "\n".join(t for _, t in pairs[q]) for q, c in contexts.items()}
    tokens = dict(zip(texts, count(list(texts.values())).tolist(), strict=True)) if texts else {}
    cases = []
    for question, passages in pairs.items():
        gold = _gold(question, questions[question], evidence[question])
        whole = [p is not None and text.rstrip("\n") == gold.passages.get(p) for p, text in passages]
        lines = [text if text.endswith("\n") else f"{text}\n" for _, text in passages]
        cases.append(Case(gold, Read(lines, [p for p, _ in passages], whole, tokens[question]), searched=True))
    # As in the pipeline: contexts of which none names or holds a passage may be rewritten, so that words alone are compared.
    if any(case.read.lines for case in cases) and not any(map(_is_traced, cases)):
        cases = [replace(case, has_sources=False) for case in cases]
    if unmeasured := sum(lacks_words(text) for case in cases for text in case.gold.texts):
        LOG.warning("gold texts without a word, which no metric of evidence counts: %d", unmeasured)
    _tell_untraced(cases)
    by_question = zip(pairs, measure_all(cases, (), spec, "conf/eval/default"), strict=True)
    rows = [(question, metric, float(value)) for question, values in by_question for metric, value in values.items()]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _is_traced(case: Case) -> bool:
    """Whether a context names a passage, or holds gold evidence word for word."""
    return any(case.read.passages) or any(case.holds(passage, 1.0) for passage in case.gold.passages)


def _tell_untraced(cases: Sequence[Case]) -> None:
    """Warnings for contexts whose evidence cannot be found by the passages that they name."""
    named = {passage for case in cases for passage in case.read.passages if passage is not None}
    gold = {passage for case in cases for passage in case.gold.passages}
    if named and gold and not named & gold:
        context_id, gold_id = min(named), min(gold)
        LOG.warning(
            "no passage that contexts name (%r, ...) is among the ids of the evidence (%r, ...)", context_id, gold_id
        )


def _pairs(question: str, context: Given) -> list[tuple[str | None, str]]:
    """(passage, text) of each part of a context; of symbols, the words that they stand for."""
    if isinstance(context, Retrieved):
        return [(s.passage_id, s.text if s.says is None else s.says) for s in context.sources]
    pairs: Sequence[Any] = [(None, context)] if isinstance(context, str) else context
    fits = isinstance(pairs, Sequence) and not isinstance(pairs, bytes) and all(map(_is_pair, pairs))
    check(fits, f"contexts[{question!r}]", context, "a retrieved context, a text, or (passage id, text) pairs", EXAMPLE)
    return [(passage, text) for passage, text in pairs if text.strip()]  # a blank context is an empty one


def _is_pair(part: Any) -> bool:
    return (
        isinstance(part, list | tuple) and len(part) == 2 and (part[0] is None or is_text(part[0])) and is_text(part[1])
    )


def _gold(question: str, text: str, evidence: Sequence[str] | Mapping[str, str]) -> Gold:
    name = f"evidence[{question!r}]"
    check(
        not isinstance(evidence, Mapping) or is_mapping(evidence), name, evidence, "passage ids that are texts", EXAMPLE
    )
    passages = dict(evidence) if isinstance(evidence, Mapping) else {}
    allowed = "a list of texts, or a mapping of passage id to text"
    texts = as_texts(name, list(passages.values()) if passages else evidence, allowed, EXAMPLE)
    return Gold(text, passages or {f"evidence {n}": text for n, text in enumerate(texts)}, texts)


@reported()
def compare(
    a: pl.DataFrame,
    b: pl.DataFrame,
    clusters: Mapping[str, str] | None = None,
    questions: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """metric, a, b, difference, low, high, p, n, units, verdict: `a` minus `b`, paired by question, for each metric.

    a, b: tables of `evaluate`. clusters: question -> resampling unit, such as its article; else, and where there are fewer
    than `eval.min_clusters` of them, each question is one. questions: id -> text; those of the same text are averaged into
    one. The test is the pipeline's: sign flips over units, two-sided, and the interval of the same flips. p is of each
    metric alone, not adjusted for the others. An end of the interval is null where too few units bound it.

    Raises SecateurError where the two have no question and metric in common.
    """
    for name, table in (("a", a), ("b", b)):
        fits = isinstance(table, pl.DataFrame) and COLUMNS.items() <= dict(table.schema).items()
        fits = fits and not table.select("question_id", "metric").is_duplicated().any()
        allowed = "a table of evaluate(), with each question and metric once"
        check(fits, name, table, allowed, "compare(evaluate(...), evaluate(...))")
    fits = clusters is None or (is_mapping(clusters) and all(map(is_text, clusters.values())))
    check(fits, "clusters", clusters, "a mapping of question id to unit, or None", "clusters={'q1': 'article 1'}")
    if clusters is not None and (without := sorted({*a["question_id"], *b["question_id"]} - {*clusters})):
        raise SecateurError(
            f"clusters: no unit for {len(without)} questions ({', '.join(without[:5])}). Fix: a unit for each question of a and b."
        )
    cfg, tables = chosen("eval", "default"), []
    few = clusters is None or len({*clusters.values()}) < max(cfg.min_clusters, cfg.min_units)
    unit = pl.col("question_id") if few else pl.col("question_id").replace(clusters)
    left, right = (
        table.partition_by("metric", as_dict=True) for table in (_averaged(a, questions), _averaged(b, questions))
    )
    for metric in sorted(left.keys() & right.keys()):
        sample = common(left[metric].with_columns(cluster_id=unit), right[metric])
        if sample.height:
            table = paired_differences([sample], cfg).drop("p_holm")
            enough = enough_data(table["n"][0], table["units"][0], cfg.min_units)
            conclusion = pl.lit(verdict(table["p"][0], enough))
            tables.append(table.select(pl.lit(metric[0]).alias("metric"), pl.all(), verdict=conclusion))
    if not tables:
        raise SecateurError("a and b have no question and metric in common. Fix: evaluate both on the same questions.")
    return pl.concat(tables)


def _averaged(table: pl.DataFrame, questions: Mapping[str, str] | None) -> pl.DataFrame:
    """A table of `evaluate` with questions of the same text as one."""
    if questions is None:
        return table
    firsts: dict[str, str] = {}
    names = {question: firsts.setdefault(same_text(text), question) for question, text in questions.items()}
    named = table.with_columns(pl.col("question_id").replace(names))
    return named.group_by("question_id", "metric", maintain_order=True).agg(pl.col("value").mean())
