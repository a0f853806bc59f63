"""A ranking and contexts made elsewhere stand beside the system they were taken from, and have its figures."""

import json

import polars as pl
import pytest

from secateur.contexts.table import OWN_LENGTH

pytestmark = pytest.mark.slow

DATA = "results/toy_documents_smoke/toy_documents_smoke"
SOURCES = {
    "title_zsum": "contexts/lexical/minilm.sentences/title_zsum",
    "mine_run": "contexts/lexical/minilm.mine/mine",
    "mine_contexts": "contexts/imported/mine_contexts.blind/imported",
    "mine_parts": "contexts/imported/mine_parts.blind/imported",
}
BUDGETS = {"mine_contexts": 256, "mine_parts": 128}  # at which title_zsum wrote what is imported
OPTIONS = {
    "rankers/mine": "defaults: [sentences, _self_]\nscorers: {mine: {kind: import, run: mine.run}}\n",
    "system/mine_run": "defaults: [_default, _self_]\nrankers: mine\nranker: mine\norders: [blind]\n",
    "system/mine_contexts": "defaults: [_default, _self_]\ncontexts: mine_contexts.jsonl\n",
    "system/mine_parts": "defaults: [_default, _self_]\ncontexts: mine_parts.jsonl\n",
    "experiment/mine": "title: Imports\ndatasets: [toy_documents_smoke]\naxes: {}\nexclude: []\ngains: true\n"
    f"systems: [{', '.join(SOURCES)}]\n",
}


def source(system: str, length: str = "") -> str:
    return f"{SOURCES[system]}/none/text/default.smollm2{length}"


def run_of(rankings: pl.DataFrame) -> str:
    own = rankings.filter(pl.col("scorer") == "title_zsum").select("question_id", "passage_id", "rank", "value")
    return "".join(f"{q} Q0 {p} {rank + 1} {value!r} title_zsum\n" for q, p, rank, value in own.iter_rows())


def lines_of(contexts: pl.DataFrame, in_parts: bool) -> str:
    """The contexts of one budget as a file of them: texts alone, or parts with their passages."""
    rows = contexts.sort("question_id", "place")
    if in_parts:
        rows = rows.with_columns(pl.col("text").str.strip_chars_end("\n"))
        parts = rows.group_by("question_id", maintain_order=True).agg("text", passages="passage_id")
    else:
        parts = rows.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join(""))
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
    own = pl.read_parquet(project.root / contexts)
    for name, budget in BUDGETS.items():
        text = lines_of(own.filter(budget=budget), in_parts=name == "mine_parts")
        (project.root / f"{name}.jsonl").write_text(text)
    done = project.snakemake("results/experiments/mine/metrics.parquet", "--config", "experiment=mine")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def table(project, name: str, *parts: str) -> pl.DataFrame:
    return pl.read_parquet(project.root.joinpath(*parts) / f"{name}.parquet")


def test_contexts_are_those_of_the_system_they_were_taken_from(imported):
    own, run = (table(imported, "contexts", DATA, source(name)) for name in ("title_zsum", "mine_run"))
    assert own.height
    assert run.drop("scorer").equals(own.drop("scorer"))
    assert set(run["scorer"]) == {"mine"}


@pytest.mark.parametrize(("name", "budget"), BUDGETS.items())
def test_contexts_given_back_are_found_in_their_texts_and_others_are_packed_to_their_tokens(imported, name, budget):
    own = table(imported, "contexts", DATA, source("title_zsum")).filter(budget=budget)
    file, packed = (
        table(imported, "contexts", DATA, place) for place in (source(name), source("title_zsum", f".{name}"))
    )
    assert file.height
    for again in (file, packed):
        assert set(again["budget"]) == {OWN_LENGTH}
        assert again.drop("scorer", "form", "budget").equals(own.drop("scorer", "form", "budget"))


@pytest.mark.parametrize(("figures", "reader"), [("evidence", ""), ("answer_gain", "default/0of1")])
@pytest.mark.parametrize("name", BUDGETS)
def test_a_row_and_itself_given_back_have_the_same_figures_to_the_bit(imported, figures, reader, name):
    file, packed, run = (
        table(imported, "question_metrics", DATA, figures, place, reader).filter(pl.col("metric") != "closed_book")
        for place in (source(name), source("title_zsum", f".{name}"), source("mine_run", f".{name}"))
    )
    assert file.height
    assert all(metric.endswith(f"@{name}") for metric in file["metric"])
    assert packed.drop("order").equals(file.drop("order"))
    assert run.drop("order").equals(file.drop("order"))


def test_two_systems_made_elsewhere_are_compared_at_the_tokens_of_either(imported):
    longer = table(imported, "contexts", DATA, source("mine_contexts", ".mine_parts"))
    lengths = table(imported, "contexts", DATA, source("mine_parts")).select("question_id", allowed="tokens").unique()
    assert longer.join(lengths, on="question_id").filter(pl.col("tokens") > pl.col("allowed")).is_empty()
    shorter, own = (table(imported, "contexts", DATA, source("mine_parts", at)) for at in (".mine_contexts", ""))
    assert shorter.equals(own)


def test_their_differences_are_exactly_nothing(imported):
    pairs = table(imported, "comparisons", "results/experiments/mine")
    at = pairs.filter(pl.col("metric").str.ends_with("@mine_contexts"), order="blind")
    sides = pl.concat_list("system", "baseline").list.sort()
    itself = at.filter(sides == pl.Series([["mine_contexts", "title_zsum"]]))
    assert {"evidence_recall@mine_contexts", "token_recall@mine_contexts", "answer_gain@mine_contexts"} <= set(
        itself["metric"]
    )
    assert set(itself["difference"]) == {0.0}
    assert set(itself["p_holm"]) == {1.0}


def test_contexts_made_elsewhere_are_order_blind_unless_they_say_otherwise(imported):
    metrics = table(imported, "metrics", "results/experiments/mine").filter(~pl.col("published"))
    found = set(metrics.select("system", "order", "scorer").unique().iter_rows())
    assert found == {("title_zsum", "blind", None), ("title_zsum", "aware", None)} | {
        ("mine_run", "blind", None),
        ("mine_contexts", "blind", None),
        ("mine_parts", "blind", None),
    }
