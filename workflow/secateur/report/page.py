"""One self-contained HTML page per experiment, from its tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.report import plots
from secateur.report.drawing import Drawn, draw
from secateur.report.format import OURS, cell, interval, number
from secateur.report.sections.answers import answer_section
from secateur.report.sections.datasets import cutoff_parts, statistics_part
from secateur.report.sections.distractors import ABOUT, herring_headlines, herring_parts, is_checked
from secateur.report.sections.lemmas import growth_section, lemma_section
from secateur.report.sections.memory import memory_parts
from secateur.report.sections.policy import policy_headlines, policy_parts

__all__ = ["found", "render", "row_name"]

MAX_CURVES = 8  # lines in one panel that stay readable
RECALL = ("exact", "novel", "held", "semantic")
CLAIMS = ("exact@claim", "novel@claim", "lift@claim")  # eval.claim names the budgets


def row_name(system: str, scorer: str | None) -> str:
    """How a row is called on the page."""
    return f"{system} · {scorer}" if scorer else system


def _named(metrics: pl.DataFrame) -> pl.DataFrame:
    names = [row_name(s, c) for s, c in metrics.select("system", "scorer").iter_rows()]
    return metrics.with_columns(name=pl.Series(names, dtype=pl.String))


def _recall(metrics: pl.DataFrame) -> pl.DataFrame:
    """The rows of a budget, with the budget as a number and the metric without it."""
    parts = pl.col("metric").str.split_exact("@", 1)
    rows = metrics.filter(pl.col("metric").str.contains(r"@\d+$")).with_columns(
        base=parts.struct.field("field_0"), budget=parts.struct.field("field_1").cast(pl.Int32)
    )
    return rows.drop("metric").rename({"base": "metric"})


def _form(system: str, published: bool) -> str:
    return "published" if published else "" if system == "sentences" else "ours"


def _recall_table(rows: pl.DataFrame, budgets: Sequence[int]) -> dict[str, Any]:
    """One line a row, one column a budget."""
    lines = []
    for (name,), own in rows.group_by("name", maintain_order=True):
        by = {r["budget"]: r for r in own.iter_rows(named=True)}
        cells = [cell(number(by[b]["value"]), interval(by[b])) if b in by else cell("") for b in budgets]
        lines.append({"form": _form(own["system"][0], own["published"][0]), "cells": [cell(name), *cells]})
    return {"heads": ["system", *map(str, budgets)], "rows": lines}


def _order(rows: pl.DataFrame) -> dict[str, int]:
    """Rows worth a curve: all graph systems, then the best sentence rankings; name -> colour."""
    means = (
        rows.filter(pl.col("metric") == rows["metric"][0])
        .group_by("name", "system", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    graph = means.filter(pl.col("system") != "sentences").sort("name")["name"].to_list()
    sentences = (
        means.filter(pl.col("system") == "sentences").sort("value", "name", descending=[True, False])["name"].to_list()
    )
    return {name: n for n, name in enumerate((graph + sentences)[: max(MAX_CURVES, len(graph) + 2)])}


def _note(own: pl.DataFrame, where: str) -> str:
    n = own["n"].unique().sort().to_list()
    count = str(n[0]) if len(n) == 1 else f"{n[0]} to {n[-1]}"
    return f"n = {count} questions, split {own['split'][0]}, 95 % intervals. Rows: {where}."


def _track_parts(name: str, own: pl.DataFrame, track: str) -> list[dict[str, Any]]:
    every = own.filter((pl.col("track") == track) & (pl.col("subset") == "all"))
    rows = _recall(every).filter(pl.col("metric").is_in(RECALL))
    if not rows.height:
        return []
    present = [m for m in RECALL if m in rows["metric"].unique().to_list()]
    budgets, where = rows["budget"].unique().sort().to_list(), f"dataset = {name}, track = {track}"
    parts = [
        {
            "title": f"Order-{track}: evidence recall against tokens",
            "svg": plots.curves(rows, present[:2], _order(rows), f"evidence recall on {name}, order-{track}"),
            "form": "curves",
            "note": _note(rows, where) + " Bands: graph systems' intervals; the table has all.",
        }
    ]
    for metric in present:
        part = rows.filter(pl.col("metric") == metric).sort("system", "scorer", nulls_last=True)
        parts.append(
            {
                "title": f"Order-{track}: {metric}",
                "table": _recall_table(part, budgets),
                "note": _note(part, f"{where}, metric = {metric}@B"),
            }
        )
    return parts + _lift_part(every, track, where)


def _lift_part(own: pl.DataFrame, track: str, where: str) -> list[dict[str, Any]]:
    """Answer lift at equal tokens, with its controls: the context of another question, and no context."""
    measured = own.filter(pl.col("metric").str.contains("^(lift|closed_book)")).sort(
        "system", "scorer", nulls_last=True
    )
    columns = [m for m in measured["metric"].unique(maintain_order=True) if m != "lift@claim"]
    columns.sort(key=lambda m: (not m.startswith("lift@"), m == "closed_book", int(m.partition("@")[2] or 0)))
    lines = []
    for (name,), rows in measured.group_by("name", maintain_order=True):
        by = {r["metric"]: r for r in rows.iter_rows(named=True)}
        cells = [cell(number(by[m]["value"]), interval(by[m])) if m in by else cell("") for m in columns]
        lines.append({"form": _form(rows["system"][0], False), "cells": [cell(name), *cells]})
    if not lines:
        return []
    heads = [m.replace("lift_shuffled@", "another question's, ").replace("lift@", "") for m in columns]
    note = " Nats per token of the answer above no context at all (closed_book: its log-probability there)."
    return [
        {
            "title": f"Order-{track}: answer lift at equal tokens",
            "table": {"heads": ["system", *heads], "rows": lines},
            "note": _note(measured, f"{where}, metric = lift@B") + note,
        }
    ]


def _selection_parts(name: str, own: pl.DataFrame) -> list[dict[str, Any]]:
    rows = own.filter(pl.col("metric") == "f1_at_gold")
    parts = []
    for aware, title in ((False, "answer-free"), (True, "answer-aware (the scorer sees the gold answer)")):
        part = rows.filter((pl.col("answer_aware") == aware) & ~pl.col("published"))
        if not part.height:
            continue
        subsets = part["subset"].unique(maintain_order=True).to_list()
        main = "cat1-4" if "cat1-4" in subsets else subsets[0]
        best = _whole(part.filter(pl.col("subset") == main)).sort("value", "name", descending=[True, False])
        where = f"dataset = {name}, metric = f1_at_gold, answer_aware = {str(aware).lower()}"
        parts.append(
            {
                "title": f"F1 at gold size, {title}, {main}",
                "svg": plots.bars(best, f"F1 on {name}"),
                "form": "bars",
                "note": _note(best, where),
            }
        )
        shown = rows.filter(pl.col("answer_aware") == aware)
        stated = [s for s in shown["subset"].unique(maintain_order=True) if s not in subsets]
        parts.append(
            {
                "title": f"F1 at gold size by subset, {title}",
                "table": _subset_table(shown, [*subsets, *stated], best),
                "note": _note(part, where),
            }
        )
    return parts


def _whole(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that speak of every question of their subset: the costly scorers are computed for some only."""
    return rows.filter(pl.col("n") == pl.col("n").max().over("subset"))


def _selection_comparisons(name: str, own: pl.DataFrame) -> list[dict[str, Any]]:
    """Scorers with a language model against sentence scorers, paired by question."""
    rows = own.filter((pl.col("metric") == "f1_at_gold") & (pl.col("system") != "sentences"))
    whole = "cat1-4" if "cat1-4" in rows["subset"].unique().to_list() else "all"
    rows = rows.filter((pl.col("subset") == whole) | pl.col("subset").str.contains(r"^F\d+$"))  # the table has all
    parts = []
    for aware, title in ((False, "answer-free"), (True, "answer-aware")):
        part = rows.filter(pl.col("answer_aware") == aware)
        lines = [
            {
                "form": "",
                "cells": [
                    cell(row_name(r["system"], r["scorer"])),
                    cell(r["subset"]),
                    cell(r["baseline"], "the best" if r["best"] else ""),
                    cell(f"{r['difference']:+.4f}", f"{r['low']:+.4f} to {r['high']:+.4f}"),
                    cell(f"{r['p']:.4f}"),
                    cell(str(r["n"])),
                ],
            }
            for r in part.sort("subset", "baseline", "difference", descending=[False, False, True]).iter_rows(
                named=True
            )
        ]
        if lines:
            heads = ["scorer", "subset", "sentence scorer", "difference", "p", "n"]
            parts.append(
                {
                    "title": f"F1 at gold size, {title}: difference to sentence scorers, paired",
                    "table": {"heads": heads, "rows": lines},
                    "note": f"comparisons.parquet, dataset = {name}. p: sign flips over resampling units, two-sided, not corrected for the number of rows.",
                }
            )
    return parts


def _subset_table(rows: pl.DataFrame, subsets: Sequence[str], best: pl.DataFrame) -> dict[str, Any]:
    names = list(dict.fromkeys([*best["name"], *rows["name"]]))
    whole = dict(rows.filter(~pl.col("published")).group_by("subset").agg(pl.col("n").max()).iter_rows())
    lines = []
    for name in names:
        by = {r["subset"]: r for r in rows.filter(pl.col("name") == name).iter_rows(named=True)}
        any_row = next(iter(by.values()))
        cells = [_f1_cell(by[s], whole) if s in by else cell("") for s in subsets]
        label = f"{name} (published)" if any_row["published"] else name
        lines.append({"form": _form(any_row["system"], any_row["published"]), "cells": [cell(label), *cells]})
    return {"heads": ["scorer", *subsets], "rows": lines}


def _f1_cell(row: Mapping[str, Any], whole: Mapping[str, int]) -> dict[str, str]:
    """An F1 with its interval, and its n where it speaks of fewer questions than others of the subset."""
    few = f", n {row['n']}" if not row["published"] and row["n"] < whole.get(row["subset"], 0) else ""
    return cell(number(row["value"], 4), interval(row) + few)


def _comparison_part(name: str, own: pl.DataFrame, track: str | None) -> dict[str, Any] | None:
    """Ours against the best sentence scorer, paired."""
    rows = own.filter(
        (pl.col("system") != "sentences") & pl.col("track").eq_missing(track) & (pl.col("subset") == "all")
    )
    rows = rows.filter(pl.col("metric").str.split("@").list.first().is_in(["exact", "novel", "lift"]) & pl.col("best"))
    rows = rows.sort(~pl.col("metric").is_in(CLAIMS), maintain_order=True)
    if not rows.height:
        return None
    lines = [
        {
            "form": "",
            "cells": [
                cell(r["system"]),
                cell(_claim(r["metric"])),
                cell(r["baseline"]),
                cell(f"{r['difference']:+.3f}", f"{r['low']:+.3f} to {r['high']:+.3f}"),
                cell(f"{r['p']:.4f}"),
            ],
        }
        for r in rows.iter_rows(named=True)
    ]
    return {
        "title": f"Order-{track}: difference to the best sentence ranking, paired",
        "table": {"heads": ["system", "metric", "best sentence scorer", "difference", "p"], "rows": lines},
        "note": _note(rows, f"comparisons.parquet, dataset = {name}, track = {track}")
        + " p: sign flips over resampling units, two-sided, not corrected for the number of rows.",
    }


def _cost_part(name: str, prompts: pl.DataFrame) -> dict[str, Any] | None:
    own = prompts.filter(pl.col("dataset") == name)
    if not own.height:
        return None
    return {
        "title": "Tokens of the whole prompt, by encoding",
        "svg": plots.tokens_by_encoding(own, f"prompt tokens on {name}"),
        "form": "bars",
        "note": f"n = {own['n'][0]} questions; counted by the answering model's tokenizer, rules and question included. Rows: prompts.parquet of each variant.",
    }


PRESENT = {
    "whole": "in the block, whole",
    "lines": "in the block, as lines",
    "absent": "not in the block",
    "unresolved": "resolves to no passage",
}


def _card(sample: Mapping[str, Any], edges: pl.DataFrame) -> dict[str, Any]:
    """A sampled question: its words and figures, and the drawing of its edges."""
    drawn = [Drawn(**row) for row in edges.select("head", "relation", "tail", "gold", "whole").iter_rows(named=True)]
    asked = frozenset(edges.filter("head_asked")["head"]) | frozenset(edges.filter("tail_asked")["tail"])
    figures = [f"{name} {number(sample[name])}" for name in RECALL if sample.get(name) is not None]
    return {
        "id": sample["question_id"],
        "question": sample["text"],
        "answer": sample["answer"] or "none given",
        "figures": ", ".join(figures) or "none: no gold evidence",
        "evidence": [(t, s, PRESENT[s]) for t, s in zip(sample["evidence"], sample["present"], strict=True)],
        "svg": draw(drawn, asked, f"graph of the evidence block of question {sample['question_id']}"),
        "shown": f"{len(drawn)} of {sample['edges']} edges",
    }


def _samples_part(one: Mapping[str, Any]) -> dict[str, Any]:
    samples, edges = one["samples"].sort("n"), one["subgraphs"].sort("question_id", "n")
    cards = [
        _card(row, edges.filter(pl.col("question_id") == row["question_id"])) for row in samples.iter_rows(named=True)
    ]
    system = f"{one['system']} · {one['track']}"
    return {
        "title": f"Sampled questions: the graph in the evidence block at {samples['budget'][0]} word pieces, {system}",
        "text": "Boxes are entities, arrows relations from head to tail. Thick orange: from gold evidence. Dashed line: "
        "the block shows the sentence whole, and these are its edges. Blue box: shares a word with the "
        "question's entities. Dashed box: repeats an entity that has its place elsewhere.",
        "cards": cards,
        "note": f"n = {samples.height} questions chosen by seed, with all their evidence in the block and without it in "
        f"turn where there are both. Edges of gold evidence are drawn first. All of a question: "
        f"secateur show EXPERIMENT QUESTION_ID --system {one['system']} --track {one['track']}.",
    }


def found(metrics: pl.DataFrame, comparisons: pl.DataFrame) -> list[str]:
    """The headline sentences: what the rows say, with their intervals."""
    lines = []
    named = _named(metrics.filter(~pl.col("published")))
    for (dataset,), own in named.group_by("dataset", maintain_order=True):
        f1 = _whole(own.filter((pl.col("metric") == "f1_at_gold") & (pl.col("subset") == "all")))
        for aware, label in ((False, "answer-free"), (True, "answer-aware")):
            best = f1.filter(pl.col("answer_aware") == aware).sort("value", "name", descending=[True, False]).head(1)
            for r in best.iter_rows(named=True):
                lines.append(
                    f"{dataset}: best {label} scorer {r['scorer']}, F1 at gold size {number(r['value'])} ({interval(r)}, n {r['n']})."
                )
        lines += herring_headlines(dataset, own) + policy_headlines(dataset, own, comparisons)
        for track in ("blind", "aware"):
            lines += _headline(dataset, track, own, comparisons)
    return lines


def _headline(dataset: str, track: str, own: pl.DataFrame, comparisons: pl.DataFrame) -> list[str]:
    """Each form of ours on the claim (the mean over some budgets), exact and novel, with its paired difference."""
    ours = f"^({'|'.join(OURS)})(:|$)"
    here = (pl.col("track") == track) & (pl.col("subset") == "all") & (pl.col("system").str.contains(ours))
    keys = ["system", "metric"]
    claimed = own.filter(here & pl.col("metric").is_in(CLAIMS)).sort(keys)
    against = comparisons.filter(here & pl.col("best") & (pl.col("dataset") == dataset)).select(
        *keys, "baseline", "difference", "p", from_="low", to="high"
    )
    lines = []
    for r in claimed.join(against, on=keys, how="left", maintain_order="left").iter_rows(named=True):
        tail = ""
        if r["baseline"]:
            tail = f"; {r['difference']:+.3f} ({r['from_']:+.3f} to {r['to']:+.3f}, p {r['p']:.4f}) against {r['baseline']}"
        value = f"{number(r['value'])} ({interval(r)}, n {r['n']})"
        lines.append(f"{dataset}, order-{track}: {r['system']} {_claim(r['metric'])} {value}{tail}.")
    return lines


def _claim(metric: str) -> str:
    """`exact@claim` in words."""
    return metric.replace("@claim", ", mean over the budgets claimed")


def render(
    name: str,
    title: str,
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    prompts: pl.DataFrame,
    variants: Sequence[Mapping[str, Any]],
    drawings: Sequence[Mapping[str, Any]],
    measures: pl.DataFrame,
    statistics: pl.DataFrame,
    stated: pl.DataFrame,
    spreads: pl.DataFrame,
    frontiers: pl.DataFrame,
) -> str:
    """The page.

    prompts: dataset, name, encoding, tokens, n; drawings: dataset, system, track and the tables samples and
    subgraphs; measures: corpus, dataset, system, track and the columns of graph_measures; statistics: dataset and
    the columns of dataset_statistics; stated: what publications say of them;
    spreads: dataset, system and the columns of score_quantiles; frontiers: dataset, system, track and the columns of
    frontier.
    """
    from jinja2 import Environment, StrictUndefined

    rows, sections = _named(metrics), []
    for (dataset,), own in rows.group_by("dataset", maintain_order=True):
        against = comparisons.filter(pl.col("dataset") == dataset)
        parts = _selection_parts(dataset, own) + _selection_comparisons(dataset, against) + cutoff_parts(dataset, own)
        parts += herring_parts(dataset, own, spreads) + policy_parts(dataset, own, against, frontiers)
        parts += memory_parts(dataset, own)
        for track in ("blind", "aware"):
            parts += [p for p in (*_track_parts(dataset, own, track), _comparison_part(dataset, against, track)) if p]
        drawn = [_samples_part(one) for one in drawings if one["dataset"] == dataset and one["samples"].height]
        last = [_cost_part(dataset, prompts), *drawn, statistics_part(dataset, statistics, stated)]
        sections.append({"title": dataset, "about": _about(own), "parts": parts + [p for p in last if p]})
    last = (answer_section(metrics, comparisons), growth_section(measures), lemma_section(measures))
    sections += [s for s in last if s]
    template = Path(__file__).with_name("page.html.j2").read_text(encoding="utf-8")
    page = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True).from_string(template)
    empty = {"text": "", "svg": "", "table": None, "cards": [], "form": "", "note": ""}
    sections = [s | {"parts": [empty | part for part in s["parts"]]} for s in sections]
    return page.render(
        name=name,
        title=title,
        found=found(metrics, comparisons),
        rows=f"results/experiments/{name}/metrics.parquet",
        sections=sections,
        variants=[
            {"name": f"{v['dataset']} · {v['system']}" + (f" · {v['track']}" if v["track"] else ""), "file": v["file"]}
            for v in variants
        ],
    )


def _about(own: pl.DataFrame) -> str:
    if is_checked(own):
        return ABOUT
    if own["track"].is_null().all():
        return "Selection path: each scorer picks as many passages as the question has gold ones."
    return (
        "Graph path: evidence that reaches the prompt at equal numbers of word pieces, beside rankings of whole sentences. "
        "Order-blind rows never look at a sentence's position; order-aware rows may."
    )
