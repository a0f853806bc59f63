"""Tables to one page."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from secateur.core.artifacts import write_text
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, read_tables
from secateur.evaluation.published import published_statistics
from secateur.evaluation.subsets import of_split
from secateur.report.browser import Given, Set, best, browsed
from secateur.report.format import row_name, row_of
from secateur.report.page import About, Figures, render
from secateur.stage.contract import main
from secateur.stage.ledger import costs, records

RESULTS = Path("results")


def _drawings(cfg, inputs) -> list[dict]:
    """The sampled questions and their edges, by the variant they speak of."""
    tables = zip(*(inputs.each(name) if cfg.extra.drawn else [] for name in ("samples", "subgraphs")), strict=True)
    return [
        row | {"samples": samples, "subgraphs": edges}
        for row, (samples, edges) in zip(cfg.extra.drawn, tables, strict=True)
    ]


def _growth(cfg, inputs) -> pl.DataFrame:
    """The growth of all graphs, with their labels."""
    frames, keys = inputs.each("growth") if cfg.extra.growth else [], ("corpus", "system", "order")
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in keys})
        for row, frame in zip(cfg.extra.growth, frames, strict=True)
    ]
    return pl.concat([TABLES["growth"].empty().with_columns(**{key: pl.lit("") for key in keys}), *named])


def _statistics(cfg, inputs) -> pl.DataFrame:
    """The statistics of all data sets, with their names."""
    frames = zip(cfg.extra.described, inputs.each("dataset_statistics"), strict=True)
    return pl.concat([frame.with_columns(dataset=pl.lit(row["dataset"])) for row, frame in frames])


def _frontiers(cfg, inputs) -> pl.DataFrame:
    """The frontiers of all policies, with what each of them speaks of."""
    frames, keys = inputs.each("frontier") if cfg.extra.learnt else [], ("dataset", "system", "order")
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in keys})
        for row, frame in zip(cfg.extra.learnt, frames, strict=True)
    ]
    return pl.concat([TABLES["frontier"].empty().with_columns(**{key: pl.lit("") for key in keys}), *named])


def _checked(cfg, inputs, name: str) -> pl.DataFrame:
    """A table of scores over passages of known kind, with their data set and system."""
    frames = inputs.each(name) if cfg.extra.checked else []
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in ("dataset", "system")})
        for row, frame in zip(cfg.extra.checked, frames, strict=True)
    ]
    return pl.concat([TABLES[name].empty().with_columns(dataset=pl.lit(""), system=pl.lit("")), *named])


def _peers(cfg, inputs) -> list[dict]:
    """What each peer cost, and how it took the questions, with what that speaks of."""
    tables = zip(*(inputs.each(name) if cfg.extra.peers else [] for name in ("peer_costs", "peer_asked")), strict=True)
    found = zip(cfg.extra.peers, tables, strict=True)
    return [row | {"indexed": costs.to_dicts()[0], "asked": asked.to_dicts()[0]} for row, (costs, asked) in found]


def _read(name: str, paths: list[str]) -> pl.DataFrame:
    return read_tables(TABLES[name], paths)


def _turns(row: dict, passages: pl.DataFrame) -> Iterator[Given]:
    """What each of a list's best scorers selects of a dialogue."""
    spoken = pl.concat_str(pl.col("speaker") + ": ", pl.col("text") + "\n", ignore_nulls=True)
    texts = passages.select("passage_id", text=spoken)
    rows = read_table(TABLES["selections"], row["shown"]).join(texts, on="passage_id", maintain_order="left")
    rows = rows.with_columns(place="rank", tokens=pl.lit(None, pl.Int32))
    figures = _read("question_metrics", row["figures"])
    for scorer in best(figures):
        own = pl.col("scorer") == scorer
        yield Given(row_name(row["system"], scorer), rows.filter(own), figures.filter(own), {})


def _given(row: dict, budget: int) -> Given:
    """What a row sends within a budget."""
    rows = read_table(TABLES["contexts"], row["shown"]).filter(pl.col("budget") == budget)
    answers = _read("answers", row["answers"]) if row["answers"] else TABLES["answers"].empty()
    figures = _read("question_metrics", row["figures"]).filter(pl.col("hop").is_null())
    aware = ", order-aware" if row["order"] == "aware" else ""
    said = dict(answers.select("question_id", "text").iter_rows())
    return Given(row["system"] + aware, rows, figures, said)


def _ordered(cfg, given: list[Given]) -> list[Given]:
    """The first by a model or graph, the first plain one, which stand beside each other at first, and the rest."""
    plain = [cfg.extra.families[row_of(one.name.partition(",")[0])[0]] == "lexical" for one in given]
    firsts = [plain.index(kind) for kind in (False, True) if kind in plain]
    return [given[n] for n in (*firsts, *(n for n in range(len(given)) if n not in firsts))]


def _browsed(cfg) -> list[Set]:
    """The data sets of the question browser, each at the largest budget that is claimed."""
    sets = []
    for one in cfg.extra.browsed_sets:
        rows = [row for row in cfg.extra.browsed if row["dataset"] == one["dataset"]]
        budget = None if one["passages"] else max(cfg.eval.claim)
        if one["passages"]:
            passages = read_table(TABLES["passages"], one["passages"])
            given = [shown for row in rows for shown in _turns(row, passages)]
        else:
            given = [_given(row, budget) for row in rows]
        questions = of_split(read_table(TABLES["questions"], one["questions"]), one["split"]).sort("position")
        sets.append(
            Set(
                one["dataset"], questions, read_table(TABLES["evidence"], one["evidence"]), _ordered(cfg, given), budget
            )
        )
    return sets


def run(cfg, inputs, outputs, ctx):
    described = [row["dataset"] for row in cfg.extra.described]
    figures = Figures(
        metrics=inputs["metrics"],
        comparisons=inputs["comparisons"],
        drawings=_drawings(cfg, inputs),
        growth=_growth(cfg, inputs),
        statistics=_statistics(cfg, inputs),
        stated=published_statistics(inputs.paths("published")[0], described),
        spreads=_checked(cfg, inputs, "score_quantiles"),
        accepted=_checked(cfg, inputs, "acceptance"),
        frontiers=_frontiers(cfg, inputs),
        peers=_peers(cfg, inputs),
        families=cfg.extra.families,
        browsed=browsed(_browsed(cfg)),
        # Records are no inputs: a time alone makes no page anew, and what runs again makes it anew by its tables.
        costs=costs(cfg.extra.variants, records(RESULTS)),
    )
    variants = [row | {"file": row["files"][0]} for row in cfg.extra.variants]
    named, rows = (cfg.extra.name, cfg.experiment.title), (variants, cfg.extra.missing)
    about = About(*named, cfg.eval.min_units, tuple(cfg.eval.claim), *rows)
    page = render(about, figures)
    write_text(outputs.path("report"), page)
    return {"bytes": len(page.encode())}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
