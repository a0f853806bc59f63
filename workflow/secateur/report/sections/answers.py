"""The report's part on answers: their quality under each system's context, what they cost, and what judges say."""

from collections.abc import Iterator, Mapping

import polars as pl

from secateur.report.format import Part, dots, note, pivoted
from secateur.report.table import Column

__all__ = ["answer_parts"]

COLUMNS = {
    "rouge_l": Column("ROUGE-L", best="higher"),
    "token_f1": Column("token F1", best="higher"),
    "exact_match": Column("exact match", best="higher"),
    "typed_match": Column("typed match", best="higher"),
    "refused": Column("refused"),
    "read_gain": Column("answer gain", best="higher"),
    "read_evidence_recall": Column("evidence recall", best="higher"),
    "read_token_recall": Column("token recall", best="higher"),
    "read_tokens": Column("prompt tokens", 0),
    "completion_tokens": Column("answer tokens", 0),
}
JUDGED = {
    "judged_acc": Column("ACC", best="higher"),
    "judged_facts": Column("F1 of statements", best="higher"),
    "judged_coverage": Column("coverage", best="higher"),
    "judged_faithfulness": Column("faithfulness", best="higher"),
    "judged_evidence": Column("evidence", best="higher"),
    "judged_relevance": Column("relevance", best="higher"),
    "judged_unread": Column("verdicts not read"),
    "judge_of_gold": Column("gold answer (1 is right)"),
    "judge_of_wrong": Column("another question's (0)"),
    "judge_padded": Column("padding adds (0)"),
    "judge_backwards": Column("same verdicts backwards (1)"),
    "judges_apart": Column("apart from the other judge"),
    "judges_apart_by_chance": Column("were they chance"),
}
DRAWN, SHOWN = "rouge_l", 8  # metric and number of rows of the plot
ABOUT = (
    " The same instructions and questions under each system's context, answered by one model without sampling. "
    "closed_book shows no context: what the model knows already. Evidence and answer gain are of what reached the "
    "prompt; gain is in nats per token of the gold answer. ROUGE-L and F1 compare words, so an answer in other words "
    "scores low."
)
ABOUT_JUDGES = (
    " ACC is .75 F1 of statements and .25 (1 + cosine) / 2. A verdict that cannot be read is missing, never 0. The "
    "columns with a number in brackets, and those after them, are controls on some of the questions: F1 of the gold "
    "answer and of another question's; what padding adds; verdicts that stay with statements in the opposite order; how "
    "far two judges' ACC are apart, on a question and between questions. Far from the right number, a judge is no evidence."
)


def answer_parts(dataset: str, metrics: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Part]:
    """The parts of one data set; none where no question was answered. metrics: its rows, with `enough_data`."""
    whole = metrics.filter(subset="all")
    rows = _named(whole.filter(pl.col("metric").is_in(list(COLUMNS))))
    if rows.is_empty():
        return
    best = rows.filter(metric=DRAWN).sort("value", "name", descending=[True, False])
    drawn = dots(best, families, f"ROUGE-L on {dataset}", "ROUGE-L of the answer, mean", SHOWN)
    about = (drawn.get("note", "") + ABOUT).strip()
    yield {"title": "Answers under each context", "open": True} | drawn | {"note": about}
    columns = {metric: column for metric, column in COLUMNS.items() if metric in set(rows["metric"])}
    yield {
        "title": "Answers: figures",
        "table": pivoted(rows.sort("name"), columns, "metric"),
        "note": note(rows, dataset=dataset, metric=", ".join(columns)) + " Fewer where questions lack gold evidence.",
    }
    judge = pl.col("metric").str.split("@").list
    verdicts = whole.with_columns(metric=judge.first(), judge=judge.last()).filter(pl.col("metric").is_in(list(JUDGED)))
    for (name,), part in _named(verdicts).group_by("judge", maintain_order=True):
        columns = {metric: column for metric, column in JUDGED.items() if metric in set(part["metric"])}
        yield {
            "title": f"Answers: judged by {name}",
            "table": pivoted(part.sort("name"), columns, "metric"),
            "note": note(part, dataset=dataset, metric=f"judge*@{name}") + ABOUT_JUDGES,
        }


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with their name: the system, with its order where a system has several."""
    several = pl.len().over("system", "metric") > 1
    order = pl.when(several).then(" · order-" + pl.col("order"))
    return rows.with_columns(name=pl.col("system") + order.fill_null(""))
