"""The experiments that fill the papers' tables, end to end, with the printed commands: models of a little hub of the same
architecture, a server in the place of gpt-4o-mini, files of the same form."""

import polars as pl
import pytest
from tests.support.hub_server import hub
from tests.support.project import Project, copy_project
from tests.support.stand_ins import MODELS, chat_model, locomo

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folders = {}
    for name, save in MODELS.items():
        save(folder := tmp_path_factory.mktemp("model") / name.rpartition("/")[2])
        folders[name] = folder
    with hub(folders) as server:
        yield server


def run(project: Project, models, experiment: str, *changed: str, **env: str) -> pl.DataFrame:
    """The rows of an experiment's table after `secateur run` over the hub."""
    online = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": models.url}
    online |= {"HF_HOME": str(project.root / "hub"), "HF_HUB_DISABLE_XET": "1"}
    online |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "SECATEUR_API_KEY": "sk-planted"}
    settings = [part for one in changed for part in ("--set", one)]
    done = project.secateur("run", experiment, "--cores", "2", *settings, **online | env)
    assert done.returncode == 0, done.stdout + done.stderr
    return pl.read_parquet(project.root / f"results/experiments/{experiment}/metrics.parquet")


def test_table_1_of_ecs_on_locomo_with_both_of_the_papers_readers(models, tmp_path):
    project = copy_project(tmp_path / "project")
    locomo(tmp_path / "locomo.json")
    files = f"[{tmp_path / 'locomo.json'}]"
    readers = ("system.reader=qwen2_5_7b", "experiment.axes.reader=[llama3_1_8b]")
    found = run(project, models, "ecs_table1", *readers, f"corpus.files={files}", f"dataset.files={files}")
    for system in ("ecs_all", "ecs_all:llama3_1_8b"):
        rows = found.filter(system=system, metric="f1_at_gold", subset="F20")
        expected = {"signed", "signed:paper", "kl_first", "kl_topk:paper"}
        expected |= {"trajectory:gold", "pmi_q", "pool_random", "pool_random+answer"}
        assert set(rows["scorer"]) == expected
        assert set(rows["n"]) == {40}, "the first 20 questions of each dialogue"
        assert rows["value"].is_between(0, 1).all()
    pool = pl.read_parquet(next(project.root.glob("results/*/*/pool/*/pool.parquet")))
    assert set(pool.group_by("question_id").len()["len"]) == {16}, "every turn is a candidate"
    chance = found.filter(system="rankers", scorer="random", metric="f1_at_gold", subset="F20")
    assert chance["value"].item() == pytest.approx(1 / 16)
    fetched = (project.root / "logs/prepare_model/qwen2_5_7b.log").read_text()
    assert "Qwen/Qwen2.5-7B-Instruct: fetches" in fetched
    cell = project.secateur("figures", "--paper", "ecs:1").stdout
    assert "ECS" in cell


def test_table_1_of_ecs_on_longmemeval_shows_each_session_by_itself(models, tmp_path):
    project = copy_project(tmp_path / "project")
    histories = "[data/toy/longmemeval_synthetic/histories.json]"
    found = run(
        *(project, models, "ecs_table1_longmemeval", "system.reader=qwen2_5_7b"),
        *(f"corpus.files={histories}", f"dataset.files={histories}", "lm.window=2048"),
    )
    rows = found.filter(system="ecs_all", metric="f1_at_gold", subset="all", scorer="signed:paper")
    assert rows["n"].item() > 5
    statistics = pl.concat(pl.read_parquet(path) for path in project.root.glob("results/*/*/statistics/*/*/*.parquet"))
    passages = pl.read_parquet(next(project.root.glob("results/*/passages/passages.parquet")))
    longest = passages["text"].str.len_bytes().max()
    assert statistics["tokens"].drop_nulls().max() <= longest + 50, "no candidate holds the session before it"


def test_tables_and_figures_of_autoprunedretriever(models, tmp_path):
    project = copy_project(tmp_path / "project")
    with chat_model() as server:
        project.edit("conf/extractor/llm.yaml", "https://api.openai.com/v1", server.url)
        project.edit("conf/embedder/bge_large.yaml", "dim: 1024", "dim: 32")
        urls = [f"{group}.url={server.url}" for group in ("answer", "judge", "service")]
        systems = "experiment.systems=[rag_reranked,apr_rebel,apr_llm,raptor]"  # with apr_table1's options
        found = run(project, models, "apr_figure4", "experiment.datasets=[toy_documents_smoke]", *urls, systems)
        assert {request["model"] for _, request in server.asked} == {"gpt-4o-mini"}
    layer2 = "budget=10000+guarded=false+frequency"
    graphs = [f"{name}{more}" for name in ("apr_rebel", "apr_llm") for more in ("", f":{layer2}")]
    for system in ("rag_reranked", *graphs, "raptor:gpt_4o_mini"):
        rows = {row["metric"]: row for row in found.filter(system=system, subset="all").iter_rows(named=True)}
        assert {"judged_acc@gpt_4o_mini", "rouge_l", "read_tokens", "completion_tokens"} <= rows.keys(), system
        assert rows["judged_acc@gpt_4o_mini"]["n"] == 2
