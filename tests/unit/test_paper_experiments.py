"""The experiments that fill the papers' tables have the papers' split, candidates and models."""

from pathlib import Path

import pytest

from secateur.config.compose import option
from secateur.core.fields import ConfigError
from secateur.planning.plan import variants

CONF = Path(__file__).parents[2] / "conf"
APR = ("apr_table1", "apr_figure2", "apr_figure4", "graphrag_bench")


@pytest.mark.parametrize("name", APR)
def test_autoprunedretriever_answers_every_question_with_the_papers_models(name):
    for variant in variants(CONF, name):
        dataset = option(CONF, "dataset", variant.dataset)
        assert (dataset.split, variant.answered) == ("all", True)
        assert {"medical_v1": 2062, "novel_v1": 2010, "stem": 118}[variant.dataset] == dataset.answered
        assert (variant["answer"], variant.judges) == ("gpt_4o_mini", ("gpt_4o_mini",))
        assert variant["embedder"] == "bge_large"
        assert variant["service"] == "gpt_4o_mini" or variant["family"] != "peer"
    models = {option(CONF, group, "gpt_4o_mini").model for group in ("answer", "judge", "service")}
    assert models == {"gpt-4o-mini"} == {option(CONF, "extractor", "llm").settings["model"]}


def test_the_released_thresholds_are_those_of_bge():
    embedder, retriever = option(CONF, "embedder", "bge_large"), option(CONF, "retriever", "paper")
    assert (embedder.dim, embedder.tau) == (1024, 0.70)
    assert (retriever.tau_coverage, retriever.tau_pairs, retriever.theta) == (0.45, 0.55, 0.93)


def test_figures_4_to_6_have_layer_2_and_pruning_beside_what_is_without():
    graphs = [v for v in variants(CONF, "apr_figure4") if v["family"] == "graph"]
    found = {(v.base, option(CONF, "consolidation", v["consolidation"]).prune) for v in graphs}
    assert found == {(base, prune) for base in ("apr_rebel", "apr_llm") for prune in ("none", "frequency")}


@pytest.mark.parametrize("name", ["ecs_table1", "ecs_table1_longmemeval"])
def test_ecs_scores_every_candidate_by_itself(name):
    (variant,) = [v for v in variants(CONF, name) if v["family"] == "utility"]
    assert option(CONF, "dataset", variant.dataset).split == "all"
    ecs = option(CONF, "ecs", variant["ecs"])
    assert (ecs.pool, ecs.before, ecs.probes, ecs.horizon, ecs.top_k, ecs.epsilon) == (None, 0, (), 8, 50, 1e-10)
    scores = option(CONF, "rankers", variant["rankers"]).scores
    assert {"signed", "kl_first", "kl_topk:paper", "trajectory:gold", "pmi_q"} <= set(scores)
    assert scores["signed:paper"]["length_penalty"] == 0.002


def test_a_system_takes_the_experiments_options_and_the_command_line_has_the_last_word(write):
    options = "{all: {reader: gemma3_270m}, graph: {embedder: bge_large}, secateur: {embedder: minilm}}"
    given = {"systems": "[bm25, beam, secateur]", "options": options}
    found = {v.system: (v["reader"], v["embedder"]) for v in write(**given)}
    expected = {"bm25": ("gemma3_270m", "minilm"), "beam": ("gemma3_270m", "bge_large")}
    expected |= {"secateur": ("gemma3_270m", "minilm")}
    assert found == expected
    assert {v["reader"] for v in write(**given, overrides=("system.reader=smollm2",))} == {"smollm2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{beem: {reader: smollm2}}", r"options names 'beem'; allowed: all, lexical, .*did you mean 'beam'"),
        ("{all: {readr: smollm2}}", r"options\.all: unknown axis 'readr'; allowed: .*did you mean 'reader'"),
        ("{all: {reader: smollm}}", r"lm 'smollm' is no option of conf/lm; .*did you mean 'smollm2'"),
    ],
)
def test_options_that_do_not_exist_are_refused_with_the_nearest_name(write, options, message):
    with pytest.raises(ConfigError, match=message):
        write(systems="[beam]", options=options)
