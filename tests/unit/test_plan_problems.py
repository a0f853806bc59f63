"""Experiments that do not resolve: what does not fit together is said before anything runs."""

from pathlib import Path

import pytest

from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.planning.plan import variants

CONF = Path(__file__).parents[2] / "conf"


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
        ("{assembly: [line]}", r"'line' is no option of conf/assembly; .*did you mean 'lines'"),
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
    with pytest.raises(ConfigError, match=r"orders names aware, but ranker title_zsum has no form with \+neighbour"):
        write(systems="[title_zsum]", overrides=("rankers.suffixes=[]",))
    assert write(systems="[title_zsum]", overrides=("rankers.suffixes=[]", "system.orders=[blind]"))


@pytest.mark.parametrize(("argument", "group"), [("datasets", "dataset"), ("systems", "system"), ("studies", "study")])
def test_an_unknown_name_is_refused_by_its_group(write, argument, group):
    with pytest.raises(ConfigError, match=rf"mine\d+\.yaml: {group} 'nothing' is no option"):
        write(**{argument: "[nothing]"})


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


# --- utility under a language model: hours, so every name is looked up before --------------------


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("+ecs.pooled_by.zsumm=1", r"ecs\.pooled_by names zsumm, allowed: tfidf, .*did you mean 'zsum'"),
        ("ecs.pooled_by={zsum+answer: 1}", r"ecs\.pooled_by names zsum\+answer, allowed: tfidf, "),
        ("ecs.pooled_by={zsum+neighbour: 0}", r"ecs\.pooled_by names no ranking, allowed: tfidf, "),
        ("ecs.probes=[judge]", r"ecs\.probes names judge, allowed: trajectory_ctx"),
        ("+ecs.grow_by.kl_first=1", r"ecs\.grow_by names kl_first, allowed: tfidf, .*pmi_q"),
        (
            "+rankers.utilities.mine={kind: threshold, of: signd}",
            r"rankers\.utilities names signd, .*did you mean 'signed'",
        ),
        (
            "+rankers.utilities.mine={kind: distilled, label: gold, of: [bm25]}",
            r"rankers\.utilities names gold, allowed",
        ),
        (
            "+rankers.utilities.mine={kind: threshold}",
            r"rankers\.utilities\.mine of kind threshold: has \[\], needs exactly \['of'\]",
        ),
        ("dataset.probed=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.scored=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.grown_of=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("system.turns=turns", r"rankers\.scores is empty"),
        (
            "+rankers.scores.mine={kind: signd}",
            r"rankers\.scores\.mine: score 'signd' is unknown; did you mean 'signed'",
        ),
        ("+rankers.scores.signed.penalty=1", r"unknown key rankers\.scores\.signed\.penalty; did you mean"),
        ("+rankers.scores.zsum={kind: js}", r"rankers\.scores\.zsum: another scorer of this list has that name"),
    ],
)
def test_a_name_that_a_sweep_would_not_find_is_refused_before_it(write, override, message):
    with pytest.raises(ConfigError, match=message):
        write(datasets="[locomo]", systems="[ecs]", overrides=(override,))


def test_the_same_names_are_no_matter_where_no_utility_is_asked_for(write):
    assert write(datasets="[locomo]", systems="[rankers]", overrides=("+ecs.pooled_by.zsumm=1",))


def test_what_a_server_cannot_give_is_refused_before_a_sweep(write):
    served = ("system.reader=vllm_qwen2_5_7b",)
    with pytest.raises(
        SecateurError, match=r"score trajectory_ctx is not available on backend vllm.*Fix: leave it out"
    ):
        write(datasets="[locomo]", systems="[ecs]", overrides=served)
    given = (*served, "system.turns=turns", "+rankers.scores.signed={kind: signed}")
    with pytest.raises(SecateurError, match=r"score trajectory_ctx is not available on backend vllm"):
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
    with pytest.raises(ConfigError, match=r"policy.sees is 'no_score', .*did you mean 'no_scores'"):
        write(datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=("policy.sees=no_score",))


def test_a_policy_answers_test_questions_alone(write):
    found = write(datasets="[stem_old, stem_old_test, medical_sample]", systems="[remembered, compressed]")
    answering = {v.dataset for v in found if v.system == "compressed"}
    assert answering == {"stem_old_test", "medical_sample"}
    with pytest.raises(ConfigError, match=r"answers no question that it was trained on.*Fix:"):
        write(datasets="[stem_old]", systems="[remembered]", axes="{memory: [session+policy_of=session]}")


def test_a_policy_is_learnt_under_an_option_of_memory(write):
    with pytest.raises(ConfigError, match=r"memory.policy_of names sesion.*did you mean 'session'"):
        write(datasets="[medical_sample]", systems="[compressed]", overrides=("memory.policy_of=sesion",))


def test_what_a_policys_sessions_keep_is_written_in_process(write):
    served = ("study.reader=vllm_qwen2_5_7b",)
    with pytest.raises(ConfigError, match=r"lm.backend is vllm; the answers that memory session keeps.*Fix:"):
        write(datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=served)
    assert write(datasets="[stem_old_test]", systems="[]", studies="[policy]", overrides=(*served, "study.memory=none"))


def test_a_peer_answers_from_the_index_of_an_option_with_its_adapter(write):
    with pytest.raises(ConfigError, match=r"peer\.indexed_by names lightragg, allowed: .*did you mean 'lightrag'"):
        write(systems="[hipporag2]", overrides=("peer.indexed_by=lightragg",))
    with pytest.raises(ConfigError, match=r"peer\.indexed_by is lightrag, which has another adapter than hipporag2"):
        write(systems="[hipporag2]", overrides=("peer.indexed_by=lightrag",))
    assert write(systems="[lightrag_top5]")
