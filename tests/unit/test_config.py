"""The configuration is read strictly, and says what is wrong with it."""

import math
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config import files, inline, plugins
from secateur.config.compose import exists, names, option, pattern
from secateur.config.graph import Retriever
from secateur.config.groups import GROUPS
from secateur.config.leaves import leaves, load, unflatten
from secateur.config.policy import Policy
from secateur.core.fields import ConfigError, from_dict

CONF = Path(__file__).parents[2] / "conf"
OPTIONS = [(group, name) for group in GROUPS for name in files.options(CONF, group)]
RETRIEVER = vars(option(CONF, "retriever", "paper"))
POLICY = vars(option(CONF, "policy", "default"))


WORDS = st.from_regex("[a-z][a-z0-9_]*", fullmatch=True).filter(lambda word: word not in ("true", "false", "null"))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-1e30, 1e30, allow_nan=False), WORDS)


def message(group, values) -> str:
    with pytest.raises(ConfigError) as raised:
        from_dict(GROUPS[group], values, f"conf/{group}/x")
    return str(raised.value)


@pytest.mark.parametrize(("group", "name"), OPTIONS, ids=lambda part: part)
def test_every_option_composes_and_is_read_back_from_its_leaves(group, name):
    config = option(CONF, group, name)
    assert isinstance(config, GROUPS[group])
    flat = leaves(group, config)
    assert getattr(load(flat), group) == config
    assert leaves(group, from_dict(GROUPS[group], unflatten(flat)[group], group)) == flat


def test_a_derived_option_differs_from_its_file_in_its_keys_alone_and_can_be_inherited(tmp_path):
    conf = shutil.copytree(CONF, tmp_path / "conf")
    base, derived = vars(option(CONF, "peer", "lightrag")), vars(option(CONF, "peer", "lightrag_top5"))
    adapter = base["adapter"] | {"top_k": 5, "chunk_top_k": 5}
    assert derived == base | {"adapter": adapter, "indexed_by": "lightrag"}
    (conf / "peer" / "mine.yaml").write_text("defaults: [lightrag_top5, _self_]\nadapter: {top_k: 9}\n")
    assert option(conf, "peer", "mine").adapter == adapter | {"top_k": 9}
    assert option(conf, "peer", "lightrag_top5", ("peer.chunk=7",)).chunk == 7  # the command line has the last word
    assert option(conf, "dataset", "hotpotqa_untitled").corpus == "hotpotqa_untitled"
    assert option(conf, "corpus", "hotpotqa_untitled").format == {"kind": "hotpotqa", "titles": False}
    assert re.fullmatch(pattern(conf, "dataset"), "hotpotqa_untitled")
    assert "lightrag_top5" in names(conf, "system")


def test_options_are_read_from_a_folder_of_any_name(tmp_path, monkeypatch):
    """A copy may have another name."""
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path))  # what was composed before is not read
    conf = shutil.copytree(CONF, tmp_path / "_conf")
    assert option(conf, "system", "named_two_step") == option(CONF, "system", "named_two_step")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("derived: [other]", r"mine\.yaml: derived is \['other'\]; allowed: names with their keys"),
        ("derived: {other: 5}", "derived is {'other': 5}"),
        ("derived: {raptor: {chunk: 5}}", r"mine\.yaml: derived\.raptor: conf/peer/raptor\.yaml has the same name"),
        ("derived: {lightrag_top5: {chunk: 5}}", r"lightrag_top5: conf/peer/lightrag\.yaml has the same name"),
        ("derived: {other: {chnk: 5}}", r"conf/peer/mine\.yaml: .*unknown key peer\.chnk; did you mean 'chunk'"),
    ],
)
def test_a_derived_option_is_read_strictly(tmp_path, text, expected):
    conf = shutil.copytree(CONF, tmp_path / "conf")
    (conf / "peer" / "mine.yaml").write_text(f"defaults: [lightrag, _self_]\n{text}\n")
    with pytest.raises(ConfigError, match=expected):
        option(conf, "peer", "other")


def test_an_inline_option_is_its_base_with_keys_changed():
    base, changed = vars(option(CONF, "retriever", "beam")), option(CONF, "retriever", "beam+walk,depth=0+w_dense=0,5")
    assert vars(changed) == base | {"w_dense": 0.5, "walk": base["walk"] | {"depth": 0}}
    assert option(CONF, "retriever", "beam+w_dense=1", ("retriever.w_dense=2",)).w_dense == 2
    assert option(CONF, "assembly", "default+form=dense").form == {"kind": "dense"}
    assert exists(CONF, "retriever", "beam+w_dense=1")
    assert not exists(CONF, "retriever", "bean+w_dense=1")
    for group, name in (("system", "secateur+memory=session"), ("dataset", "stem+gain=1")):
        with pytest.raises(ConfigError, match=f"{group} .* is no option"):
            option(CONF, group, name)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]*(\.[a-z_]+)?", fullmatch=True), SCALARS, min_size=1, max_size=4))
def test_the_name_of_an_inline_option_holds_its_values_and_matches_in_a_path(values):
    name = inline.changed("default", values, "axes")
    assert inline.split(name) == ("default", values)
    assert inline.canonical(name) == name
    assert re.fullmatch(pattern(CONF, "retriever"), name)
    assert "." not in name


def test_a_corpus_is_a_file_or_stands_in_its_data_set():
    musique, stem = option(CONF, "corpus", "musique"), option(CONF, "corpus", "stem")
    assert (option(CONF, "dataset", "musique").corpus, musique.files) == ("musique", ("musique_train100.json",))
    assert option(CONF, "corpus", "musique", ("corpus.documents=4", "dataset.gain=1")).documents == 4
    assert option(CONF, "corpus", "musique", ("dataset.files=[a.json]",)) == musique
    assert option(CONF, "corpus", "musique", ("dataset.corpus.files=[a.json]",)).files == ("a.json",)
    assert option(CONF, "corpus", "stem", ("dataset.corpus=medical",)) == stem
    assert {"stem", "musique", "stem_old"} & {*names(CONF, "corpus")} == {"stem", "musique"}
    with pytest.raises(ConfigError, match="data set 'stem_old' holds no settings of a corpus; its corpus is 'stem'"):
        option(CONF, "corpus", "stem_old")
    with pytest.raises(ConfigError, match=r"corpus 'musiqe' is no option.*did you mean 'musique'"):
        option(CONF, "corpus", "musiqe")


def test_settings_of_a_corpus_in_a_data_set_are_read_as_strictly(tmp_path):
    conf = shutil.copytree(CONF, tmp_path / "conf")
    for group, name, said in (
        ("corpus", "mine", r"mine\.yaml: .*unknown key dataset\.corpus\.file; did you mean 'files'"),
        ("dataset", "medical", r"corpus holds settings, and conf/corpus/medical\.yaml has the same name"),
    ):
        (conf / "dataset" / f"{name}.yaml").write_text("defaults: [custom, _self_]\ncorpus: {file: [a.json]}\n")
        with pytest.raises(ConfigError, match=said):
            option(conf, group, name)


def test_names_are_the_options_of_a_group_without_what_they_begin_with():
    assert {group for group, _ in OPTIONS} == {path.parent.name for path in CONF.glob("*/*.yaml")} == set(GROUPS)
    assert names(CONF, "order") == ["aware", "blind"]
    assert "_default" not in names(CONF, "system")
    with pytest.raises(ConfigError, match="system '_default' is no option"):
        option(CONF, "system", "_default")
    found = option(CONF, "system", "raptor", ("system.service=released",))  # a peer is a system of its name
    assert (found.family, found.peer, found.orders, found.service) == ("peer", "raptor", ("aware",), "released")
    assert "raptor" in names(CONF, "system")


@pytest.mark.parametrize(
    ("group", "key", "family"),
    [("assembly", "form", "form"), ("reranker", "spec", "reranker"), ("corpus", "format", "format"),
     ("dataset", "format", "format"), ("rankers", "scorers", "ranker")],
)  # fmt: skip
def test_every_kind_that_an_option_names_takes_the_settings_that_it_gives(group, key, family):
    for name in names(CONF, group):
        spec = getattr(option(CONF, group, name), key)
        for one in spec.values() if key == "scorers" else [spec]:
            if plugins.names_in(one) != ("none",):  # the reranker that changes nothing
                plugins.settings(family, one, f"conf/{group}/{name}")


@pytest.mark.parametrize(
    ("group", "changes", "expected"),
    [
        ("retriever", {"topk": 5}, "unknown key retriever.topk; did you mean 'top_k'?"),
        ("retriever", {7: 5}, "unknown key retriever.7"),
        *(("retriever", {"top_k": value}, f"retriever.top_k is {value!r} ({type(value).__name__}), a value of type int is needed")
          for value in ("many", 2.5, None, True, [3])),
        *(("retriever", {"w_ent": value}, "a value of type float is needed") for value in ("0.5", None, True)),
        *(("retriever", {"b": value}, f"retriever.b is {value}, allowed: [0, 1]")
          for value in (-0.1, 1.1, math.inf, -math.inf, math.nan)),
        ("retriever", {"w_ent": math.nan}, "retriever.w_ent is nan, allowed: [0, inf]"),
        ("retriever", {"coarse": "maxpairs"}, "'maxpairs', allowed: maxpair, idf_maxpair, ere; did you mean 'maxpair'?"),
        ("codebook", {"refine": 1}, "codebook.refine is 1 (int)"),
        ("eval", {"budgets": 64}, "eval.budgets is 64, a list is needed"),
        ("eval", {"budgets": "64"}, "eval.budgets is '64', a list is needed"),
        ("eval", {"budgets": [64, "x"]}, "eval.budgets[1] is 'x' (str), a value of type int is needed"),
        ("policy", {"reference": {"facts": ["x", 1]}}, "policy.reference.facts[0] is 'x'"),
        ("policy", {"reference": [1]}, "policy.reference is [1], a mapping is needed"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_named_with_its_place_and_what_is_allowed(group, changes, expected):
    assert expected in message(group, vars(option(CONF, group, "default")) | changes)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_ranges_are_closed(value):
    assert from_dict(Retriever, RETRIEVER | {"b": value}, "conf/retriever/x").b == value


def test_an_override_changes_its_option_only():
    changed = option(CONF, "retriever", "paper", ("retriever.top_k=7", "assembly.budget=9"))
    assert vars(changed) == RETRIEVER | {"top_k": 7}
    assert option(CONF, "assembly", "paper", ("retriever.top_k=7", "assembly.budget=9")).budget == 9


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("retriever.topk=5", "conf/retriever has no key 'topk'.*did you mean 'top_k'"),
        ("retrever.top_k=5", "unknown group 'retrever'.*did you mean 'retriever'"),
        *((wrong, "the form is group.key=value")
          for wrong in ("retriever.top_k", "retriever.top_k=", "retriever=paper", "top_k=5", "~retriever.top_k")),
    ],
)  # fmt: skip
def test_a_misspelt_override_is_refused_whatever_group_is_asked_for(override, expected):
    for group, name in (("retriever", "paper"), ("assembly", "default")):
        with pytest.raises(ConfigError, match=expected):
            option(CONF, group, name, (override,))


@pytest.mark.parametrize("override", ["retriever.top_k.deeper=3", "retriever.top_k={"])
def test_a_bad_value_in_an_override_is_a_configuration_error(override):
    with pytest.raises(ConfigError, match=r"conf/retriever/paper\.yaml.*retriever\.top_k"):
        option(CONF, "retriever", "paper", (override,))


def test_an_unknown_option_names_the_allowed_and_who_asked():
    said = r"system x: retriever 'papers' is no option.*default, .*paper.*did you mean 'paper'"
    with pytest.raises(ConfigError, match=said):
        option(CONF, "retriever", "papers", asked_by="system x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"alpha": 1, "reference": {"facts": [1]}}, {"alpha": 1.0, "reference": {"facts": [1.0]}}),
        ({"reference": {"a": [1], "b": [0.5]}}, {"reference": {"b": [0.5], "a": [1]}}),
    ],
)
def test_equal_values_have_equal_leaves(one, other):
    of_one, of_other = (leaves("policy", from_dict(Policy, POLICY | values, "x")) for values in (one, other))
    assert of_one == of_other


def test_part_of_a_group_loads_with_its_keys_and_no_others():
    found = load({"retriever.top_k": "5", "eval.budgets": "[64,128]"})
    assert (found.retriever.top_k, found.eval.budgets) == (5, (64, 128))
    with pytest.raises(AttributeError, match="passages"):
        _ = found.retriever.passages
    with pytest.raises(AttributeError, match="utilities"):  # a key with a default
        _ = load({"rankers.keep": "5"}).rankers.utilities
