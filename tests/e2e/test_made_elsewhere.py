"""A ranking and contexts made elsewhere stand beside the system they were taken from, and have its figures."""

import json

import polars as pl
import pytest

from secateur.evaluation.retrieval import MEASURES

pytestmark = pytest.mark.slow

DATA = "results/toy_documents_smoke/toy_documents_smoke"
SOURCES = {
    "title_zsum": "contexts/lexical/minilm.sentences/title_zsum",
    "mine_run": "contexts/lexical/minilm.mine/mine",
    "mine_contexts": "contexts/imported/mine_contexts.blind/imported",
}
OPTIONS = {
    "rankers/mine": "defaults: [sentences, _self_]\nscorers: {mine: {kind: import, run: mine.run}}\n",
    "system/mine_run": "defaults: [_default, _self_]\nrankers: mine\nranker: mine\norders: [blind]\n",
    "system/mine_contexts": "defaults: [_default, _self_]\ncontexts: mine.jsonl\n",
    "experiment/mine": "title: Imports\ndatasets: [toy_documents_smoke]\naxes: {}\nexclude: []\ngains: true\n"
    f"systems: [{', '.join(SOURCES)}]\n",
}


def source(system: str) -> str:
    return f"{SOURCES[system]}/none/text/default.smollm2"


def run_of(rankings: pl.DataFrame) -> str:
    """One ranking of the table as a TREC run."""
    own = rankings.filter(pl.col("scorer") == "title_zsum").select("question_id", "passage_id", "rank", "value")
    return "".join(f"{q} Q0 {p} {rank + 1} {value!r} title_zsum\n" for q, p, rank, value in own.iter_rows())


def lines_of(contexts: pl.DataFrame) -> str:
    """The contexts as a file of them: parts, passages, budgets."""
    rows = contexts.sort("question_id", "budget", "place").with_columns(pl.col("text").str.strip_chars_end("\n"))
    parts = rows.group_by("question_id", "budget", maintain_order=True).agg("text", passages="passage_id")
    return "".join(json.dumps(row) + "\n" for row in parts.to_dicts())


@pytest.fixture(scope="module")
def imported(smoke, tmp_path_factory):
    """A copy of the finished smoke run, with what one of its systems chose imported twice."""
    project = smoke.copied(tmp_path_factory.mktemp("imports") / "project")
    for name, text in OPTIONS.items():
        (project.root / f"conf/{name}.yaml").write_text(text)
    (project.root / "mine.run").write_text(
        run_of(pl.read_parquet(project.root / DATA / "rankings/lexical/minilm.sentences/rankings.parquet"))
    )
    contexts = f"{DATA}/{source('title_zsum')}/contexts.parquet"
    made = project.snakemake(contexts)
    assert made.returncode == 0, made.stdout + made.stderr
    (project.root / "mine.jsonl").write_text(lines_of(pl.read_parquet(project.root / contexts)))
    done = project.snakemake("results/experiments/mine/metrics.parquet", "--config", "experiment=mine")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def table(project, name: str, *parts: str) -> pl.DataFrame:
    return pl.read_parquet(project.root.joinpath(*parts) / f"{name}.parquet")


def test_contexts_are_those_of_the_system_they_were_taken_from(imported):
    own = table(imported, "contexts", DATA, source("title_zsum"))
    run, file = (table(imported, "contexts", DATA, source(name)) for name in ("mine_run", "mine_contexts"))
    assert own.height
    assert run.drop("scorer").equals(own.drop("scorer"))
    assert file.drop("scorer", "form").equals(own.drop("scorer", "form"))
    assert set(run["scorer"]) == {"mine"}
    assert set(file["scorer"]) == set(file["form"]) == {"imported"}


@pytest.mark.parametrize(("figures", "reader"), [("evidence", ""), ("answer_gain", "default/0of1")])
def test_so_are_their_figures(imported, figures, reader):
    own, *others = (table(imported, "question_metrics", DATA, figures, source(name), reader) for name in SOURCES)
    assert own.height
    for other in others:
        assert other.drop("order").equals(own.drop("order"))


def test_contexts_made_elsewhere_are_order_blind_unless_they_say_otherwise(imported):
    metrics = table(imported, "metrics", "results/experiments/mine").filter(~pl.col("published"))
    found = set(metrics.select("system", "order", "scorer").unique().iter_rows())
    assert found == {("title_zsum", "blind", None), ("title_zsum", "aware", None)} | {
        ("mine_run", "blind", None),
        ("mine_contexts", "blind", None),
    }
    known = ("answer_aware", "subset", "metric", "value")
    # of what is ranked, not of contexts
    retrieved = pl.col("metric").str.contains("^(passage_recall|all_gold)@") | pl.col("metric").is_in(MEASURES.values())
    one, two = (metrics.filter(~retrieved, system=name).select(known) for name in ("mine_run", "mine_contexts"))
    assert metrics.filter(retrieved, system="mine_run").height
    assert one.sort(known).equals(two.sort(known))
