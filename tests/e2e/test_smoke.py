"""The whole pipeline on 40 passages, once; what it leaves, and that it can be repeated."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import networkx
import polars as pl
import pytest
from tests.support.project import copy_project, of_folder

from publication.keeping import keep
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.report.kept import kept_source
from secateur.verification.verify import verified

EXPERIMENT = Path("results/experiments/smoke")
DOCUMENTS = "toy_documents_smoke"
OWN = "[rankers, graph_zsum]"  # of the smoke run those that need no language model
# What a documents run computes without a language model.
COMPUTED = {"passages", "questions", "evidence", "dataset_statistics"}
COMPUTED |= {"triples", "entities", "relations", "edges", "lines", "edge_sources", "runs", "run_edges"}
COMPUTED |= {"aliases", "tombstones", "candidates", "paths", "rankings", "contexts", "question_metrics"}
COMPUTED |= {"growth", "samples", "subgraphs"}
MORE = {"preferences", "features", "memories", "curves", "frontier", "mentions", "variant_runs", "job_runs"}
MORE |= {"answers", "pool", "statistics", "selections", "metrics", "comparisons"}


def metrics(project, experiment: str = "smoke") -> pl.DataFrame:
    return read_table(TABLES["metrics"], project.root / f"results/experiments/{experiment}/metrics.parquet")


def parquet(project, corpus: str) -> dict[str, bytes]:
    """Every table of a corpus by its path, with the corpus's name taken out."""
    folder = project.root / "results" / corpus
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}
    return {name.replace(corpus, "CORPUS"): content for name, content in found.items()}


@pytest.fixture(scope="module")
def custom(smoke, tmp_path_factory):
    """The smoke documents as somebody's own folder: another hash seed, two threads, no triple cached.

    Embeddings come from the first run's cache: they are promised to be equal on one thread count only.
    """
    project = copy_project(tmp_path_factory.mktemp("custom") / "project")
    shutil.copytree(smoke.root / ".cache/embeddings", project.root / ".cache/embeddings")
    mine = shutil.copytree(project.root / "data/toy/documents_smoke", project.root.parent / "mine")
    custom = "defaults: [custom, _self_]\nexclude: []\n"
    (project.root / "conf/experiment/custom_mine.yaml").write_text(f"{custom}systems: {OWN}\n")
    config = of_folder(mine, "custom_mine")
    done = project.snakemake(*config, PYTHONHASHSEED="7", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stdout + done.stderr
    return project, config


def test_kept_figures_name_the_command_that_makes_them(smoke, custom, tmp_path):
    for project, name in ((smoke, "smoke"), (custom[0], "custom_mine")):
        keep(project.root / "results", tmp_path, name)
    for line, wrong in verified(tmp_path):  # from the values by question, to the last digit
        assert (line.endswith("all as kept"), wrong) == (True, [])
    assert kept_source(tmp_path, "smoke")["command"] == "make run EXPERIMENT=smoke"
    command = kept_source(tmp_path, "custom_mine")["command"]
    assert command.startswith("make run EXPERIMENT=custom_mine OVERRIDES=")
    assert "dataset.folder=" in command and str(custom[0].root.parent / "mine") in command


def test_no_policy_is_above_the_oracle_and_none_costs_more_than_all(smoke):
    rows = metrics(smoke).filter((pl.col("system") == "policy") & (pl.col("subset") == "all"))
    value = {(scorer, metric): v for scorer, metric, v in rows.select("scorer", "metric", "value").iter_rows()}
    named = {scorer for scorer, _ in value}
    assert {"policy", "best_constant", "classifier", "random", "oracle"} <= named
    fixed = sum(scorer.startswith("fixed:") for scorer in named)  # each question is a session of its own
    assert fixed in (2, 3)  # `unique` of facts without near-repeats is include_all
    for scorer in named:
        assert value[scorer, "policy_utility"] <= value["oracle", "policy_utility"] + 1e-12
        assert value[scorer, "policy_tokens"] <= value["fixed:not_include/not_include/include_all", "policy_tokens"]
    assert set(rows["split"]) == {"test"}


def test_sessions_store_what_the_model_said_of_training_questions_too(smoke):
    (path,) = (smoke.root / "results").rglob("preferences/**/memories.parquet")
    stored = read_table(TABLES["memories"], path).filter(pl.col("channel") == "answer")
    assert stored.height == 3  # a training, a dev and a test question
    assert not stored["verified"].any()


def test_memory_sends_less_and_shows_no_less(smoke):
    rows = metrics(smoke).filter((pl.col("system") == "sessions") & (pl.col("subset") == "all"))
    value = dict(rows.select("metric", "value").iter_rows())
    assert value["memory_tokens_first"] == value["memory_tokens_first_alone"]
    assert value["memory_tokens_later"] < value["memory_tokens_later_alone"]
    assert value["memory_evidence_recall"] >= value["memory_evidence_recall_alone"]
    assert value["memory_token_recall"] >= value["memory_token_recall_alone"]
    assert 0 < value["memory_reuse"] <= 1


def test_all_outputs_are_there_and_nothing_else_is(smoke):
    files = [path for path in (smoke.root / "results").rglob("*") if path.is_file()]
    names = {path.name for path in files}
    known = {f"{name}.parquet" for name in TABLES}
    others = {"run.json", "report.html", "model.json", "policy.safetensors", ".lock"}  # the last is the ledger's
    assert names - known == others
    assert {f"{name}.parquet" for name in COMPUTED | MORE} <= names


def test_every_job_left_a_record_of_success_and_a_log(smoke):
    records = [json.loads(path.read_text()) for path in (smoke.root / "results").rglob("run.json")]
    elsewhere = {"fetch_dataset", "check_red_herrings", "rerank_passages", "import_contexts"}  # of other experiments
    elsewhere |= {"prepare_peer", "index_peer", "ask_peer", "judge_answers", "compare_judges"}
    rules = {path.stem for path in (smoke.root / "scripts").glob("*.py")} - elsewhere
    assert {record["stage"] for record in records} == rules
    assert all(record["failure"] is None for record in records)
    assert len(list((smoke.root / "logs").rglob("*.log"))) == len(records)


def test_stages_ran_with_the_library_of_their_own_copy(smoke):
    """An installed package would make every test on a copy a test of something else."""
    where = smoke.run("python", "-c", "import secateur; print(secateur.__file__)").stdout.strip()
    assert Path(where).is_relative_to(smoke.root)


def test_the_metrics_cover_both_paths(smoke):
    computed = metrics(smoke).filter(~pl.col("published"))
    systems = set(computed.select("dataset", "system").unique().iter_rows())
    assert systems == {
        *((DOCUMENTS, name) for name in ("rankers", "graph_zsum", "beam", "closed_book", "rag_zsum", "remembered")),
        *((DOCUMENTS, name) for name in ("policy", "sessions")),
        *(("toy_dialogue_smoke", name) for name in ("rankers", "ecs:quick")),
    }
    assert set(computed.filter(system="graph_zsum")["order"]) == {"blind", "aware"}
    assert {"f1_at_gold", "evidence_recall@64", "token_recall@2048", "tokens@claim"} <= set(computed["metric"])
    assert computed.filter(metric="f1_at_gold")["order"].is_null().all()
    shares = computed.filter(pl.col("metric").str.contains("_(recall|coverage|kept)@"))
    assert shares["value"].is_between(0, 1).all()
    assert computed.filter(pl.col("metric").str.starts_with("tokens@"))["value"].is_between(1, 2048).all()


def test_every_ranking_of_documents_has_the_measures_that_everybody_computes(smoke):
    paths = list((smoke.root / f"results/{DOCUMENTS}/{DOCUMENTS}/retrieved").rglob("question_metrics.parquet"))
    names = {"ndcg@10", "reciprocal_rank", "average_precision", "passage_recall@5", "all_gold@5"}
    found = [read_table(TABLES["question_metrics"], path) for path in paths]
    assert {name for one in found for name in one["scorer"].drop_nulls()} > {"title_zsum", "minilm+neighbour"}
    assert len(found) == 4  # of a list, of the graph in two orders, of its walk
    for one in found:
        for _, own in one.group_by("scorer", "order"):
            assert names <= set(own["metric"])


def test_the_selection_path_has_rows_of_each_kind_of_scorer(smoke):
    own = metrics(smoke).filter(pl.col("system") == "ecs:quick", pl.col("metric") == "f1_at_gold")
    aware = dict(own.filter(pl.col("subset") == "all").select("scorer", "answer_aware").iter_rows())
    assert aware["signed"] and aware["signed@tau"] and aware["fitted:aware"]
    assert aware["arrival:signed:paper@fixed"] and aware["arrival:signed:paper@null"]
    assert not (aware["arrival:judge_factual@fixed"] or aware["arrival:judge_factual@null"])
    assert not (aware["pmi_q"] or aware["distilled"] or aware["fitted:free"] or aware["greedy"] or aware["greedy@tau"])


def test_a_list_has_a_row_for_each_ranker_in_each_order(smoke):
    rows = metrics(smoke).filter(pl.col("dataset") == DOCUMENTS, system="rankers", metric="tokens@claim", subset="all")
    found = set(rows.select("order", "scorer").iter_rows())
    names = ("bm25_k1.2_b0.75", "minilm", "zsum", "title_zsum")
    assert found == {("blind", name) for name in names} | {("aware", f"{name}+neighbour") for name in names}


def test_answer_gain_is_measured_of_what_has_one_context(smoke):
    gain = metrics(smoke).filter(pl.col("metric") == "answer_gain@256", pl.col("subset") == "all")
    expected = {("graph_zsum", "blind", None), ("graph_zsum", "aware", None), ("beam", "blind", None)}
    assert set(gain.select("system", "order", "scorer").iter_rows()) == expected
    assert set(gain["n"]) == {2}


def test_questions_are_answered_and_compared(smoke):
    own = metrics(smoke).filter(pl.col("dataset") == DOCUMENTS, pl.col("metric").is_in(["rouge_l", "read_gain"]))
    answered = ("closed_book", "rag_zsum", "remembered")
    assert dict(own.group_by("system").agg(pl.col("n").max()).iter_rows()) == dict.fromkeys(answered, 2)
    assert own.filter(system="closed_book", metric="read_gain")["value"].to_list() == [0.0]
    compared = read_table(TABLES["comparisons"], smoke.root / EXPERIMENT / "comparisons.parquet")
    pairs = compared.filter(metric="rouge_l").select("system", "baseline", "axis")
    assert pairs.rows() == [("rag_zsum", "closed_book", "ranker")]  # `remembered` differs in more than one axis


def test_the_report_is_one_page_that_loads_nothing(smoke):
    text = (smoke.root / EXPERIMENT / "report.html").read_text(encoding="utf-8")
    tags, loaded = set(), []
    page = HTMLParser()

    def begun(tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tags.add(tag)
        loads = {"src", "srcset", "data", "poster"} | ({"href"} if tag == "link" else set())
        loaded.extend(value for name, value in attrs if name in loads)

    page.handle_starttag = begun
    page.feed(text)
    assert [address for address in loaded if not address.startswith("data:")] == []
    assert not re.search(r"@import|url\(\s*['\"]?(?!#|data:)", text)
    assert {"svg", "table"} <= tags
    assert text.rstrip().endswith("</html>")


def test_the_report_says_what_each_row_cost(smoke):
    text = (smoke.root / EXPERIMENT / "report.html").read_text(encoding="utf-8")
    own = [json.loads(path.read_text()) for path in (smoke.root / "results").rglob("run.json")]
    table = text.partition("<h3>What it costs</h3>")[2].partition("<h3>")[0]  # the first data set's
    rows = re.findall('<th scope="row">([^<]+)</th><td>([^<]+)</td><td>([^<]+)</td><td>([^<]+)</td>', table)
    cost = {name: (float(sent.replace(",", "")), float(total.replace(",", ""))) for name, sent, total, _ in rows}
    aware = ("graph_zsum, order-aware", "beam", "closed_book", "rag_zsum", "remembered", "policy", "sessions")
    assert set(cost) == {"rankers", "graph_zsum", *aware}
    extractions = [one for one in own if one["stage"] == "extract_triples" and DOCUMENTS in one["axes"].values()]
    extraction = sum(one["cpu_seconds"] for one in extractions)
    assert all(0 < sent <= total for sent, total in cost.values())
    assert cost["graph_zsum"][0] >= extraction - 0.1 > 0
    assert cost["policy"][0] > cost["sessions"][0]  # it was learnt


def test_the_report_draws_sampled_questions_and_growth(smoke):
    text = (smoke.root / EXPERIMENT / "report.html").read_text(encoding="utf-8")
    (path,) = (smoke.root / "results").rglob("samples.parquet")
    samples = read_table(TABLES["samples"], path)
    assert samples.height == 3  # all the questions there are
    for question in samples["question_id"]:
        assert f"<code>{question}</code>" in text
        assert f"graph of the context of question {question}" in text
    assert "Codebook growth" in text


def test_a_graph_grows_with_the_passages_read(smoke):
    tables = [read_table(TABLES["growth"], path) for path in (smoke.root / "results").rglob("growth.parquet")]
    assert len(tables) == 2  # two orders; a walk goes over the graph of one of them
    for rows in tables:
        for (kind,), own in rows.group_by("kind"):
            assert own["count"].is_sorted(), kind
            assert own["count"][-1] > 0, kind


def told(project) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(project.root / "mlflow.db")) as store:
        query = "select e.name, r.name, r.status from runs r join experiments e using (experiment_id)"
        return set(store.execute(query))


def test_every_system_on_a_data_set_and_every_job_is_a_run_in_mlflow(smoke):
    record = json.loads((smoke.root / EXPERIMENT / "track/run.json").read_text())
    variants = record["config"]["extra.variants"]
    names = {f"{'aware · ' if v['order'] == 'aware' else ''}{v['system']} · {v['dataset']}" for v in variants}
    assert {name for experiment, name, _ in told(smoke) if experiment == "smoke"} == names
    stages = {json.loads(path.read_text())["stage"] for path in (smoke.root / "results").rglob("run.json")}
    assert {name.split()[0] for experiment, name, _ in told(smoke) if experiment == "smoke.jobs"} == stages
    assert {status for *_, status in told(smoke)} == {"FINISHED"}


def test_a_failed_job_is_a_run_in_mlflow(rerun):
    rerun.edit("data/toy/documents_smoke/passages.jsonl", "41 million euros", '41 million euros"')
    done = rerun.snakemake("--profile", "profiles/smoke")
    assert done.returncode == 1
    failed = {(experiment, name.split()[0]) for experiment, name, status in told(rerun) if status == "FAILED"}
    assert failed == {("smoke.jobs", "prepare_corpus")}


@pytest.mark.slow
def test_without_its_mlflow_server_a_run_succeeds_and_the_next_one_catches_up(rerun):
    before = told(rerun)
    (rerun.root / "mlflow.db").unlink()
    run = ("--profile", "profiles/smoke")
    down = rerun.snakemake(*run, "--forcerun", "track_variants", MLFLOW_TRACKING_URI="http://127.0.0.1:9")
    assert down.returncode == 0, down.stdout + down.stderr
    assert "Nothing is lost" in down.stderr
    up = rerun.snakemake(*run)
    assert up.returncode == 0, up.stdout + up.stderr
    assert told(rerun) == before
    assert "Nothing to be done" in rerun.snakemake(*run).stderr


def test_running_again_does_nothing(smoke):
    before = smoke.artifacts()
    again = smoke.snakemake("--profile", "profiles/smoke")
    assert again.returncode == 0
    assert "Nothing to be done" in again.stdout + again.stderr
    assert smoke.artifacts() == before


def test_the_summary_ends_with_the_path_of_the_report(smoke):
    said = smoke.secateur("summary", "smoke")
    assert said.returncode == 0
    assert (smoke.root / said.stdout.splitlines()[-1]).is_file()


def test_the_exported_graph_is_the_consolidated_one(smoke, tmp_path):
    said = smoke.secateur("export", "smoke", "--out", str(tmp_path / "g.graphml"))
    assert said.returncode == 0, said.stderr
    graph = networkx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    folder = smoke.root / "results" / DOCUMENTS / "graph/openie.minilm.default.blind.default"
    edges = read_table(TABLES["edges"], folder / "edges.parquet")
    aliases = read_table(TABLES["aliases"], folder / "aliases.parquet")
    (path,) = (smoke.root / f"results/{DOCUMENTS}").glob("codebook/*/entities.parquet")
    entities = read_table(TABLES["entities"], path)
    assert graph.number_of_edges() == edges.height
    shown = set(entities["entity_id"]) - set(aliases["entity_id"]) | {*edges["h"], *edges["t"]}
    assert {int(node) for node in graph} == shown
    assert all(data["text"] for _, data in graph.nodes(data=True))
    assert all(json.loads(data["passages"]) for *_, data in graph.edges(data=True))


@pytest.mark.slow
def test_your_own_documents_give_the_same_bytes_whatever_the_hash_seed_and_the_threads(smoke, custom):
    first, second = parquet(smoke, DOCUMENTS), parquet(custom[0], "custom")
    assert {Path(name).stem for name in second} == COMPUTED
    assert set(second) <= set(first)
    assert [name for name, content in second.items() if first[name] != content] == []


@pytest.mark.slow  # as the test before: the same figures under another hash seed and on two threads
def test_your_own_documents_get_figures_and_a_report(smoke, custom):
    own, known = (metrics(p, e).filter(~pl.col("published")) for p, e in ((custom[0], "custom_mine"), (smoke, "smoke")))
    rows = known.filter(
        pl.col("dataset") == DOCUMENTS,
        pl.col("system").is_in(["rankers", "graph_zsum"]),
        ~pl.col("metric").str.contains("answer_gain|closed_book"),
    ).with_columns(dataset=pl.lit("custom"))
    assert own.equals(rows)
    assert (custom[0].root / "results/experiments/custom_mine/report.html").is_file()


@pytest.mark.slow
def test_a_reranker_a_form_of_the_graph_and_a_policy_in_action_run_beside_it(rerun):
    """What is too slow for every smoke run."""
    rerun.edit("conf/experiment/smoke.yaml", "axes: {ecs: [quick]}", "axes: {reranker: [pmi_q], assembly: [lines]}")
    rerun.edit("conf/experiment/smoke.yaml", "exclude: [", "exclude: [{order: aware}, ")
    overrides = 'overrides=["experiment.systems=[graph_zsum,rag_zsum,compressed]","dataset.split=test"]'
    done = rerun.snakemake("--profile", "profiles/smoke", "--config", "experiment=smoke", overrides)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = metrics(rerun).filter(~pl.col("published"), pl.col("subset") == "all", pl.col("dataset") == DOCUMENTS)
    gained = set(rows.filter(pl.col("metric") == "answer_gain@256").select("system", "order").iter_rows())
    systems = ("graph_zsum", "graph_zsum:pmi_q", "graph_zsum:lines")
    assert gained == {(system, "blind") for system in systems}
    read = dict(rows.filter(pl.col("metric") == "read_tokens").select("system", "value").iter_rows())
    assert set(read) == {"rag_zsum", "compressed"}
    (path,) = (rerun.root / "results").rglob("recalled/**/session+policy_of=session.*/**/memories.parquet")
    stored = read_table(TABLES["memories"], path)
    assert set(stored["channel"]) == {"question", "answer", "facts"}
    assert not stored["verified"].any()
    assert stored.filter(pl.col("channel") == "facts")["utility"].is_finite().all()
