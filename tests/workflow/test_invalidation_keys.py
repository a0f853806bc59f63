"""Exact invalidation: which rules each key of the configuration re-runs."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from invalidation_asked import asked_of
from invalidation_matrix import RULES
from invalidation_table import KEYS, SCORES_RUNS

from secateur.config.groups import GROUPS


def test_every_rule_has_a_job_in_the_matrix(matrix):
    assert set(matrix.rules) - {"all"} == RULES
    assert {rule for rule, jobs in matrix.jobs().items() if not jobs} == set()


def group_of(override: str) -> str:
    return re.split(r"[.=]", override.lstrip("+"))[0]


# One key of each group is tried by `make test`; all of them, a second each, by `make test-slow`.
FIRST = {group_of(override): override for override in reversed(KEYS)}
TABLE = [pytest.param(key, marks=[] if key in FIRST.values() else pytest.mark.slow) for key in KEYS]


@pytest.mark.parametrize("override", TABLE)
def test_a_key_reruns_exactly_the_rules_that_read_it(matrix, override):
    assert matrix.rerun(*override.split(" & "), given=asked_of(override)) == KEYS[override]


CROSS_ENCODER = "{{kind: cross_encoder, model: {}, top: 1, weight: 1, batch: 1, max_tokens: 64, titles: true}}"


@pytest.mark.parametrize(
    ("override", "rules"),
    [
        ("embedder.model={}", KEYS["embedder.model=package:other/model"]),
        ("extractor.settings.model={}", KEYS["extractor.settings.model=folder/other"]),
        (f"reranker.spec={CROSS_ENCODER}", {"rerank_passages"}),
        (
            "assembly.form={{kind: selective_context, model: {}}}",
            KEYS["assembly.form={kind: dense, drop: [a]}"] - {"compare_variants"},
        ),
    ],
)
def test_a_model_that_is_replaced_in_its_folder_reruns_what_another_address_would(matrix, tmp_path, override, rules):
    weights = tmp_path / "model" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"first")
    before = matrix.jobs(override.format(weights.parent))
    weights.write_bytes(b"other")
    after = matrix.jobs(override.format(weights.parent))
    assert {rule for rule in RULES if after[rule] != before[rule]} == rules


def test_the_table_names_every_key_of_every_group():
    keys = {f"{group}.{field.name}" for group, cls in GROUPS.items() for field in dataclasses.fields(cls)}
    assert {".".join(re.split(r"[.=]", override.lstrip("+"))[:2]) for override in KEYS} == keys


def test_overrides_at_once_rerun_what_each_of_them_does(matrix):
    assert matrix.rerun("retriever.top_k=100", "eval.resamples=1000") == SCORES_RUNS | {"compare_variants"}


def test_the_same_value_in_another_spelling_reruns_nothing(matrix):
    assert matrix.rerun("retriever.w_ent=1", "retriever.w_bm25=1.0", "retriever.w_run=2.5e-1") == set()


def test_a_transferred_policy_is_the_one_learnt_on_the_other_data_set(matrix):
    jobs = matrix.jobs("policy.trained_on=stem_old_test")["evaluate_policy"]
    policies = [path for _, _, inputs in jobs for path in inputs if path.endswith("policy.safetensors")]
    assert len(jobs) > len(set(policies))  # one policy, on several data sets
    assert {tuple(path.split("/")[1:3]) for path in policies} == {("stem", "stem_old_test")}


def test_a_text_form_reads_no_graph_and_a_graph_form_reads_one(matrix):
    jobs = matrix.jobs()["assemble_contexts"]
    by_graph = {dict(own)["assembly"] for own, _, inputs in jobs if any("edge_sources" in path for path in inputs)}
    assert by_graph == {"lines"}
    assert {dict(own)["assembly"] for own, *_ in jobs} == {"default", "default+placement=as_written", "lines"}


def test_every_param_but_the_code_is_a_key_and_its_value_as_json_and_holds_no_path(matrix):
    texts = matrix.params()
    for name, _, value in (text.partition("=") for text in texts):
        assert re.fullmatch(r"code|[a-z]+\.[a-z0-9_]+", name)
        assert name == "code" or json.loads(value) is not NotImplemented
    assert [text for text in texts if str(matrix.root) in text or str(Path.home()) in text] == []  # of this machine


def test_machine_settings_are_in_no_params(matrix, monkeypatch, tmp_path):
    before = matrix.jobs()
    for name in ("SECATEUR_MIRROR", "SECATEUR_CACHE", "CORES", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, str(tmp_path / "somewhere"))
    assert matrix.jobs() == before
    assert not [text for text in matrix.params() if text.startswith("local.")]


def test_reordered_keys_of_an_option_file_rerun_nothing(matrix):
    before = matrix.jobs()
    for name in ("retriever/paper", "rankers/turns", "dataset/locomo", "eval/default", "experiment/matrix"):
        path = matrix.root / f"conf/{name}.yaml"
        blocks = re.split(r"\n(?=\S)", path.read_text().rstrip("\n"))
        path.write_text("\n".join(reversed(blocks)) + "\n")
    for remembered in (matrix.names["compose"]._composed, matrix.names["compose"].option):
        remembered.cache_clear()
    assert matrix.jobs() == before


def test_what_is_said_about_a_file_in_the_registry_reruns_nothing(matrix):
    before, path = matrix.jobs(), matrix.root / "data/registry/locomo.yaml"
    kept = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?m)^  licence:.*$", "  licence: another", kept), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != kept
    assert matrix.jobs() == before
    path.write_text(re.sub(r"(?m)^  sha256:.*$", f"  sha256: {'a' * 64}", kept), encoding="utf-8")
    after = matrix.jobs()
    path.write_text(kept, encoding="utf-8")
    assert {name for name in RULES if after[name] != before[name]} == {"fetch_dataset"}


def test_a_key_that_one_rule_reads_stands_among_its_params(matrix):
    """Of all keys at once, where the table above tries one of each group; these groups choose files and variants."""
    chosen = ("corpus", "dataset", "policy", "study", "experiment", "system")
    jobs = matrix.jobs()
    own = {
        rule: {text.partition("=")[0] for _, texts, _ in of_rule for text in texts} for rule, of_rule in jobs.items()
    }
    read = {".".join(re.split(r"[.=]", key.lstrip("+"))[:2]): rules for key, rules in KEYS.items()}
    read = {key: min(rules) for key, rules in read.items() if len(rules) == 1 and group_of(key) not in chosen}
    assert {key for key, rule in read.items() if key not in own[rule]} == {
        *("extractor.files", "rankers.fitted_on", "embedder.shards", "rankers.shards", "retriever.shards"),  # inputs
        "eval.prices",  # where an assembly has a price
    }
