"""Experiments resolve to variants, and impossible ones say why."""

import json
import shutil
from itertools import count
from pathlib import Path

import pytest

from secateur.pipeline import layout
from secateur.pipeline.config.compose import names
from secateur.pipeline.config.fields import ConfigError
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.plan import AXES, changes, experiment, variants

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write an experiment into a copy of conf/ and resolve it."""
    conf, numbers = tmp_path_factory.mktemp("root") / "conf", count()
    shutil.copytree(CONF, conf)

    def resolve(datasets="[stem]", systems="[rankers, secateur]", axes="{}", exclude="[]", overrides=(), **more):
        text = f"title: T\ndatasets: {datasets}\nsystems: {systems}\naxes: {axes}\nexclude: {exclude}\n"
        text += "".join(f"{key}: {value}\n" for key, value in more.items())
        name = f"mine{next(numbers)}"
        (conf / "experiment" / f"{name}.yaml").write_text(text)
        return variants(conf, name, overrides)

    return resolve


def rows(found) -> set[tuple]:
    return {(v.dataset, v.system, v.order) for v in found}


GROUP_OF = {"reader": "lm"}  # every other axis has the name of its group


@pytest.mark.parametrize("name", names(CONF, "experiment"))
def test_every_experiment_resolves(name):
    found = variants(CONF, name)
    assert found
    assert len(set(found)) == len(found)
    assert {v.dataset for v in found} == set(experiment(CONF, name).datasets)
    for variant in found:
        assert all(variant[axis] in names(CONF, GROUP_OF.get(axis, axis)) for axis in AXES)
        assert variant["lm"] == variant["reader"]
        assert (variant.order is None) == (variant["pick"] == layout.ALL)


def test_two_variants_never_have_the_same_name():
    for name in names(CONF, "experiment"):
        found = [(v.dataset, v.system, v.order) for v in variants(CONF, name)]
        assert len(set(found)) == len(found)


# --- which rows there are ------------------------------------------------------------------------------


def test_a_system_has_a_row_in_each_of_its_orders_and_a_list_of_rankers_says_it_itself(write):
    assert rows(write()) == {("stem", "rankers", None), ("stem", "secateur", "blind"), ("stem", "secateur", "aware")}


def test_a_ranker_that_a_system_picks_is_smoothed_where_the_order_is_known(write):
    found = write(systems="[title_zsum]")
    assert {v.order: v["pick"] for v in found} == {"blind": "title_zsum", "aware": "title_zsum+neighbour"}


def test_a_graph_is_written_from_where_the_form_needs_one(write):
    found = write(systems="[title_zsum, secateur]", axes="{assembly: [lines, dense]}")
    books = {v.system: v["book"] for v in found if v.order == "aware"}
    own = "openie.minilm.default.aware.default"
    assert books == {
        "title_zsum": "text",
        "title_zsum:lines": own,
        "title_zsum:dense": "text",
        "secateur": "text",
        "secateur:lines": "own",
        "secateur:dense": "text",
    }


def test_an_ablation_is_named_after_the_option_that_differs(write):
    found = write(axes="{assembly: [dense]}", systems="[secateur]")
    assert {v.system for v in found} == {"secateur", "secateur:dense"}
    assert {v.base for v in found} == {"secateur"}
    assert {v["assembly"] for v in found if v.system == "secateur:dense"} == {"dense"}
    assert {v["assembly"] for v in found if v.system == "secateur"} == {"default"}


def test_axes_are_varied_one_at_a_time(write):
    found = write(axes="{assembly: [dense], retriever: [paper]}", systems="[secateur]")
    assert {v.system for v in found} == {"secateur", "secateur:dense", "secateur:paper"}


def test_a_crossed_axis_is_varied_in_every_other_variant_too(write):
    axes = "{assembly: [dense, lines], reranker: [pmi_q], reader: [gemma3_270m, smollm2]}"
    found = write(axes=axes, crossed="[reader]", systems="[secateur]")
    alone = ["secateur", "secateur:dense", "secateur:lines", "secateur:pmi_q"]
    under = ["gemma3_270m", "dense+gemma3_270m", "lines+gemma3_270m", "pmi_q+gemma3_270m"]
    assert list(dict.fromkeys(v.system for v in found)) == [*alone, *(f"secateur:{one}" for one in under)]
    both = next(v for v in found if v.system == "secateur:pmi_q+gemma3_270m")
    assert (both["reranker"], both["lm"], both["assembly"]) == ("pmi_q", "gemma3_270m", "default")


def test_a_crossed_axis_without_options_is_told(write):
    with pytest.raises(ConfigError, match=r"crossed names 'readr', axes has reader; did you mean 'reader'\?.*Fix"):
        write(axes="{reader: [gemma3_270m]}", crossed="[readr]", systems="[secateur]")


def test_the_option_a_system_has_already_is_no_variant_of_its_own(write):
    found = write(axes="{assembly: [default]}", systems="[secateur]")
    assert [v.system for v in found] == ["secateur", "secateur"]


def test_axes_change_what_a_system_depends_on_and_no_other(write):
    axes = "{assembly: [dense], retriever: [paper], reranker: [pmi_q], ecs: [quick]}"
    found = {v.system for v in write(axes=axes, systems="[rankers, title_zsum, secateur]")}
    assert found == {
        *("rankers", "rankers:dense"),
        *("title_zsum", "title_zsum:dense", "title_zsum:pmi_q"),
        *("secateur", "secateur:dense", "secateur:paper", "secateur:pmi_q"),
    }


def test_any_ranker_takes_any_form_and_any_reranker(write):
    forms = [name for name in names(CONF, "assembly") if name != "default"]
    axes = f"{{assembly: {forms}, reranker: [pmi_q]}}"
    found = {v.system for v in write(axes=axes, systems="[title_zsum, secateur]")}
    assert {name.partition(":")[2] for name in found if name.startswith("title_zsum")} == {"", "pmi_q", *forms}
    assert {name.partition(":")[2] for name in found if name.startswith("secateur")} == {"", "pmi_q", *forms}


def test_a_dialogue_takes_the_selection_path_with_its_own_rankers(write):
    (found,) = write(datasets="[locomo]")
    assert (found.kind, found.order, found["rankers"]) == ("dialogue", None, "turns")


def test_a_dialogue_has_sessions_over_its_own_graph(write):
    found = write(datasets="[toy_dialogue]", systems="[secateur]", studies="[sessions]")
    assert [(v.system, v.order, v.study) for v in found] == [("sessions", "blind", "sessions")]


def test_the_check_of_scorers_is_for_labelled_distractors_alone(write):
    found = write(datasets="[red_herrings, locomo, stem]", systems="[rankers]", studies="[distractors]")
    assert {v.dataset for v in found if v.study == "distractors"} == {"red_herrings"}
    assert {v.dataset for v in found if not v.study} == {"red_herrings", "locomo", "stem"}


# --- which of them are answered and gained -------------------------------------------------------------


def test_what_answers_only_has_rows_on_documents_whose_questions_are_answered_and_nowhere_else(write):
    systems = "[closed_book, rag_zsum, secateur]"
    found = write(datasets="[toy_documents, stem, toy_dialogue]", systems=systems)
    answered = {(v.dataset, v.system) for v in found if v.answered}
    assert answered == {("toy_documents", "closed_book"), ("toy_documents", "rag_zsum")}
    assert {(v.dataset, v.system) for v in found} - answered == {("toy_documents", "secateur"), ("stem", "secateur")}
    assert {v["pick"] for v in found if v.answered} == {"closed_book", "zsum"}


def test_every_system_answers_where_the_experiment_asks_for_it():
    found = variants(CONF, "answers")
    assert all(v.answered for v in found)
    graphs = {(v.system, v.order) for v in found if v["family"] == "graph" and v["memory"] == "none"}
    assert graphs == {("secateur", "blind"), ("secateur", "aware"), ("apr", "aware")}
    assert not any(v.answered for v in variants(CONF, "ablation"))


def test_answer_gain_is_measured_of_single_contexts_where_asked_for(write):
    systems = "[rankers, title_zsum, closed_book, remembered]"
    found = write(datasets="[toy_documents, stem, toy_dialogue]", systems=systems, gains="true")
    assert {(v.dataset, v.system) for v in found if v.gained} == {("toy_documents", "title_zsum")}
    assert not any(v.gained for v in write(datasets="[toy_documents]", systems="[title_zsum]"))


# --- what is left out ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("[{order: aware}]", {("stem", "rankers", None), ("stem", "secateur", "blind")}),
        ("[{system: secateur}]", {("stem", "rankers", None)}),
        ("[{dataset: stem, system: rankers}]", {("stem", "secateur", "blind"), ("stem", "secateur", "aware")}),
        (
            "[{dataset: novel_v2}]",
            {("stem", "rankers", None), ("stem", "secateur", "blind"), ("stem", "secateur", "aware")},
        ),
    ],
)
def test_exclude_leaves_out_what_matches_in_every_named_axis(write, exclude, left):
    assert rows(write(exclude=exclude)) == left


def test_exclude_by_an_unknown_axis_is_refused_and_not_ignored(write):
    with pytest.raises(ConfigError, match=r"exclude: unknown axis 'datset'.*did you mean 'dataset'"):
        write(exclude="[{datset: stem}]")


def test_exclude_reaches_an_ablation_by_its_option(write):
    found = write(axes="{assembly: [dense]}", systems="[secateur]", exclude="[{assembly: dense}]")
    assert {v.system for v in found} == {"secateur"}


def test_nothing_left_says_so(write):
    with pytest.raises(ConfigError, match="no variant is left"):
        write(exclude="[{dataset: stem}]")


# --- names that nothing has ----------------------------------------------------------------------------


def test_an_unknown_axis_names_the_nearest_one(write):
    said = r"mine\d+\.yaml: unknown axis 'asembly'; allowed: .*did you mean 'assembly'"
    with pytest.raises(ConfigError, match=said):
        write(axes="{asembly: [dense]}")
    for own in ("family", "ranker", "orders", "answers_only", "contexts"):  # what a system is
        with pytest.raises(ConfigError, match=f"unknown axis '{own}'"):
            write(axes=f"{{{own}: [graph]}}")


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ("{assembly: [dens]}", r"'dens' is no option of conf/assembly; .*did you mean 'dense'"),
        ("{reranker: [pmi]}", r"'pmi' is no option of conf/reranker; .*did you mean 'pmi_q'"),
        ("{rankers: [sentence]}", r"'sentence' is no option of conf/rankers; .*did you mean 'sentences'"),
        ("{reader: [smollm]}", r"'smollm' is no option of conf/lm; .*did you mean 'smollm2'"),
    ],
)
def test_an_unknown_option_of_an_axis_names_the_nearest_one(write, axes, said):
    with pytest.raises(ConfigError, match=said):
        write(systems="[title_zsum]", axes=axes)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("system.ranker=title_zsumm", r"system\.ranker names title_zsumm, allowed: bm25_k1.*did you mean 'title_zsum'"),
        ("assembly.form={kind: matrx}", r"assembly\.form: form 'matrx' is unknown; did you mean 'matrix'"),
        ("assembly.form={kind: dense, dropp: [a]}", r"unknown key assembly\.form\.dropp; did you mean 'drop'"),
        ("rankers.scorers.zsum.kind=zsumm", r"rankers\.scorers\.zsum: ranker 'zsumm' is unknown; did you mean 'zsum'"),
    ],
)
def test_an_unknown_ranker_or_form_names_the_nearest_one(write, override, said):
    with pytest.raises(ConfigError, match=said):
        write(systems="[title_zsum]", overrides=(f"++{override}",))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("reranker.spec.kind=pmi_p", r"reranker\.spec: reranker 'pmi_p' is unknown; did you mean 'pmi_q'"),
        ("reranker.spec.tops=3", r"unknown key reranker\.spec\.tops; did you mean 'top'"),
        ("reranker.spec.lm=smollm", r"lm 'smollm' is no option.*did you mean 'smollm2'"),
    ],
)
def test_an_unknown_reranker_names_the_nearest_one(write, override, said):
    with pytest.raises(ConfigError, match=said):
        write(systems="[title_zsum]", axes="{reranker: [pmi_q]}", overrides=(f"++{override}",))


def test_a_ranker_that_sees_the_answer_makes_no_context(write):
    suffixes = "rankers.suffixes=['+neighbour','+answer']"
    with pytest.raises(ConfigError, match=r"system\.ranker names zsum\+answer, allowed: bm25_k1\.2_b0\.75, "):
        write(systems="[title_zsum]", overrides=("system.ranker=zsum+answer", "system.orders=[blind]", suffixes))


def test_a_ranker_without_neighbours_has_no_row_that_knows_the_order(write):
    with pytest.raises(ConfigError, match=r"orders names aware, and ranker title_zsum is not made with \+neighbour"):
        write(systems="[title_zsum]", overrides=("rankers.suffixes=[]",))
    assert write(systems="[title_zsum]", overrides=("rankers.suffixes=[]", "system.orders=[blind]"))


@pytest.mark.parametrize(("argument", "group"), [("datasets", "dataset"), ("systems", "system"), ("studies", "study")])
def test_an_unknown_name_is_refused_by_its_group(write, argument, group):
    with pytest.raises(ConfigError, match=rf"mine\d+\.yaml: {group} 'nothing' is no option"):
        write(**{argument: "[nothing]"})


def test_a_data_set_without_a_corpus_stops_and_says_what_can_be_done(write):
    with pytest.raises(
        ConfigError, match=r"dataset 'tv' has questions only.*snakemake results/tv/tv/questions/run\.json"
    ):
        write(datasets="[tv]")


def test_an_unknown_experiment_names_the_nearest_one():
    with pytest.raises(ConfigError, match=r"experiment 'quikstart' is no option.*did you mean 'quickstart'"):
        variants(CONF, "quikstart")


def test_a_bad_override_is_found_before_anything_runs(write):
    with pytest.raises(ConfigError, match=r"retriever\.top_k is 0"):
        write(overrides=("retriever.top_k=0",))
    with pytest.raises(ConfigError, match=r"memory\.window is -1"):
        write(overrides=("memory.window=-1",))


def test_an_extractor_that_does_not_fit_together_is_found_before_anything_runs(write):
    with pytest.raises(ConfigError, match=r"conf/extractor/openie\.yaml: .*unknown key extractor\.settings\.model"):
        write(overrides=("+extractor.settings.model=x",))


def test_an_override_of_the_experiment_itself_is_taken(write):
    assert {v.dataset for v in write(overrides=("experiment.datasets=[stem_dev]",))} == {"stem_dev"}


def test_wildcards_name_every_axis(write):
    for variant in write():
        assert set(variant.wildcards) >= {"dataset", "corpus", "order", "family", "pick", "book", "lm", *AXES}
        assert variant.wildcards["order"] in names(CONF, "order")


# --- in what rows differ ---------------------------------------------------------------------------------


def axes_of(found, system: str, order: str = "blind") -> dict[str, str]:
    (one,) = [dict(v.axes) for v in found if v.system == system and v.order == order]
    return one


def differing(one: dict, other: dict) -> set[str]:
    return {axis for axis in one if one[axis] != other[axis]}


def test_variants_differ_in_the_axis_that_was_changed_and_in_no_other(write):
    axes = "{assembly: [dense, lines, stop, best_first], reranker: [pmi_q], reader: [gemma3_270m], retriever: [paper]}"
    found = write(systems="[title_zsum, secateur]", axes=axes)
    own = axes_of(found, "secateur")
    assert differing(own, axes_of(found, "title_zsum")) == {"ranker"}
    for name, axis in {
        "dense": {"form"},
        "lines": {"form", "placement"},
        "stop": {"packing"},
        "best_first": {"placement"},
        "pmi_q": {"reranker"},
        "gemma3_270m": {"reader"},
        "paper": {"ranker"},
    }.items():
        assert differing(own, axes_of(found, f"secateur:{name}")) == axis


def test_the_order_is_no_axis(write):
    found = write(systems="[title_zsum, secateur]")
    for system in ("title_zsum", "secateur"):
        assert axes_of(found, system, "blind") == axes_of(found, system, "aware")


def test_a_study_is_no_row_among_systems(write):
    found = write(datasets="[stem_old_test]", systems="[secateur]", studies="[policy, sessions]")
    assert {v.system: v.study for v in found} == {"secateur": None, "policy": "policy", "sessions": "sessions"}
    assert not any(v.gained or v.answered for v in found if v.study)


def test_what_an_edit_adds_and_removes_is_said_by_the_record_of_the_earlier_run(write, tmp_path):
    found, record = write(), tmp_path / "run.json"
    assert changes(found, record) == ""
    earlier = [{"dataset": v.dataset, "system": v.system, "order": v.order} for v in found if v.order != "aware"]
    earlier += [{"dataset": "stem", "system": "apr", "order": "aware"}]
    record.write_text(json.dumps({"config": {"extra.variants": earlier}}))
    assert changes(found, record) == "adds: stem secateur aware; removes: stem apr aware"


# --- utility under a language model: hours, so every name is looked up before --------------------


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ecs.pooled_by=zsumm", r"ecs\.pooled_by names zsumm, allowed: tfidf, .*did you mean 'zsum'"),
        ("ecs.pooled_by=zsum+answer", r"ecs\.pooled_by names zsum\+answer, allowed: tfidf, "),
        ("ecs.probes=[judge]", r"ecs\.probes names judge, allowed: trajectory_ctx"),
        ("+ecs.grow_by.kl_first=1", r"ecs\.grow_by names kl_first, allowed: tfidf, .*pmi_q"),
        (
            "+rankers.utilities.mine={kind: statistic, of: signd}",
            r"rankers\.utilities names signd, .*did you mean 'signed'",
        ),
        (
            "+rankers.utilities.mine={kind: distilled, label: gold, of: [bm25]}",
            r"rankers\.utilities names gold, allowed",
        ),
        (
            "+rankers.utilities.mine={kind: statistic}",
            r"rankers\.utilities\.mine of kind statistic: has \[\], needs exactly \['of'\]",
        ),
        ("dataset.probed=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.scored=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.grown_of=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("system.turns=turns", r"rankers\.utilities is empty"),
    ],
)
def test_a_name_that_a_sweep_would_not_find_is_refused_before_it(write, override, message):
    with pytest.raises(ConfigError, match=message):
        write(datasets="[locomo]", systems="[ecs]", overrides=(override,))


def test_the_same_names_are_no_matter_where_no_utility_is_asked_for(write):
    assert write(datasets="[locomo]", systems="[rankers]", overrides=("ecs.pooled_by=zsumm",))


def test_what_a_server_cannot_give_is_refused_before_a_sweep(write):
    served = ("system.reader=vllm_qwen2_5_7b",)
    with pytest.raises(SecateurError, match=r"scorer signed_kl is not available on backend vllm.*Fix: signed"):
        write(datasets="[locomo]", systems="[ecs]", overrides=served)
    given = (*served, "system.turns=turns", "+rankers.utilities.signed={kind: statistic, of: signed}")
    with pytest.raises(SecateurError, match=r"scorer trajectory:ctx is not available on backend vllm"):
        write(datasets="[locomo]", systems="[ecs]", overrides=given)
    assert write(datasets="[locomo]", systems="[ecs]", overrides=(*given, "ecs.probes=[]"))


@pytest.mark.parametrize("override", ["eval.gain_budgets=[64, 96]", "eval.gain_control=96"])
def test_gain_is_measured_at_budgets_that_have_a_context(write, override):
    with pytest.raises(ConfigError, match=r"eval\.gain_budgets or gain_control names 96, allowed: 64, 128"):
        write(datasets="[stem_dev]", systems="[secateur]", overrides=(override,), gains="true")
    assert write(datasets="[stem_dev]", systems="[secateur]", overrides=(override,))  # gain is not measured there


def test_a_reader_is_a_language_model_that_fits_together(write):
    with pytest.raises(ConfigError, match=r"lm 'smollm' is no option.*'smollm2'"):
        write(systems="[secateur]", overrides=("system.reader=smollm",))
    with pytest.raises(ConfigError, match=r"lm\.url does not belong to backend transformers"):
        write(systems="[secateur]", overrides=("++lm.url=http://x",))


def test_a_policy_has_rows_where_questions_are_set_apart_for_it(write):
    found = write(
        datasets="[stem_old_test, stem]", systems="[]", studies="[policy]", axes="{memory: [none], assembly: [dense]}"
    )
    assert rows(found) == {("stem_old_test", "policy", "blind"), ("stem_old_test", "policy:none", "blind")}


@pytest.mark.parametrize(
    ("trained", "message"),
    [("{train: 2, test: 1}", "dataset.trained names no dev"), ("{train: 2, dve: 1}", "did you mean 'dev'")],
)
def test_a_policy_needs_questions_of_every_split(write, trained, message):
    with pytest.raises(ConfigError, match=message):
        write(datasets="[stem]", systems="[]", studies="[policy]", overrides=(f"++dataset.trained={trained}",))


def test_a_policy_is_learnt_on_a_data_set_whose_questions_are_set_apart_for_it(write):
    with pytest.raises(ConfigError, match=r"policy.trained_on names medical_simple.*did you mean 'medical_sample'"):
        write(
            datasets="[stem_old_test]",
            systems="[]",
            studies="[policy]",
            overrides=("policy.trained_on=medical_simple",),
        )
    with pytest.raises(ConfigError, match=r"policy.without names score_margins.*did you mean 'score_margin'"):
        write(
            datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=("policy.without=[score_margins]",)
        )


def test_a_policy_answers_test_questions_alone(write):
    found = write(datasets="[stem_old, stem_old_test, medical_sample]", systems="[remembered, compressed]")
    answering = {v.dataset for v in found if v.system == "compressed"}
    assert answering == {"stem_old_test", "medical_sample"}
    with pytest.raises(ConfigError, match=r"answers no question that it learnt from.*Fix:"):
        write(datasets="[stem_old]", systems="[remembered]", axes="{memory: [compressed]}")


def test_a_policy_is_learnt_under_an_option_of_memory(write):
    with pytest.raises(ConfigError, match=r"memory.policy_of names sesion.*did you mean 'session'"):
        write(datasets="[medical_sample]", systems="[compressed]", overrides=("memory.policy_of=sesion",))


def test_what_a_policys_sessions_keep_is_written_in_process(write):
    served = ("study.reader=vllm_qwen2_5_7b",)
    with pytest.raises(ConfigError, match=r"lm.backend is vllm; the answers that memory session keeps.*Fix:"):
        write(datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=served)
    assert write(datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=(*served, "study.memory=none"))


def test_the_form_of_an_order_is_that_of_the_other(write):
    """A list of rankers writes from one graph for both orders: no row differs from another by that."""
    found = write(axes="{assembly: [cover]}", systems="[rankers, title_zsum]")
    forms = {dict(v.axes)["form"] for v in found if v["assembly"] == "cover"}
    assert len(forms) == 1


def test_a_selection_of_turns_has_no_form(write):
    axes = "{assembly: [dense], reader: [gemma3_270m]}"
    found = write(datasets="[toy_dialogue]", axes=axes, systems="[rankers, title_zsum]")
    assert [v.system for v in found] == ["rankers"]
