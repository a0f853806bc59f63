"""The configuration is read strictly, and says what is wrong with it."""

import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config import inline, plugins
from secateur.config.compose import exists, names, option, pattern
from secateur.config.graph import Retriever
from secateur.config.groups import GROUPS
from secateur.config.leaves import leaves, load, unflatten
from secateur.config.models import lm_problems
from secateur.config.policy import Policy
from secateur.core.fields import ConfigError, from_dict
from secateur.graph.triples import extraction

CONF = Path(__file__).parents[2] / "conf"
OPTIONS = sorted((path.parent.name, path.stem) for path in CONF.glob("*/[!_]*.yaml"))
RETRIEVER = vars(option(CONF, "retriever", "paper"))
POLICY = vars(option(CONF, "policy", "default"))


WORDS = st.from_regex("[a-z][a-z0-9_]*", fullmatch=True).filter(lambda word: word not in ("true", "false", "null"))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-1e30, 1e30, allow_nan=False), WORDS)


def message(values, cls=Retriever, where="") -> str:
    where = where or f"conf/{cls.__name__.lower()}/x"
    with pytest.raises(ConfigError) as raised:
        from_dict(cls, values, where)
    return str(raised.value)


# --- every option ------------------------------------------------------------------------------


@pytest.mark.parametrize(("group", "name"), OPTIONS, ids=lambda part: part)
def test_every_option_composes(group, name):
    assert isinstance(option(CONF, group, name), GROUPS[group])


@pytest.mark.parametrize(("group", "name"), OPTIONS, ids=lambda part: part)
def test_leaves_unflatten_and_load_are_inverse(group, name):
    config = option(CONF, group, name)
    flat = leaves(group, config)
    assert getattr(load(flat), group) == config
    assert leaves(group, from_dict(GROUPS[group], unflatten(flat)[group], group)) == flat


def test_every_group_has_an_option_and_every_folder_is_a_group():
    assert {group for group, _ in OPTIONS} == set(GROUPS)


def test_an_option_inherits_and_overrides():
    base, lines = option(CONF, "assembly", "default"), option(CONF, "assembly", "lines")
    changed = {name for name, value in vars(base).items() if getattr(lines, name) != value}
    assert (changed, lines.placement, lines.form) == ({"form", "placement"}, "best_first", {"kind": "lines"})


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
    assert option(CONF, "dataset", "musique").corpus == "musique"
    assert option(CONF, "corpus", "musique").files == ("musique_train100.json",)
    assert option(CONF, "corpus", "musique", ("corpus.documents=4", "dataset.gain=1")).documents == 4
    assert option(CONF, "corpus", "musique", ("dataset.files=[a.json]",)) == option(CONF, "corpus", "musique")
    assert option(CONF, "corpus", "musique", ("dataset.corpus.files=[a.json]",)).files == ("a.json",)
    assert option(CONF, "corpus", "stem", ("dataset.corpus=medical",)) == option(CONF, "corpus", "stem")
    assert {"stem", "medical", "musique"} < {*names(CONF, "corpus")}
    assert "stem_old" not in names(CONF, "corpus")
    with pytest.raises(ConfigError, match="data set 'stem_old' holds no settings of a corpus; its corpus is 'stem'"):
        option(CONF, "corpus", "stem_old")
    with pytest.raises(ConfigError, match=r"corpus 'musiqe' is no option.*did you mean 'musique'"):
        option(CONF, "corpus", "musiqe")


def test_settings_of_a_corpus_in_a_data_set_are_read_as_strictly(tmp_path):
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    text = "defaults: [custom, _self_]\ncorpus: {file: [a.json]}\n"
    (conf / "dataset" / "mine.yaml").write_text(text)
    with pytest.raises(
        ConfigError, match=r"conf/dataset/mine\.yaml: .*unknown key dataset\.corpus\.file; did you mean 'files'"
    ):
        option(conf, "corpus", "mine")
    (conf / "dataset" / "medical.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"corpus holds settings, and conf/corpus/medical\.yaml has the same name"):
        option(conf, "dataset", "medical")


def test_a_peer_is_a_system_of_its_name():
    found = option(CONF, "system", "raptor", ("system.service=released",))
    assert (found.family, found.peer, found.orders, found.service) == ("peer", "raptor", ("aware",), "released")
    assert "raptor" in names(CONF, "system")


def test_names_are_the_options_of_a_group_without_what_they_begin_with():
    assert names(CONF, "order") == ["aware", "blind"]
    assert "_default" not in names(CONF, "system")
    with pytest.raises(ConfigError, match="system '_default' is no option"):
        option(CONF, "system", "_default")


@pytest.mark.parametrize("name", [name for group, name in OPTIONS if group == "system"])
def test_a_system_is_a_few_lines_over_what_every_system_begins_with(name):
    lines = (CONF / "system" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    own = [line for line in lines if not line.startswith("#")]
    assert re.fullmatch(r"defaults: \[\w+, _self_\]", own[0])  # of another system where it differs in one option
    assert 2 <= len(own) <= 6
    assert lines[0].startswith("# ")


@pytest.mark.parametrize("name", names(CONF, "study"))
def test_a_study_begins_as_a_system_does(name):
    study, system = option(CONF, "study", name), option(CONF, "system", "rankers")
    assert (study.retriever, study.assembly, study.reader) == (system.retriever, system.assembly, system.reader)
    assert set(vars(study)) - set(vars(system)) == {"kind"}


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


# --- problems ----------------------------------------------------------------------------------


def test_a_good_mapping_is_read():
    assert from_dict(Retriever, RETRIEVER, "conf/retriever/x") == option(CONF, "retriever", "paper")


def test_an_unknown_key_names_the_nearest_one():
    assert "unknown key retriever.topk; did you mean 'top_k'?" in message(RETRIEVER | {"topk": 5})


def test_a_key_that_is_no_text_is_an_unknown_key():
    assert "unknown key retriever.7" in message(RETRIEVER | {7: 5})


def test_a_missing_key_is_named():
    assert "key retriever.top_k missing" in message({k: v for k, v in RETRIEVER.items() if k != "top_k"})


@pytest.mark.parametrize("value", ["many", 2.5, None, True, [3]])
def test_a_wrong_type_states_value_and_type(value):
    found = message(RETRIEVER | {"top_k": value})
    assert f"retriever.top_k is {value!r} ({type(value).__name__}), a value of type int is needed" in found


@pytest.mark.parametrize("value", ["0.5", None, True])
def test_text_and_truth_values_are_no_floats(value):
    assert "a value of type float is needed" in message(RETRIEVER | {"w_ent": value})


def test_a_number_is_no_truth_value():
    codebook = vars(option(CONF, "codebook", "default"))
    assert "codebook.refine is 1 (int)" in message(codebook | {"refine": 1}, GROUPS["codebook"], "conf/codebook/x")


@pytest.mark.parametrize("value", [-0.1, 1.1, math.inf, -math.inf, math.nan])
def test_a_value_out_of_range_states_the_range(value):
    assert f"retriever.b is {value}, allowed: [0, 1]" in message(RETRIEVER | {"b": value})


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_ranges_are_closed(value):
    assert from_dict(Retriever, RETRIEVER | {"b": value}, "conf/retriever/x").b == value


def test_not_a_number_is_out_of_every_range():
    assert "retriever.w_ent is nan, allowed: [0, inf]" in message(RETRIEVER | {"w_ent": math.nan})


def test_a_word_outside_its_list_names_the_list_and_the_nearest():
    found = message(RETRIEVER | {"coarse": "maxpairs"})
    assert "retriever.coarse is 'maxpairs', allowed: maxpair, idf_maxpair, ere; did you mean 'maxpair'?" in found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"budgets": 64}, "eval.budgets is 64, a list is needed"),
        ({"budgets": "64"}, "eval.budgets is '64', a list is needed"),
        ({"budgets": [64, "x"]}, "eval.budgets[1] is 'x' (str), a value of type int is needed"),
    ],
)
def test_places_in_a_list_are_named(changes, expected):
    assert expected in message(vars(option(CONF, "eval", "default")) | changes, GROUPS["eval"], "conf/eval/x")


def test_places_in_a_mapping_are_named():
    assert "policy.reference.facts[0] is 'x'" in message(POLICY | {"reference": {"facts": ["x", 1]}}, Policy)
    assert "policy.reference is [1], a mapping is needed" in message(POLICY | {"reference": [1]}, Policy)


def test_several_problems_are_reported_at_once():
    found = message(RETRIEVER | {"topk": 5, "top_m": "x", "b": 2, "coverage": "shares"})
    assert found.startswith("conf/retriever/x.yaml: 4 problems: ")
    assert all(part in found for part in ("topk", "top_m", "retriever.b is 2", "'shares'"))


# --- overrides ---------------------------------------------------------------------------------


def test_an_override_changes_its_option_only():
    changed = option(CONF, "retriever", "paper", ("retriever.top_k=7", "assembly.budget=9"))
    assert vars(changed) == RETRIEVER | {"top_k": 7}
    assert option(CONF, "assembly", "paper", ("retriever.top_k=7", "assembly.budget=9")).budget == 9


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("retriever.topk=5", "conf/retriever has no key 'topk'.*did you mean 'top_k'"),
        ("retrever.top_k=5", "unknown group 'retrever'.*did you mean 'retriever'"),
        ("retriever.top_k", "the form is group.key=value"),
        ("retriever.top_k=", "the form is group.key=value"),
        ("retriever=paper", "the form is group.key=value"),
        ("top_k=5", "the form is group.key=value"),
        ("~retriever.top_k", "the form is group.key=value"),
    ],
)
def test_a_misspelt_override_is_refused_whatever_group_is_asked_for(override, expected):
    for group, name in (("retriever", "paper"), ("assembly", "default")):
        with pytest.raises(ConfigError, match=expected):
            option(CONF, group, name, (override,))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("retriever.top_k=many", "retriever.top_k is 'many'"),
        ("retriever.top_k=0", r"retriever.top_k is 0, allowed: \[1, inf\]"),
        ("retriever.w_ent=nan", "retriever.w_ent is nan"),
        ("retriever.top_k.deeper=3", "retriever"),
        ("retriever.top_k={", "retriever"),
    ],
)
def test_a_bad_value_in_an_override_is_a_configuration_error(override, expected):
    with pytest.raises(ConfigError, match=expected):
        option(CONF, "retriever", "paper", (override,))


def test_an_unknown_option_names_the_allowed_and_who_asked():
    with pytest.raises(
        ConfigError, match=r"system x: retriever 'papers' is no option.*default, .*paper.*did you mean 'paper'"
    ):
        option(CONF, "retriever", "papers", asked_by="system x")


def test_broken_yaml_is_a_configuration_error(tmp_path):
    shutil.copytree(CONF, tmp_path / "conf")
    (tmp_path / "conf" / "order" / "broken.yaml").write_text("runs: [sentence\n")
    with pytest.raises(ConfigError, match="conf/order/broken"):
        option(tmp_path / "conf", "order", "broken")


def test_a_problem_in_a_file_names_the_file(tmp_path):
    shutil.copytree(CONF, tmp_path / "conf")
    (tmp_path / "conf" / "order" / "mine.yaml").write_text("runs: sentence\nneighbor: 0.5\n")
    with pytest.raises(
        ConfigError, match=r"conf/order/mine\.yaml: 2 problems: unknown key order\.neighbor; did you mean 'neighbour'"
    ):
        option(tmp_path / "conf", "order", "mine")


# --- leaves ------------------------------------------------------------------------------------


def test_leaves_are_canonical_json():
    flat = leaves("retriever", option(CONF, "retriever", "paper"))
    assert flat["retriever.top_k"] == "200"
    assert flat["retriever.coarse"] == '"maxpair"'
    flat = leaves("assembly", option(CONF, "assembly", "lines"))
    assert flat["assembly.form"] == '{"kind":"lines"}'


def test_one_and_one_point_zero_have_the_same_leaf():
    one, other = (from_dict(Policy, POLICY | {"alpha": v, "reference": {"facts": [v]}}, "x") for v in (1, 1.0))
    assert leaves("policy", one) == leaves("policy", other)


def test_relabelling_keys_of_a_mapping_in_another_order_changes_no_leaf():
    one = POLICY | {"reference": {"a": [1], "b": [0.5]}}
    other = POLICY | {"reference": {"b": [0.5], "a": [1]}}
    assert leaves("policy", from_dict(Policy, one, "x")) == leaves("policy", from_dict(Policy, other, "x"))


def test_part_of_a_group_loads_with_its_keys_and_no_others():
    found = load({"retriever.top_k": "5", "eval.budgets": "[64,128]"})
    assert found.retriever.top_k == 5
    assert found.eval.budgets == (64, 128)
    with pytest.raises(AttributeError, match="passages"):
        _ = found.retriever.passages
    with pytest.raises(AttributeError, match="utilities"):  # a key with a default
        _ = load({"rankers.keep": "5"}).rankers.utilities


def test_several_groups_load_at_once():
    flat = leaves("order", option(CONF, "order", "blind")) | leaves("assembly", option(CONF, "assembly", "lines"))
    found = load(flat)
    assert (found.order, found.assembly) == (option(CONF, "order", "blind"), option(CONF, "assembly", "lines"))


# --- language models: which keys belong to which backend -------------------------------------------


def lm(name, *overrides):
    return lm_problems(option(CONF, "lm", name, overrides))


def test_every_language_model_fits_together_and_every_backend_has_one():
    assert {option(CONF, "lm", name).backend for name in names(CONF, "lm")} == set(plugins.names("reader"))
    assert [lm(name) for name in names(CONF, "lm")] == [[]] * len(names(CONF, "lm"))


def test_what_a_backend_lacks_and_what_does_not_belong_to_it_is_said_at_once():
    assert lm("smollm2", "lm.pack=null", "+lm.url=http://x") == [
        "lm.pack is needed by backend transformers",
        "lm.url does not belong to backend transformers",
    ]
    assert lm("sglang_llama3_1_8b", "lm.url=null", "+lm.dtype={cpu: float32, cuda: float32}") == [
        "lm.url is needed by backend sglang",
        "lm.dtype does not belong to backend sglang",
    ]


@pytest.mark.parametrize(
    "url", ["localhost:8000", "https://me:key@x", "https://x?key=k", "http://x/v1", "http://x/v1/"]
)
def test_a_server_is_named_by_an_address_without_key_and_version(url):
    (problem,) = lm("vllm_qwen2_5_7b", f"lm.url='{url}'")
    assert "lm.url" in problem
    assert url not in problem


def test_a_model_in_process_has_settings_for_the_two_devices():
    (problem,) = lm("smollm2", "+lm.pack.tpu=64")
    assert problem == "lm.pack has entries for ['cpu', 'cuda', 'tpu'], needs exactly cpu and cuda"


# --- extractors: common keys, and a kind's own ---------------------------------------------------


def extractor(name, *overrides):
    return extraction.problems(option(CONF, "extractor", name, overrides), f"conf/extractor/{name}")


def test_every_extractor_fits_together_and_every_kind_has_one():
    assert {option(CONF, "extractor", name).kind for name in names(CONF, "extractor")} == set(
        plugins.names("extractor")
    )
    assert [extractor(name) for name in names(CONF, "extractor")] == [[]] * len(names(CONF, "extractor"))


def test_what_a_kind_lacks_and_what_does_not_belong_to_it_is_said_at_once():
    rebel = option(CONF, "extractor", "rebel")
    own = {name: value for name, value in rebel.settings.items() if name != "model"} | {"beams": 0, "bach": 8}
    with pytest.raises(ConfigError) as caught:
        extraction.problems(replace(rebel, settings=own), "conf/extractor/rebel")
    said = str(caught.value)
    assert said.startswith(
        "conf/extractor/rebel.yaml: 3 problems: unknown key extractor.settings.bach; did you mean 'batch'?"
    )
    assert "key extractor.settings.model missing" in said
    assert "extractor.settings.beams is 0, allowed: [1, 64]" in said


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"conf/extractor/rebel\.yaml: .*'rebl' is unknown; did you mean 'rebel'"):
        extractor("rebel", "extractor.kind=rebl")


def test_files_belong_to_a_kind_that_reads_them():
    assert extractor("rebel", "+extractor.files=[a/b.csv]") == ["extractor.files is not read by rebel"]


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x/v1", "https://me:key@x/v1", "https://x/v1?key=k", "http://"]
)
def test_an_address_is_http_and_holds_no_key(url):
    (problem,) = extractor("llm", f"extractor.settings.url='{url}'")
    assert "extractor.settings.url" in problem
    assert url not in problem


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "https://host.example/a/v1/", "http://[::1]:8000/v1"])
def test_other_addresses_are_taken(url):
    assert extractor("llm", f"extractor.settings.url='{url}'") == []


@pytest.mark.parametrize("files", ["[]", "[a.json, b.graphml]", "[a.graphml]", "[a.csv, b.csv]", "[a.txt]"])
def test_an_import_takes_a_graph_with_its_chunks_or_one_table(files):
    (problem,) = extractor("lightrag_medical", f"extractor.files={files}")
    assert "neither a .graphml and a .json" in problem


@pytest.mark.parametrize("files", ["[a/b.csv]", "[a/b.parquet]", "[a/b.graphml, a/b.json]"])
def test_the_three_forms_of_an_import_are_taken(files):
    assert extractor("lightrag_medical", f"extractor.files={files}") == []


def test_an_import_is_one_job():
    assert extractor("lightrag_medical", "extractor.shards=2") == ["extractor.shards is 2; an import needs 1"]
