"""Experiments resolve to variants, and impossible ones say why."""

import json
import os
from pathlib import Path

import pytest

from secateur.config.compose import exists, names, option
from secateur.core import layout
from secateur.core.artifacts import file_digest, known_digest, write_json
from secateur.core.fields import ConfigError
from secateur.planning.earlier import changes, run_variants
from secateur.planning.plan import AXES, experiment, variants

CONF = Path(__file__).parents[2] / "conf"


def rows(found) -> set[tuple]:
    return {(v.dataset, v.system, v.order) for v in found}


@pytest.mark.parametrize("name", names(CONF, "experiment"))
def test_every_experiment_resolves(name):
    found = variants(CONF, name)
    assert found
    assert len(rows(found)) == len(found)  # no two rows have the same name
    assert {v.dataset for v in found} == set(experiment(CONF, name).datasets)
    for variant in found:
        assert all(exists(CONF, "lm" if axis == "reader" else axis, variant[axis]) for axis in AXES)
        assert variant["lm"] == variant["reader"]
        assert (variant.order is None) == (variant["pick"] == layout.ALL)
        assert set(variant.wildcards) >= {"dataset", "corpus", "order", "family", "pick", "book", "lm", *AXES}


def test_a_ranker_that_a_system_picks_is_smoothed_where_the_order_is_known(write):
    found = write(systems="[title_zsum]")
    assert {v.order: v["pick"] for v in found} == {"blind": "title_zsum", "aware": "title_zsum+neighbour"}


def test_a_graph_is_written_from_where_the_form_needs_one(write):
    found = write(systems="[title_zsum, graph_zsum]", axes="{assembly: [lines, {form: dense}]}")
    books = {v.system: v["book"] for v in found if v.order == "aware"}
    own = "openie.minilm.default.aware.default"
    expected = {"title_zsum": "text", "title_zsum:lines": own, "title_zsum:dense": "text"}
    expected |= {"graph_zsum": "text", "graph_zsum:lines": "own", "graph_zsum:dense": "text"}
    assert books == expected


def test_changed_keys_are_of_the_systems_own_option_and_name_the_row(write):
    axes = "{assembly: [{form: lines, placement: best_first}], retriever: [{w_dense: 0.5}, {walk.depth: 0}, {w_line: 0, w_run: 0}]}"
    found = {v.system: v for v in write(axes=axes, systems="[beam]", exclude="[{order: aware}]")}
    names_of = {name: (v["assembly"], v["retriever"]) for name, v in found.items()}
    assert names_of == {
        "beam": ("default", "beam"),
        "beam:lines+best_first": ("default+form=lines+placement=best_first", "beam"),
        "beam:w_dense=0.5": ("default", "beam+w_dense=0,5"),
        "beam:walk.depth=0": ("default", "beam+walk,depth=0"),
        "beam:w_line=0+w_run=0": ("default", "beam+w_line=0+w_run=0"),
    }


def test_a_crossed_axis_is_varied_in_every_other_variant_too(write):
    axes = "{assembly: [{form: dense}, lines], reranker: [pmi_q], reader: [gemma3_270m, smollm2]}"
    found = write(axes=axes, crossed="[reader]", systems="[graph_zsum]")
    alone = ["graph_zsum", "graph_zsum:dense", "graph_zsum:lines", "graph_zsum:pmi_q"]
    under = ["gemma3_270m", "dense+gemma3_270m", "lines+gemma3_270m", "pmi_q+gemma3_270m"]
    assert list(dict.fromkeys(v.system for v in found)) == [*alone, *(f"graph_zsum:{one}" for one in under)]
    both = next(v for v in found if v.system == "graph_zsum:pmi_q+gemma3_270m")
    assert (both["reranker"], both["lm"], both["assembly"]) == ("pmi_q", "gemma3_270m", "default")


def test_where_an_experiment_asks_for_answers_their_budget_is_an_axis_of_a_row(write):
    found = write(answers="true", axes="{assembly: [{budget: 2048}]}", systems="[title_zsum]")
    assert all(v.answered for v in found)
    one, other = (axes_of(found, f"title_zsum{changed}") for changed in ("", ":budget=2048"))
    assert differing(one, other) == {"answer"}


def test_any_ranker_takes_any_form_and_any_reranker(write):
    forms = [name for name in names(CONF, "assembly") if name not in ("default", "priced", "priced_mean")]
    found = {
        v.system for v in write(axes=f"{{assembly: {forms}, reranker: [pmi_q]}}", systems="[title_zsum, graph_zsum]")
    }
    own = {"", ":pmi_q", *(f":{name}" for name in forms)} - {":sent"}  # only another system has a text that it sent
    assert found == {system + name for system in ("title_zsum", "graph_zsum") for name in own}


def test_a_peer_says_who_answers_its_calls_and_knows_the_order_of_the_text(write):
    found = write(
        axes="{assembly: [sent], service: [released], peer: [lightrag_top5]}", systems="[lightrag, graph_zsum]"
    )
    peers = {v.system: v for v in found if v["family"] == "peer"}
    assert set(peers) == {
        *("lightrag:controlled", "lightrag:controlled+sent", "lightrag:released", "lightrag:controlled+lightrag_top5")
    }
    assert {v.order for v in peers.values()} == {"aware"}
    source = layout.source(peers["lightrag:controlled"].wildcards)
    assert layout.order_of(layout.options_of({"source": source})) == "aware"
    assert peers["lightrag:released"]["service"] == "released"


def test_a_limited_experiment_has_data_sets_and_pools_of_its_own():
    found = {(v.corpus, v.dataset) for v in variants(CONF, "multihop@20")}
    assert found == {(f"{name}@20", f"{name}@20") for name in ("hotpotqa", "2wikimultihopqa", "musique")}
    found = {(v.corpus, v.dataset) for v in variants(CONF, "stem_old@5")}
    assert found == {("stem", "stem_old@5")}  # the whole text, and the first questions about it
    assert option(CONF, "dataset", "stem_old@5").limit == 5
    assert option(CONF, "dataset", "musique@5").format == {"kind": "musique", "asked": 5}
    systems = [{v.system for v in variants(CONF, name)} for name in ("single_hop", "single_hop@20")]
    assert systems[0] == systems[1]
    for name in ("stem_old@0", "stem_old@few"):
        with pytest.raises(ConfigError, match="behind @ stands a number of questions"):
            option(CONF, "dataset", name)


def test_an_override_of_systems_does_not_pass_over_an_experiment_of_studies(write):
    study = {"datasets": "[red_herrings]", "systems": "[]", "studies": "[distractors]"}
    with pytest.raises(
        ConfigError, match=r"system\.reader=x changes nothing, .*systems is empty\. Fix: study\.reader=x"
    ):
        write(**study, overrides=("system.reader=x",))
    with pytest.raises(ConfigError, match=r"\+study\.reader=x changes nothing, .*studies is empty"):
        write(datasets="[stem]", systems="[rankers]", overrides=("+study.reader=x",))
    (found,) = write(**study, overrides=("study.reader=gemma3_270m",))
    assert found["lm"] == "gemma3_270m"


def test_a_command_on_results_reads_them_as_they_were_made(tmp_path):
    (tmp_path / "conf").symlink_to(CONF)
    assert {v["lm"] for v in run_variants(tmp_path, "stem_dev")} == {"smollm2"}
    write_json(tmp_path / "results/experiments/stem_dev/run.json", {"overrides": ["system.reader=gemma3_270m"]})
    assert {v["lm"] for v in run_variants(tmp_path, "stem_dev")} == {"gemma3_270m"}


def test_what_answers_only_has_rows_on_documents_whose_questions_are_answered_and_nowhere_else(write):
    systems = "[closed_book, rag_zsum, graph_zsum]"
    found = write(datasets="[toy_documents, stem_dev, toy_dialogue]", systems=systems)
    answered = {(v.dataset, v.system) for v in found if v.answered}
    assert answered == {("toy_documents", "closed_book"), ("toy_documents", "rag_zsum")}
    expected = {("toy_documents", "graph_zsum"), ("stem_dev", "graph_zsum")}
    assert {(v.dataset, v.system) for v in found} - answered == expected
    assert {v["pick"] for v in found if v.answered} == {"closed_book", "zsum"}


def test_answer_gain_is_measured_of_single_contexts_where_asked_for(write):
    systems = "[rankers, title_zsum, closed_book, remembered]"
    found = write(datasets="[toy_documents, stem, toy_dialogue]", systems=systems, gains="true")
    assert {(v.dataset, v.system) for v in found if v.gained} == {("toy_documents", "title_zsum")}
    assert not any(v.gained for v in write(datasets="[toy_documents]", systems="[title_zsum]"))


RANKERS, BLIND, AWARE = ("stem", "rankers", None), ("stem", "graph_zsum", "blind"), ("stem", "graph_zsum", "aware")


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("[]", {RANKERS, BLIND, AWARE}),  # a row in each order, and a list of rankers says its own
        ("[{order: aware}]", {RANKERS, BLIND}),
        ("[{system: graph_zsum}]", {RANKERS}),
        ("[{dataset: stem, system: rankers}]", {BLIND, AWARE}),
        ("[{dataset: novel_v2}]", {RANKERS, BLIND, AWARE}),
    ],
)
def test_exclude_leaves_out_what_matches_in_every_named_axis(write, exclude, left):
    assert rows(write(exclude=exclude)) == left


ALL_AXES = "{assembly: [{form: dense}], retriever: [paper], reranker: [pmi_q], ecs: [quick], reader: [gemma3_270m]}"


@pytest.mark.parametrize(
    ("arguments", "systems"),
    [
        ({"axes": "{assembly: [default]}"}, ""),  # the option that it has already
        ({"axes": "{assembly: [lines]}"}, ":lines"),
        ({"axes": "{assembly: [{form: dense}]}", "exclude": "[{assembly: dense}]"}, ""),
        ({"axes": ALL_AXES}, ":dense :paper :pmi_q :gemma3_270m"),  # what a system depends on, and no other
        ({"axes": ALL_AXES, "systems": "[title_zsum]"}, ":dense :pmi_q :gemma3_270m"),
        ({"axes": ALL_AXES, "systems": "[rankers]"}, ":dense :gemma3_270m"),
        ({"axes": ALL_AXES, "systems": "[rankers]", "datasets": "[toy_dialogue]"}, ""),  # turns have no form
        ({"axes": ALL_AXES, "systems": "[title_zsum, rankers]", "datasets": "[locomo]"}, ""),
    ],
)
def test_an_axis_varies_the_systems_that_depend_on_it(write, arguments, systems):
    found = write(**{"systems": "[graph_zsum]"} | arguments)
    assert {v.system.removeprefix(v.base) for v in found} == {"", *systems.split()}
    assert {v.base for v in found} == {v.system.partition(":")[0] for v in found}


SESSIONS = {"datasets": "[toy_dialogue]", "systems": "[graph_zsum]", "studies": "[sessions]"}
DISTRACTORS = {"datasets": "[red_herrings, locomo, stem]", "systems": "[rankers]", "studies": "[distractors]"}
POLICY = {"datasets": "[stem_old_test, stem]", "systems": "[]", "studies": "[policy]"}
POLICY |= {"axes": "{memory: [none], assembly: [{form: dense}]}"}


@pytest.mark.parametrize(
    ("arguments", "expected", "others"),
    [
        (SESSIONS, {("toy_dialogue", "sessions", "blind")}, set()),  # of a dialogue, over its own graph
        (DISTRACTORS, {("red_herrings", "distractors", None)}, {"red_herrings", "locomo", "stem"}),  # labelled alone
        (POLICY, {("stem_old_test", "policy", "blind"), ("stem_old_test", "policy:none", "blind")}, set()),
    ],
)
def test_a_study_has_rows_on_the_data_that_it_is_of(write, arguments, expected, others):
    found = write(**arguments)
    assert rows(v for v in found if v.study) == expected
    assert {v.study for v in found} - {None} == {arguments["studies"].strip("[]")}
    assert {v.dataset for v in found if not v.study} == others


def test_a_dialogue_takes_the_selection_path_with_its_own_rankers_and_an_override_names_other_data(write):
    (found,) = write(overrides=("experiment.datasets=[locomo]",))
    assert (found.kind, found.order, found["rankers"], found.dataset) == ("dialogue", None, "turns", "locomo")


def axes_of(found, system: str, order: str = "blind") -> dict[str, str]:
    (one,) = [dict(v.axes) for v in found if v.system == system and v.order == order]
    return one


def differing(one: dict, other: dict) -> set[str]:
    return {axis for axis in one if one[axis] != other[axis]}


def test_variants_differ_in_the_axis_that_was_changed_and_in_no_other(write):
    axes = "{assembly: [{form: dense}, lines, {packing: stop}, {placement: best_first}], reranker: [pmi_q], reader: [gemma3_270m], retriever: [paper]}"
    found = write(systems="[title_zsum, graph_zsum]", axes=axes)
    own = axes_of(found, "graph_zsum")
    assert differing(own, axes_of(found, "title_zsum")) == {"ranker"}
    changed = {"dense": "form", "lines": "form placement", "stop": "packing", "best_first": "placement"}
    changed |= {"pmi_q": "reranker", "gemma3_270m": "reader", "paper": "ranker"}
    for name, axes in changed.items():
        assert differing(own, axes_of(found, f"graph_zsum:{name}")) == set(axes.split())


def test_the_order_is_no_axis_and_a_list_of_rankers_writes_from_one_graph_for_both(write):
    found = write(systems="[title_zsum, graph_zsum]")
    for system in ("title_zsum", "graph_zsum"):
        assert axes_of(found, system, "blind") == axes_of(found, system, "aware")
    found = write(axes="{assembly: [lines]}", systems="[rankers, title_zsum]")
    assert len({dict(v.axes)["form"] for v in found if v["assembly"] == "lines"}) == 1


def test_what_an_edit_adds_and_removes_is_said_by_the_record_of_the_earlier_run(write, tmp_path):
    found, record = write(), tmp_path / "run.json"
    assert changes(found, record) == ""
    earlier = [{"dataset": v.dataset, "system": v.system, "order": v.order} for v in found if v.order != "aware"]
    earlier += [{"dataset": "stem", "system": "apr", "order": "aware"}]
    record.write_text(json.dumps({"config": {"extra.variants": earlier}}))
    assert changes(found, record) == "adds: stem graph_zsum aware; removes: stem apr aware"


def test_a_file_that_was_replaced_and_given_its_old_date_has_another_digest(tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text("first")
    other.write_text("other")
    stamp = one.stat()
    before = known_digest([one], tmp_path / "known")
    assert known_digest([one], tmp_path / "known") == before
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.replace(one)
    assert known_digest([one], tmp_path / "known") == file_digest(one) != before
