"""Profiles: complete, in agreement with the rules and with each other; lint and format are clean."""

import re
import shutil
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from secateur.core.errors import EXTRAS

ROOT = Path(__file__).parents[2]
# Every rule that may run a model over many strings (extraction: REBEL); which job of it does, its option says.
MODEL_RULES = {"extract_triples", "build_codebook", "rank_by_graph", "rank_passages", "rerank_passages"}
MODEL_RULES |= {"score_candidates", "select_greedily", "measure_answer_gain"}
MODEL_RULES |= {"judge_answers", "check_red_herrings", "answer_questions"}
MODEL_RULES |= {"evaluate_answers", "build_preferences", "recall_context"}
# The Snakefile's localrules.
LOCAL_RULES = {"fetch_dataset", "prepare_model", "compare_variants", "build_report", "track_variants"}
FILES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
RULES = {name for path in FILES for name in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.M)}


def profile(name: str) -> dict:
    return yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))


SLURM = profile("slurm")
NAMES = sorted(path.parent.name for path in (ROOT / "profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"default"}))
def test_the_default_profile_sets_nothing_another_one_sets(name):
    """It is loaded with every profile and wins over it, key by key."""
    assert set(profile("default")) & set(profile(name)) == set()


def test_the_default_profile_watches_code_by_its_digest_alone_and_none_keeps_half_written_files():
    assert {"default", "local", "smoke", "slurm"} <= set(NAMES)
    assert profile("default")["rerun-triggers"] == ["mtime", "params", "input", "software-env"]
    assert profile("default")["rerun-incomplete"] is True
    assert all("keep-incomplete" not in profile(name) for name in NAMES)
    assert (ROOT / "slurm" / "config.yaml").read_text() == (ROOT / "profiles/slurm/config.yaml").read_text()


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_that_runs_a_model_asks_for_a_gpu_and_no_other_does(rule):
    asked = SLURM["default-resources"] | SLURM["set-resources"].get(rule, {})
    if rule in MODEL_RULES:
        assert re.fullmatch(r"gpu:\d+", asked["gres"])
        assert asked["slurm_partition"] == "gpu"
    else:
        assert "gres" not in asked
        assert asked["slurm_partition"] == "cpu"


def test_existing_rules_state_memory_and_time_that_grow_with_the_attempt_and_groups_a_size():
    assert set(SLURM["set-resources"]) | MODEL_RULES <= RULES
    for rule, asked in SLURM["set-resources"].items():
        assert {"mem_mb", "runtime"} <= set(asked), rule
        assert all(str(asked[name]).startswith("attempt * ") for name in ("mem_mb", "runtime")), rule
    assert set(SLURM["groups"]) <= RULES - LOCAL_RULES
    assert set(SLURM["groups"].values()) == set(SLURM["group-components"])


EVERYTHING = [  # an experiment that has nearly every rule
    "experiment.datasets=[toy_documents,locomo,red_herrings]",
    "experiment.systems=[graph_zsum,beam,remembered,compressed,hipporag2,rankers,ecs]",
    "experiment.studies=[policy,sessions,distractors]",
    "experiment.axes={reranker: [pmi_q]}",
    "experiment.judges=[smollm2,endpoint]",
]


def test_groups_follow_each_other(untouched):
    """Snakemake puts unconnected jobs into one group without looking for circles: between groups there must be none."""
    said = untouched.snakemake("--rulegraph", "dot", "--config", "experiment=answers", f"overrides={EVERYTHING}").stdout
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', said))
    assert RULES - set(names.values()) == {"import_contexts"}, said
    place = {number: SLURM["groups"].get(name, name).removesuffix("{part}") for number, name in names.items()}
    needs: dict[str, set[str]] = {name: set() for name in place.values()}
    for before, after in re.findall(r"(\d+) -> (\d+)", said):
        needs[place[after]] |= {place[before]} - {place[after]}
    TopologicalSorter(needs).prepare()  # raises CycleError


@pytest.mark.skipif(
    find_spec("snakemake_executor_plugin_slurm") is None, reason="needs snakemake-executor-plugin-slurm"
)
def test_the_slurm_profile_dry_runs_the_quickstart(untouched):
    said = untouched.run(sys.executable, "-m", "snakemake", "--profile", "slurm", "-n")
    text = said.stdout + said.stderr
    assert said.returncode == 0, text
    table = dict(re.findall(r"^(\w+) +(\d+)$", text.partition("Job stats:")[2], re.M))
    assert {"extract_triples", "rank_by_graph", "score_candidates", "build_report", "track_variants"} <= set(table)
    assert int(table["total"]) - int(table["all"]) == 59  # as the tutorial says
    assert not (untouched.root / "results").exists()


def tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    return found or pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("ruff", ("check", "--no-cache")),
        ("ruff", ("format", "--check", "--no-cache")),
        ("snakefmt", ("--check", "Snakefile", "workflow/rules")),
        ("snakemake", ("--lint",)),
    ],
    ids=["ruff check", "ruff format", "snakefmt", "snakemake"],
)
def test_the_code_is_linted_and_formatted(untouched, name, args):
    where = (str(ROOT),) if name == "ruff" else ()
    said = untouched.run(tool(name), *args, *where)
    assert said.returncode == 0, said.stdout + said.stderr


def test_what_is_locked_has_its_hashes_but_for_torch():
    """PyPI's torch and PyTorch's own builds of it differ; make installs it after all else."""
    lock, hashes = ((ROOT / "requirements" / name).read_text() for name in ("lock.txt", "hashes.txt"))
    named = r"^([\w.-]+)==([\w.+!-]+)"
    versions = {(re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in re.findall(named, lock, re.M)}
    hashed = re.findall(named + r" \\\n    --hash=sha256:[0-9a-f]{64}\b", hashes, re.M)
    assert set(hashed) == {(name, version) for name, version in versions if name != "torch"}


def test_what_is_locked_installs_on_the_oldest_python_that_is_promised():
    """A distribution's Python may be older by its last number than the one the lock was made with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements/lock.txt").read_text(encoding="utf-8"), re.M)
    asked = {name: metadata(name).get("Requires-Python") or "" for name in names}
    assert {name: wanted for name, wanted in asked.items() if not SpecifierSet(wanted).contains(oldest)} == {}


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_modules_of_an_extra_are_those_that_messages_name(extra):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    texts = [text for text in extras[extra] if not text.startswith("secateur[")]
    names = {re.match(r"[\w-]+", text)[0].replace("-", "_") for text in texts}
    assert {name.removeprefix("python_").removesuffix("_cpu") for name in names} == EXTRAS[extra][0]


def test_the_gpu_lock_is_the_lock_with_faiss_for_gpus():
    """faiss-gpu is built for CUDA 12, whose libraries stand beside those of PyTorch's CUDA 13."""
    lock, gpu = ((ROOT / "requirements" / name).read_text().splitlines() for name in ("lock.txt", "lock-gpu.txt"))
    version = next(line for line in lock if line.startswith("faiss-cpu==")).partition("==")[2]
    added = {line for line in gpu if line not in lock}
    assert {line for line in lock if line not in gpu} == {f"faiss-cpu=={version}"}
    assert f"faiss-gpu=={version}" in added
    assert all(line.startswith("nvidia-") and "-cu12==" in line for line in added - {f"faiss-gpu=={version}"})
    assert "lock-gpu.txt" in (ROOT / "envs/gpu.yaml").read_text()
