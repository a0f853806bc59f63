"""Tokens and money of endpoints, and hardware, are foretold; what cannot be is said."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from secateur.planning import foretold
from secateur.planning.foretold import ANOTHER, ENDPOINT, load_prices, needs, unmeasured
from secateur.planning.plan import variants
from secateur.planning.sizes import Data

ROOT = Path(__file__).parents[2]
CONF, PRICES = ROOT / "conf", load_prices(ROOT / "conf")
RERANKED = "results/stem/stem_old/reranked/lexical/minilm.sentences/minilm/{}/run.json"
TOY = "experiment.datasets=[toy_documents]"


def asked(experiment: str, *overrides: str):
    planned = variants(CONF, experiment, overrides)
    return needs(CONF, planned, Data(CONF, overrides, {(v.corpus, None) for v in planned}), PRICES, overrides)


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_answers_and_verdicts_of_an_endpoint_are_counted_for_each_row_at_its_budget():
    found = asked("apr_table1", TOY, "experiment.systems=[rag,apr_llm]")
    questions = 3  # conf/dataset/toy_documents, answered
    assert found.asked["gpt-4o-mini", "answers"] == [2 * questions, questions * (1024 + 7168 + 2 * 200), 6 * 512]
    assert found.asked["gpt-4o-mini", "judging"][0] == 2 * questions * 8
    assert found.asked["gpt-4o-mini", "extraction"][0] > 0
    assert set(found.endpoints) == {"https://api.openai.com/v1"}
    rows = {row["for"]: row for row in found.rows(PRICES)}
    read, written = (rows["answers"][name] for name in ("tokens in", "tokens out"))
    assert rows["answers"]["USD"] == pytest.approx((0.15 * read + 0.60 * written) / 1e6, abs=0.005)


def test_rows_that_share_a_job_pay_once():
    alone = ("apr_table1", TOY, "experiment.systems=[apr_llm]")
    one, two = (asked(*alone, f"experiment.axes={axes}").asked for axes in ("{}", "{retriever: [{w_dense: 0.5}]}"))
    assert one["gpt-4o-mini", "extraction"] == two["gpt-4o-mini", "extraction"]
    assert 2 * one["gpt-4o-mini", "answers"][0] == two["gpt-4o-mini", "answers"][0]


def test_what_was_not_measured_is_named_and_not_counted_as_nothing():
    found = asked("apr_table1", TOY, "experiment.systems=[lazy_graphrag,raptor]")
    assert found.uncounted == ["lazy_graphrag's index", "lazy_graphrag's search"]
    assert found.asked["gpt-4o-mini", "raptor's search"][1] > 0
    unknown = asked("apr_table1", TOY, "experiment.systems=[rag]", "answer.model=mine")
    assert {row["model"]: row["USD"] for row in unknown.rows(PRICES)}["mine"] is None
    local = asked("quickstart")  # which asks no endpoint
    assert (local.asked, local.uncounted, local.endpoints) == ({}, [], [])
    assert list(local.hardware(PRICES, {})) == []


def test_weights_of_a_hub_are_listed_with_their_gpu_and_hours():
    found = asked("ecs_table1", "experiment.datasets=[toy_dialogue]", "experiment.axes.reader=[qwen2_5_7b]")
    (line,) = found.hardware(PRICES, {"lm.model of qwen2_5_7b": 11190 * 3600 * 2})
    assert line.startswith("lm.model of qwen2_5_7b: Qwen/Qwen2.5-7B-Instruct, 15.2 GB of weights, a GPU with 24 GB")
    assert "some 2.0 hours of an H100" in line


@pytest.mark.parametrize(
    ("rule", "record", "reason"),
    [
        ("answer_questions", "results/c/d/answers/lexical/x.y/rag/gpt_4o_mini/0of1/run.json", ENDPOINT),
        ("answer_questions", "results/c/d/answers/lexical/x.y/rag/default/0of1/run.json", None),
        ("judge_answers", "results/c/d/judged/lexical/x.y/rag/default.endpoint/run.json", ENDPOINT),
        ("judge_answers", "results/c/d/judged/lexical/x.y/rag/default.smollm2/run.json", None),
        ("extract_triples", "results/c/triples/llm/0of2/run.json", ENDPOINT),
        ("extract_triples", "results/c/triples/rebel/0of2/run.json", ANOTHER),
        ("score_candidates", "results/c/d/statistics/minilm.utility.qwen2_5_7b.all/0of4/run.json", ANOTHER),
        ("build_codebook", "results/c/codebook/openie.bge_large/run.json", ANOTHER),
        ("rerank_passages", RERANKED.format("pmi_q"), None),
        ("rerank_passages", RERANKED.format("cross_encoder"), ANOTHER),
    ],
)
def test_the_coefficients_of_one_model_tell_no_time_of_another(rule, record, reason):
    assert unmeasured(CONF, rule, record, ()) == reason
    assert Data(CONF)._depth(record) == (24 if rule == "rerank_passages" else 0)  # passages that it reads


def test_an_extractors_requests_end_with_their_documents_and_read_each_question_too():
    sizes = {"passages": 20, "documents": 10, "questions": 3, "bytes": 400}
    found = foretold._extraction(SimpleNamespace(block=16), sizes, {"bytes": 4, "extraction": 50})
    assert found == (2 + 10 + 3, 100 + 15 * 50, 200)
    alone = foretold._extraction(SimpleNamespace(block=16), sizes | {"documents": 20}, {"bytes": 4, "extraction": 50})
    assert alone[0] == 20 + 3  # no more than a passage each
