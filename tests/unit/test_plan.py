"""Experiments resolve to variants, and impossible ones say why."""

import shutil
from itertools import count
from pathlib import Path

import pytest

from secateur.pipeline.config.compose import names
from secateur.pipeline.config.fields import ConfigError
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.plan import AXES, all_names, experiment, variants

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write an experiment into a copy of conf/ and resolve it."""
    conf, numbers = tmp_path_factory.mktemp("root") / "conf", count()
    shutil.copytree(CONF, conf)

    def resolve(datasets="[stem]", systems="[sentences, secateur]", axes="{}", exclude="[]", overrides=()):
        text = f"title: T\ndatasets: {datasets}\nsystems: {systems}\naxes: {axes}\nexclude: {exclude}\n"
        name = f"mine{next(numbers)}"
        (conf / "experiment" / f"{name}.yaml").write_text(text)
        return variants(conf, name, overrides)

    return resolve


def rows(found) -> set[tuple]:
    return {(v.dataset, v.system, v.track) for v in found}


@pytest.mark.parametrize("name", names(CONF, "experiment"))
def test_every_experiment_resolves(name):
    found = variants(CONF, name)
    assert found
    assert len(set(found)) == len(found)
    assert {v.dataset for v in found} == set(experiment(CONF, name).datasets)
    for variant in found:
        assert set(dict(variant.options)) == set(AXES)
        assert all(variant[axis] in names(CONF, axis) for axis in AXES)


def test_a_graph_system_has_a_row_in_each_of_its_tracks_and_sentences_none(write):
    assert rows(write()) == {("stem", "sentences", None), ("stem", "secateur", "blind"), ("stem", "secateur", "aware")}


def test_an_ablation_is_named_after_the_option_that_differs(write):
    found = write(axes="{prompt: [dense]}", systems="[secateur]")
    assert {v.system for v in found} == {"secateur", "secateur:dense"}
    assert {v["prompt"] for v in found if v.system == "secateur:dense"} == {"dense"}
    assert {v["prompt"] for v in found if v.system == "secateur"} == {"default"}


def test_a_context_is_answered_on_documents_whose_questions_are_and_nowhere_else(write):
    systems = "[closed_book, rag_zsum, secateur]"
    found = write(datasets="[toy_documents, stem, toy_dialogue]", systems=systems)
    assert {(v.dataset, v.system) for v in found if v.path == "context"} == {
        ("toy_documents", "closed_book"),
        ("toy_documents", "rag_zsum"),
    }
    assert {v.system: v.context for v in found if v.answered} == {"closed_book": "closed_book", "rag_zsum": "zsum"}
    assert all(v.track is None for v in found if v.path == "context")


def test_a_dialogue_has_sessions_over_its_own_graph(write):
    found = write(datasets="[toy_dialogue]", systems="[secateur, sessions]")
    assert [(v.system, v.track) for v in found] == [("sessions", "blind")]


def test_graphs_answer_where_the_experiment_asks_for_it():
    found = variants(CONF, "answers")
    assert all(v.answered for v in found)
    assert {(v.system, v.track) for v in found if v.path == "graph"} == {
        *((system, track) for system in ("graph", "secateur") for track in ("blind", "aware")),
        ("apr", "aware"),
    }


def test_axes_are_varied_one_at_a_time(write):
    found = write(axes="{prompt: [dense], retriever: [paper]}", systems="[secateur]")
    assert {v.system for v in found} == {"secateur", "secateur:dense", "secateur:paper"}


def test_the_option_a_system_has_already_is_no_variant_of_its_own(write):
    assert {v.system for v in write(axes="{prompt: [default]}", systems="[secateur]")} == {"secateur"}
    assert len(write(axes="{prompt: [default]}", systems="[secateur]")) == 2


def test_axes_do_not_vary_the_baseline(write):
    assert {v.system for v in write(axes="{prompt: [dense]}", systems="[sentences]")} == {"sentences"}


def test_a_dialogue_takes_the_selection_path_with_its_own_scorers(write):
    (found,) = write(datasets="[locomo]")
    assert (found.path, found.track, found["scorer"]) == ("selection", None, "turns")


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("[{track: aware}]", {("stem", "sentences", None), ("stem", "secateur", "blind")}),
        ("[{system: secateur}]", {("stem", "sentences", None)}),
        ("[{dataset: stem, system: sentences}]", {("stem", "secateur", "blind"), ("stem", "secateur", "aware")}),
        (
            "[{dataset: novel_v2}]",
            {("stem", "sentences", None), ("stem", "secateur", "blind"), ("stem", "secateur", "aware")},
        ),
    ],
)
def test_exclude_leaves_out_what_matches_in_every_named_axis(write, exclude, left):
    assert rows(write(exclude=exclude)) == left


def test_exclude_by_an_unknown_axis_is_refused_and_not_ignored(write):
    with pytest.raises(ConfigError, match=r"exclude: unknown axis 'datset'.*did you mean 'dataset'"):
        write(exclude="[{datset: stem}]")


def test_exclude_reaches_an_ablation_by_its_option(write):
    found = write(axes="{prompt: [dense]}", systems="[secateur]", exclude="[{prompt: dense}]")
    assert {v.system for v in found} == {"secateur"}


def test_nothing_left_says_so(write):
    with pytest.raises(ConfigError, match="no variant is left"):
        write(exclude="[{dataset: stem}]")


def test_an_unknown_axis_names_the_nearest_one(write):
    with pytest.raises(ConfigError, match=r"mine\d+\.yaml: unknown axis 'promt'; allowed: .*did you mean 'prompt'"):
        write(axes="{promt: [dense]}")


def test_an_unknown_option_of_an_axis_is_refused(write):
    with pytest.raises(ConfigError, match="'sparse' is no option of conf/prompt"):
        write(axes="{prompt: [sparse]}")


@pytest.mark.parametrize(("argument", "group"), [("datasets", "dataset"), ("systems", "system")])
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


def test_an_extractor_that_does_not_fit_together_is_found_before_anything_runs(write):
    with pytest.raises(ConfigError, match=r"conf/extractor/openie\.yaml: .*unknown key extractor\.settings\.model"):
        write(overrides=("+extractor.settings.model=x",))


def test_an_override_of_the_experiment_itself_is_taken(write):
    assert {v.dataset for v in write(overrides=("experiment.datasets=[stem_dev]",))} == {"stem_dev"}


def test_wildcards_name_every_axis(write):
    for variant in write():
        assert set(variant.wildcards) == {"dataset", "corpus", "track", "context", *AXES}
        assert variant.wildcards["track"] in names(CONF, "track")


def test_all_names_cover_every_wildcard():
    found = all_names(CONF)
    assert set(found) == {"corpus", "dataset", "track", *AXES}
    assert all(found.values())


def test_the_check_of_scorers_is_for_red_herrings_alone(write):
    found = write(datasets="[red_herrings, locomo, stem]", systems="[herrings, sentences]")
    assert {v.dataset for v in found if v.path == "herrings"} == {"red_herrings"}
    assert {v.dataset for v in found if v.path == "selection"} == {"red_herrings", "locomo"}


# --- utility under a language model: hours, so every name is looked up before --------------------


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ecs.pooled_by=zsumm", r"ecs\.pooled_by names zsumm, allowed: tfidf, .*did you mean 'zsum'"),
        ("ecs.pooled_by=zsum+answer", r"ecs\.pooled_by names zsum\+answer, allowed: tfidf, "),
        ("ecs.probes=[judge]", r"ecs\.probes names judge, allowed: trajectory_ctx"),
        ("+ecs.grow_by.kl_first=1", r"ecs\.grow_by names kl_first, allowed: tfidf, .*pmi_q"),
        (
            "+scorer.utilities.mine={kind: statistic, of: signd}",
            r"scorer\.utilities names signd, .*did you mean 'signed'",
        ),
        ("+scorer.utilities.mine={kind: distilled, label: gold, of: [bm25]}", r"scorer\.utilities names gold, allowed"),
        (
            "+scorer.utilities.mine={kind: statistic}",
            r"scorer mine of kind statistic: has \[\], needs exactly \['of'\]",
        ),
        ("dataset.probed=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.scored=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.grown_of=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("system.selection_scorer=turns", r"scorer\.utilities is empty"),
    ],
)
def test_a_name_that_a_sweep_would_not_find_is_refused_before_it(write, override, message):
    with pytest.raises(ConfigError, match=message):
        write(datasets="[locomo]", systems="[ecs]", overrides=(override,))


def test_the_same_names_are_no_matter_where_no_utility_is_asked_for(write):
    assert write(datasets="[locomo]", systems="[sentences]", overrides=("ecs.pooled_by=zsumm",))


def test_what_a_server_cannot_give_is_refused_before_a_sweep(write):
    served = ("system.lm=vllm_qwen2_5_7b",)
    with pytest.raises(SecateurError, match=r"scorer signed_kl is not available on backend vllm.*Fix: signed"):
        write(datasets="[locomo]", systems="[ecs]", overrides=served)
    given = (*served, "system.selection_scorer=turns", "+scorer.utilities.signed={kind: statistic, of: signed}")
    with pytest.raises(SecateurError, match=r"scorer trajectory:ctx is not available on backend vllm"):
        write(datasets="[locomo]", systems="[ecs]", overrides=given)
    assert write(datasets="[locomo]", systems="[ecs]", overrides=(*given, "ecs.probes=[]"))


@pytest.mark.parametrize("name", ["zsumm", "zsum+answer"])
def test_a_lifted_scorer_is_one_of_the_list_that_sees_no_answer(write, name):
    with pytest.raises(ConfigError, match=r"scorer\.lifted names zsum.*, allowed: bm25_k1\.2_b0\.75, "):
        write(systems="[sentences]", overrides=(f"scorer.lifted=[{name}]", "scorer.suffixes=['+answer']"))


@pytest.mark.parametrize("override", ["eval.lift_budgets=[64, 96]", "eval.lift_control=96"])
def test_lift_is_measured_at_budgets_that_have_a_block(write, override):
    with pytest.raises(ConfigError, match=r"eval\.lift_budgets or lift_control names 96, allowed: 64, 128"):
        write(datasets="[stem_dev]", systems="[secateur]", overrides=(override,))
    assert write(datasets="[stem]", systems="[secateur]", overrides=(override,))  # lift is not measured there


def test_a_reader_is_a_language_model_that_fits_together(write):
    with pytest.raises(ConfigError, match=r"conf/retriever/reread\.yaml: lm 'smollm' is no option.*'smollm2'"):
        write(systems="[secateur]", overrides=("retriever.reader=smollm",))
    with pytest.raises(ConfigError, match=r"lm\.url does not belong to backend transformers"):
        write(
            systems="[secateur]",
            overrides=("retriever.reader=smollm2", "system.lm=vllm_qwen2_5_7b", "++lm.url=http://x"),
        )


def test_a_policy_has_rows_where_questions_are_set_apart_for_it(write):
    found = write(datasets="[stem_old_test, stem]", systems="[policy]", axes="{memory: [none], prompt: [dense]}")
    assert rows(found) == {("stem_old_test", "policy", "blind"), ("stem_old_test", "policy:none", "blind")}


@pytest.mark.parametrize(
    ("trained", "message"),
    [("{train: 2, test: 1}", "dataset.trained names no dev"), ("{train: 2, dve: 1}", "did you mean 'dev'")],
)
def test_a_policy_needs_questions_of_every_split(write, trained, message):
    with pytest.raises(ConfigError, match=message):
        write(datasets="[stem]", systems="[policy]", overrides=(f"++dataset.trained={trained}",))


def test_a_policy_is_learnt_on_a_data_set_whose_questions_are_set_apart_for_it(write):
    with pytest.raises(ConfigError, match=r"policy.trained_on names medical_simple.*did you mean 'medical_sample'"):
        write(datasets="[stem_old_test]", systems="[policy]", overrides=("policy.trained_on=medical_simple",))
    with pytest.raises(ConfigError, match=r"policy.without names score_margins.*did you mean 'score_margin'"):
        write(datasets="[stem_old_test]", systems="[policy]", overrides=("policy.without=[score_margins]",))


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
    served = ("system.lm=vllm_qwen2_5_7b",)
    with pytest.raises(ConfigError, match=r"lm.backend is vllm; the answers that memory session keeps.*Fix:"):
        write(datasets="[stem_old_test]", systems="[policy]", overrides=served)
    assert write(datasets="[stem_old_test]", systems="[policy]", overrides=(*served, "system.memory=none"))
