"""Tables to one page."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from secateur.core.artifacts import write_text
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.published import published_statistics
from secateur.evaluation.subsets import of_split
from secateur.report.browser import Given, Set, best, browsed
from secateur.report.contents import Contents, labelled, tables
from secateur.report.format import row_name, row_of
from secateur.report.page import About, Figures, render
from secateur.stage.contract import main
from secateur.stage.ledger import costs, records

RESULTS = Path("results")


def _drawings(plan: Contents) -> list[dict]:
    """The sampled questions and their edges, with the variant that they are of."""
    names = ("samples", "subgraphs")
    return [{**row, **{name: read_table(TABLES[name], row[name]) for name in names}} for row in plan.drawn]


def _peers(plan: Contents) -> list[dict]:
    """The cost of each peer's index and its answers to the questions, with the peer's labels."""
    names = {"indexed": "peer_costs", "asked": "peer_asked"}
    return [
        {**row, **{key: read_table(TABLES[name], row[name]).to_dicts()[0] for key, name in names.items()}}
        for row in plan.peers
    ]


def _turns(row: dict, passages: pl.DataFrame) -> Iterator[Given]:
    """What each of a list's best scorers selects of a dialogue."""
    spoken = pl.concat_str(pl.col("speaker") + ": ", pl.col("text") + "\n", ignore_nulls=True)
    texts = passages.select("passage_id", text=spoken)
    rows = read_table(TABLES["selections"], row["selections"]).join(texts, on="passage_id", maintain_order="left")
    rows = rows.with_columns(place="rank", tokens=pl.lit(None, pl.Int32))
    figures = tables("question_metrics", row["question_metrics"])
    for scorer in best(figures):
        own = pl.col("scorer") == scorer
        yield Given(row_name(row["system"], scorer), rows.filter(own), figures.filter(own), {})


def _given(row: dict, budget: int) -> Given:
    """What a row sends within a budget."""
    rows = read_table(TABLES["contexts"], row["contexts"]).filter(pl.col("budget") == budget)
    answers = tables("answers", row["answers"])
    figures = tables("question_metrics", row["question_metrics"]).filter(pl.col("hop").is_null())
    aware = ", order-aware" if row["order"] == "aware" else ""
    said = dict(answers.select("question_id", "text").iter_rows())
    return Given(row["system"] + aware, rows, figures, said)


def _ordered(families: Mapping[str, str], given: list[Given]) -> list[Given]:
    """The first by a model or graph, the first plain one, which stand beside each other at first, and the rest."""
    plain = [families[row_of(one.name.partition(",")[0])[0]] == "lexical" for one in given]
    firsts = [plain.index(kind) for kind in (False, True) if kind in plain]
    return [given[n] for n in (*firsts, *(n for n in range(len(given)) if n not in firsts))]


def _browsed(plan: Contents, claim: tuple[int, ...]) -> list[Set]:
    """The data sets of the question browser, contexts at the largest budget that is claimed."""
    sets = []
    for row in plan.browsed_sets:
        shown = [one for one in plan.browsed if one["dataset"] == row["dataset"]]
        if "passages" in row:
            budget, passages = None, read_table(TABLES["passages"], row["passages"])
            given = [turns for one in shown for turns in _turns(one, passages)]
        else:
            budget = max(claim)
            given = [_given(one, budget) for one in shown]
        questions = of_split(read_table(TABLES["questions"], row["questions"]), row["split"]).sort("position")
        evidence = read_table(TABLES["evidence"], row["evidence"])
        sets.append(Set(row["dataset"], questions, evidence, _ordered(plan.families, given), budget))
    return sets


def run(cfg, inputs, outputs, ctx):
    plan = Contents(**cfg.extra.plan)
    figures = Figures(
        metrics=inputs["metrics"],
        comparisons=inputs["comparisons"],
        drawings=_drawings(plan),
        growth=labelled(plan.graphs, "growth", "corpus", "system", "order"),
        statistics=labelled(plan.datasets, "dataset_statistics", "dataset"),
        stated=published_statistics(inputs.paths("published")[0], [row["dataset"] for row in plan.datasets]),
        spreads=labelled(plan.distractors, "score_quantiles", "dataset", "system"),
        accepted=labelled(plan.distractors, "acceptance", "dataset", "system"),
        frontiers=labelled(plan.policies, "frontier", "dataset", "system", "order"),
        peers=_peers(plan),
        families=plan.families,
        browsed=browsed(_browsed(plan, cfg.eval.claim)),
        # Records are no inputs: a time alone makes no page anew, and what runs again makes it anew by its tables.
        costs=costs(plan.variants, records(RESULTS)),
    )
    variants = [row | {"file": row["files"][0]} for row in plan.variants]
    about = About(plan.name, cfg.experiment.title, cfg.eval.min_units, tuple(cfg.eval.claim), variants, plan.missing)
    page = render(about, figures)
    write_text(outputs.path("report"), page)
    return {"bytes": len(page.encode())}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
