"""Experiments that do not resolve: what does not fit together is said before anything runs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from secateur.config import compose
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError

CONF = Path(__file__).parents[2] / "conf"
PMI_Q = "{reranker: [pmi_q]}"


def refuse(write, message: str, override: str | None = None, **arguments) -> None:
    with pytest.raises(SecateurError, match=message):
        write(overrides=(override,) if override else (), **arguments)


@pytest.mark.parametrize(
    ("axes", "override", "message"),
    [
        ("{assembly: [line]}", None, r"'line' is no option of conf/assembly; .*did you mean 'lines'"),
        ("{}", "system.reader=smollm", r"'smollm' is no option.*'smollm2'"),
        ("{}", "system.ranker=title_zsumm", r"system\.ranker names title_zsumm, .*did you mean 'title_zsum'"),
        ("{}", "memory.window=-1", r"memory\.window is -1"),
        ("{}", "+extractor.settings.colour=x", r"conf/extractor/openie\.yaml: .*extractor\.settings\.colour"),
        ("{}", "++lm.url=http://x", r"lm\.url does not belong to backend transformers"),
        ("{}", "++assembly.form={kind: matrx}", r"assembly\.form: .* did you mean 'matrix'"),
        ("{}", "++rankers.scorers.zsum.kind=zsumm", r"rankers\.scorers\.zsum: .* did you mean 'zsum'"),
        (PMI_Q, "++reranker.spec.kind=pmi_p", r"reranker\.spec: reranker 'pmi_p' is unknown; did you mean 'pmi_q'"),
        (PMI_Q, "++reranker.spec.lm=smollm", r"lm 'smollm' is no option.*did you mean 'smollm2'"),
        ("{}", "rankers.suffixes=[]", r"orders names aware, but ranker title_zsum has no form with \+neighbour"),
    ],
)
def test_an_unknown_option_plug_in_or_key_names_the_nearest_one(write, axes, override, message):
    refuse(write, message, override, systems="[title_zsum, graph_zsum]", axes=axes)


@pytest.mark.parametrize("name", ["asembly", "family", "ranker", "orders", "answers_only", "contexts"])
def test_what_is_no_axis_or_what_a_system_is_cannot_be_varied(write, name):
    near = ".*did you mean 'assembly'" if name == "asembly" else ""
    refuse(write, rf"mine\d+\.yaml: unknown axis '{name}'{near}", axes=f"{{{name}: [graph]}}")


@pytest.mark.parametrize(("argument", "group"), [("datasets", "dataset"), ("systems", "system"), ("studies", "study")])
def test_an_unknown_name_is_refused_by_its_group(write, argument, group):
    refuse(write, rf"mine\d+\.yaml: {group} 'nothing' is no option", **{argument: "[nothing]"})


def test_a_ranker_that_sees_the_answer_makes_no_context_and_one_without_neighbours_an_order_blind_row(write):
    blind = ("system.orders=[blind]", "rankers.suffixes=['+answer']")
    assert write(systems="[title_zsum]", overrides=blind)
    with pytest.raises(ConfigError, match=r"system\.ranker names zsum\+answer, allowed: bm25_k1\.2_b0\.75, "):
        write(systems="[title_zsum]", overrides=("system.ranker=zsum+answer", *blind))


LISTED = r"allowed: locomo, locomo_f20, toy_dialogue"
SHARED = "two of which share their text or their questions"


@pytest.mark.parametrize(
    ("datasets", "listed", "message"),
    [
        ("locomo, locomo_f20, toy_dialogue, stem", "toy_dialog", f"toy_dialog, {LISTED}; did you mean"),
        ("locomo, locomo_f20, toy_dialogue, stem", "stem", f"stem, {LISTED}"),  # no dialogue
        ("locomo, locomo_f20, toy_dialogue, stem", "locomo,locomo_f20", f"locomo, locomo_f20, {SHARED}"),
        ("longmemeval, longmemeval_original", "longmemeval,longmemeval_original", SHARED),
    ],
)
def test_weights_come_from_dialogues_of_the_experiment_each_text_and_question_once(write, datasets, listed, message):
    message = rf"rankers\.fitted_on names .*{message}"
    refuse(write, message, f"rankers.fitted_on=[{listed}]", systems="[ecs]", datasets=f"[{datasets}]")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("+ecs.pooled_by.zsumm=1", r"ecs\.pooled_by names zsumm, allowed: tfidf, .*did you mean 'zsum'"),
        ("ecs.pooled_by={zsum+answer: 1}", r"ecs\.pooled_by names zsum\+answer, allowed: tfidf, "),
        ("ecs.pooled_by={zsum+neighbour: 0}", r"ecs\.pooled_by names no ranking, allowed: tfidf, "),
        ("ecs.probes=[judge]", r"ecs\.probes names judge, allowed: trajectory_ctx"),
        ("+ecs.grow_by.kl_first=1", r"ecs\.grow_by names kl_first, allowed: tfidf, .*pmi_q"),
        ("ecs.arrival={mine: {kind: signd}}", r"ecs\.arrival\.mine: score .signd. is unknown"),
        ("ecs.arrival={mine: {kind: trajectory, along: ctx}}", r"ecs\.arrival\.mine reads trajectory_ctx, which no"),
        ("+rankers.utilities.mine={kind: threshold, of: signd}", r"utilities names signd, .*did you mean 'signed'"),
        ("+rankers.utilities.mine={kind: distilled, label: gold, of: [bm25]}", "utilities names gold, allowed"),
        ("+rankers.utilities.mine={kind: threshold}", r"mine of kind threshold: has \[\], needs exactly \['of'\]"),
        ("dataset.probed=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.scored=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("dataset.grown_of=F9", r"dataset\.scored, probed or grown_of names F9, allowed: F20, F10, F5"),
        ("system.turns=turns", r"rankers\.scores is empty"),
        ("+rankers.scores.mine={kind: signd}", r"scores\.mine: score 'signd' is unknown; did you mean 'signed'"),
        ("+rankers.scores.signed.penalty=1", r"unknown key rankers\.scores\.signed\.penalty; did you mean"),
        ("+rankers.scores.zsum={kind: js}", r"rankers\.scores\.zsum: another scorer of this list has that name"),
    ],
)
def test_a_name_that_a_sweep_would_not_find_is_refused_before_it(write, override, message):
    refuse(write, message, override, datasets="[locomo]", systems="[ecs]")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("mine=[signed, signed_shar]", r"rankers\.rules\.mine names signed_shar, .*did you mean 'signed_share'"),
        ("mine=[signed, signed]", r"rankers\.rules\.mine needs at least two different scores, found signed, signed"),
        ("mine=[]", r"rankers\.rules\.mine needs at least two different scores, found none"),
        ("mine=signed", r"rankers\.rules\.mine is 'signed', a list is needed"),
        ("js=[signed, pmi_q]", r"rankers\.rules\.js: a score has that name"),
    ],
)
def test_a_rule_that_no_passage_could_be_judged_by_is_refused(write, rule, message):
    refuse(write, message, f"+rankers.rules.{rule}", datasets="[red_herrings]", systems="[]", studies="[distractors]")


def test_the_same_names_are_no_matter_where_no_utility_is_asked_for(write):
    assert write(datasets="[locomo]", systems="[rankers]", overrides=("+ecs.pooled_by.zsumm=1",))


def test_what_a_server_cannot_give_is_refused_before_a_sweep(write):
    served = ("system.reader=vllm_qwen2_5_7b",)
    given = (*served, "system.turns=turns", "+rankers.scores.signed={kind: signed}")
    for overrides in (served, given):
        with pytest.raises(SecateurError, match=r"score trajectory_ctx is not available on backend vllm.*Fix: leave"):
            write(datasets="[locomo]", systems="[ecs]", overrides=overrides)
    assert write(datasets="[locomo]", systems="[ecs]", overrides=(*given, "ecs.probes=[]"))


@pytest.mark.parametrize("override", ["eval.gain_budgets=[64, 96]", "eval.gain_control=96"])
def test_gain_is_measured_at_budgets_that_have_a_context(write, override):
    message, asked = r"eval\.gain_budgets or gain_control names 96, allowed: 64, 128", {"datasets": "[stem_dev]"}
    refuse(write, message, override, **asked, systems="[graph_zsum]", gains="true")
    assert write(**asked, systems="[graph_zsum]", overrides=(override,))  # gain is not measured there


def test_what_is_claimed_is_a_mean_over_budgets_that_have_a_context(write):
    """Else no row has a mean, and the finding would be of nothing."""
    given, override = {"datasets": "[stem_dev]", "systems": "[graph_zsum]"}, "eval.budgets=[128,256]"
    refuse(write, r"eval\.budgets lacks: 64.* Fix: eval\.claim=\[128, 256\]", override, **given)
    assert write(**given, overrides=(override, "eval.claim=[128,256]"))
    assert write(datasets="[toy_dialogue]", systems="[rankers]", overrides=(override,))  # turns have no budgets


@pytest.mark.parametrize("system", ["rankers", "ecs"])
def test_the_reference_of_tokens_at_equal_quality_has_one_ranking(write, system):
    message, given = rf"eval\.reference is {system}, which has several", {"systems": f"[{system}]"}
    refuse(write, message, f"eval.reference={system}", datasets="[locomo]", **given)


def test_a_system_of_which_exclude_leaves_nothing_is_named(write):
    message = r"exclude leaves no row of raptor\. Fix: leave out these systems, or shorten experiment\.exclude"
    refuse(write, message, systems="[bm25, raptor]", datasets="[stem_old]", exclude="[{order: aware}]")
    assert write(systems="[bm25, raptor]", datasets="[stem_old]")


def test_the_control_of_memory_needs_a_placement_that_tells_the_ranking(write):
    override = "assembly.placement=as_written"
    refuse(write, r"assembly\.placement is as_written, which tells no", override, systems="[]", studies="[sessions]")


LEARNT = {"datasets": "[stem_old_test]", "systems": "[]", "studies": "[policy]"}
COMPRESSED = {"datasets": "[medical_sample]", "systems": "[compressed]"}
TAUGHT = {"datasets": "[stem_old]", "systems": "[remembered]", "axes": "{memory: [session+policy_of=session]}"}


@pytest.mark.parametrize(
    ("override", "arguments", "message"),
    [
        ("++dataset.trained={train: 2, test: 1}", LEARNT | {"datasets": "[stem]"}, "dataset.trained names no dev"),
        ("++dataset.trained={train: 2, dve: 1}", LEARNT | {"datasets": "[stem]"}, "did you mean 'dev'"),
        ("policy.trained_on=medical_simple", LEARNT, "names medical_simple.*did you mean 'medical_sa"),
        ("policy.heads=join", LEARNT, r"policy.heads is 'join', .*did you mean 'joint'"),
        (None, TAUGHT, r"answers no question that it was trained on.*Fix:"),
        ("policy.budget=200", COMPRESSED, r"policy\.budget is 200; a price on tokens is part of study policy alone"),
        ("memory.policy_of=sesion", COMPRESSED, r"memory.policy_of names sesion.*did you mean 'session'"),
        # What it is taught by must be measurable.
        ("study.reader=vllm_qwen2_5_7b", LEARNT, r"lm\.backend is vllm; the answers .* are written in process"),
        (
            "study.reader=qwen2_5_7b",
            LEARNT,
            r"policy\.gamma is 0\.25 and lm\.seconds is null; .*or set policy\.gamma=0",
        ),
        ("lm.seconds={call: 1, read: 1}", LEARNT, r"lm\.seconds has .*, needs exactly call, read and write"),
        ("ecs.policy_judge=smollm3", LEARNT, r"ecs\.policy_judge names smollm3, allowed: .*did you mean 'smollm2'"),
        ("ecs.policy_budgets=[100]", LEARNT, r"ecs\.policy_budgets names 100, allowed: 64"),
    ],
)
def test_a_policy_that_cannot_be_learnt_or_asked_says_why(write, override, arguments, message):
    refuse(write, message, override, **arguments)


def test_a_policy_answers_test_questions_alone(write):
    found = write(datasets="[stem_old, stem_old_test, medical_sample]", systems="[remembered, compressed]")
    assert {v.dataset for v in found if v.system == "compressed"} == {"stem_old_test", "medical_sample"}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("peer.indexed_by=lightragg", r"peer\.indexed_by names lightragg, .*did you mean 'lightrag'"),
        ("peer.indexed_by=lightrag", r"peer\.indexed_by is lightrag, .*another adapter than hipporag2"),
        ("peer.adapter.kind=hipporag3", "peer 'hipporag3' is unknown; did you mean 'hipporag2'"),
        ("peer.adapter.qa_top_k=0", "peer.adapter.qa_top_k is 0"),
        ("service.url=ftp://here", "service.url is 'ftp://here'"),
        ("service.url=http://localhost:1/v1", "service.model is null"),
    ],
)
def test_a_peer_that_cannot_be_run_says_why_before_anything_runs(write, override, message):
    refuse(write, message, override, systems="[hipporag2]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": "{assembly: [{form: [dense]}]}"}, r"axes\.assembly: form is \['dense'\].*Fix: write an option file"),
        ({"axes": "{assembly: [{form: 'two words'}]}"}, r"axes\.assembly: form is 'two words'; allowed: a word"),
        ({"axes": "{assembly: [{form: 'null'}]}"}, r"axes\.assembly: form is 'null'; allowed: a word"),
        ({"axes": "{assembly: [{}]}"}, r"axes\.assembly has {}; allowed: names of options"),
        ({"axes": "{assembly: [7]}"}, r"axes\.assembly has 7; allowed: names of options"),
        ({"axes": "{assembly: [{from: dense}]}"}, r"conf/assembly has no key 'from'.*did you mean 'form'"),
        ({"axes": "{assembly: [{form: dens}]}"}, r"form 'dens' is unknown; did you mean 'dense'"),
        ({"axes": "{assembly: [lines+form]}"}, r"assembly 'lines\+form' is no option.*did you mean 'lines'"),
        ({"axes": "{assembly: [{form: dense}, paper+form=dense]}"},
         r"two variants are named graph_zsum:dense: assembly .*Fix: write one of them"),
        ({"axes": "{reader: [gemma3_270m]}", "crossed": "[readr]"},
         r"crossed names 'readr', axes has reader; did you mean 'reader'\?.*Fix"),
        ({"exclude": "[{datset: stem}]"}, r"exclude: unknown axis 'datset'.*did you mean 'dataset'"),
        ({"exclude": "[{dataset: stem}]"}, "no variant is left"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_told_apart_or_named_are_refused_with_their_place(write, arguments, message):
    refuse(write, message, systems="[graph_zsum]", **arguments)


@pytest.mark.parametrize(
    ("dataset", "taken"),
    [
        ("longmemeval", []),  # the other release asks the same questions
        ("longmemeval_original", []),
        ("locomo", ["longmemeval_original"]),
    ],
)
def test_no_weights_come_from_the_same_questions_over_another_text(dataset, taken):
    sets = {name: compose.option(CONF, "dataset", name) for name in ("longmemeval", "longmemeval_original", "locomo")}
    rankers = SimpleNamespace(fitted_on=("longmemeval_original",))
    rules = {"layout": layout, "unlimited": unlimited}
    rules["option"] = lambda group, name: rankers if group == "rankers" else sets[name]
    exec((CONF.parent / "workflow/rules/functions/ecs.smk").read_text(), rules)

    class Wildcards(dict):
        dataset, rankers = property(lambda self: self["dataset"]), property(lambda self: self["rankers"])

    own = Wildcards(dataset=dataset, corpus=sets[dataset].corpus, rankers="x")
    assert [options["dataset"] for options in rules["sets_of"](own)] == [dataset, *taken]
