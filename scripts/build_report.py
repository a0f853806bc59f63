"""Tables of an experiment to one HTML page."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from secateur.contexts.table import at
from secateur.core.artifacts import write_text
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.published import published_statistics
from secateur.evaluation.subsets import of_split
from secateur.report.browser import Set, best, browsed
from secateur.report.contents import Contents, labelled, tables
from secateur.report.finding import OWN, PLAIN
from secateur.report.format import row_name, row_of
from secateur.report.page import About, Figures, render
from secateur.report.trace import Traces, turns
from secateur.stage.contract import main
from secateur.stage.ledger import records
from secateur.stage.lineage import costs, warned

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


def _turns(row: dict, passages: pl.DataFrame, *about: pl.DataFrame) -> Iterator[tuple[str, Traces]]:
    """(name, traces) of the best scorers of a system, through the turns that each selects. about: questions, evidence."""
    rows = turns(read_table(TABLES["selections"], row["selections"]), passages)
    figures = tables("question_metrics", row["question_metrics"])
    for scorer in best(figures):
        yield (
            row_name(row["system"], scorer),
            Traces(*about, rows.filter(scorer=scorer), figures.filter(scorer=scorer)),
        )


def _contexts(row: dict, budget: int, *about: pl.DataFrame) -> tuple[str, Traces]:
    """(name, traces) of a system through its contexts at a budget. about: questions, evidence."""
    contexts = at(read_table(TABLES["contexts"], row["contexts"]), budget)
    answers = dict(tables("answers", row["answers"]).select("question_id", "text").iter_rows())
    name = row["system"] + (", order-aware" if row["order"] == "aware" else "")
    return name, Traces(*about, contexts, tables("question_metrics", row["question_metrics"]), answers)


def _ordered(families: Mapping[str, str], systems: Sequence[tuple[str, Traces]]) -> dict[str, Traces]:
    """The systems, first the user's, else one that is no plain ranking, then a plain one: the page opens with these two."""
    kinds = [families[row_of(name.partition(",")[0])[0]] for name, _ in systems]
    wanted = ([n for n, kind in enumerate(kinds) if kind in OWN], [n for n, kind in enumerate(kinds) if kind != PLAIN])
    firsts = [*chain(*wanted)][:1] + [n for n, kind in enumerate(kinds) if kind == PLAIN][:1]
    return dict(systems[n] for n in dict.fromkeys((*firsts, *range(len(systems)))))


def _browsed(plan: Contents, claim: Sequence[int]) -> list[Set]:
    """The data sets of the question browser."""
    sets = []
    for dataset in plan.browsed_sets:
        rows = [row for row in plan.browsed if row["dataset"] == dataset["dataset"]]
        questions = of_split(read_table(TABLES["questions"], dataset["questions"]), dataset["split"]).sort("position")
        about = (questions, read_table(TABLES["evidence"], dataset["evidence"]))
        if "passages" in dataset:
            budget, passages = None, read_table(TABLES["passages"], dataset["passages"])
            systems = [system for row in rows for system in _turns(row, passages, *about)]
        else:
            budget = next((row["length"] for row in rows if row["length"]), None) or max(claim)
            systems = [_contexts(row, max(claim), *about) for row in rows]
        sets.append(Set(dataset["dataset"], _ordered(plan.families, systems), budget))
    return sets


def run(cfg, inputs, outputs, ctx):
    plan = Contents(**cfg.extra.plan)
    stage_records = records(RESULTS)
    figures = Figures(
        metrics=inputs["metrics"],
        comparisons=inputs["comparisons"],
        leaders=inputs["leaders"],
        equal_quality=inputs["equal_quality"],
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
        costs=costs(plan.variants, stage_records),
        warnings=warned([*plan.variants, {"files": [str(inputs.paths("metrics")[0])]}], stage_records),
    )
    variants = [row | {"file": row["files"][0]} for row in plan.variants]
    about = About(plan.name, cfg.experiment.title, cfg.eval.min_units, tuple(cfg.eval.claim), variants, plan.missing)
    page = render(about, figures)
    write_text(outputs.path("report"), page)
    return {"bytes": len(page.encode())}


main(run, globals().get("snakemake"))
