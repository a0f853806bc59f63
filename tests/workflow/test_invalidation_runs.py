"""Exact invalidation, confirmed: what a real `snakemake -n` starts after an edit of a finished run."""

import json
import re

import pytest
from invalidation_matrix import EXPERIMENT, RULES
from invalidation_table import FROM_CODEBOOK, FROM_GRAPH_RANKING, JUDGED, STUDIED

SMOKE = ("--profile", "profiles/smoke", "-n")
NOT_RUN = {"fetch_dataset", "import_contexts", "rerank_passages", "check_red_herrings"}  # of other experiments
NOT_RUN |= {"prepare_peer", "index_peer", "ask_peer"} | JUDGED
DIALOGUES = {"propose_passages", "score_candidates", "combine_scores", "select_greedily"}
DIALOGUES |= {"select_context", "evaluate_selection"}
VARIANT = {"assemble_contexts", "evaluate_contexts", "measure_answer_gain"} | EXPERIMENT


def counted(done) -> dict[str, int]:
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    table = text.partition("Job stats:")[2].partition("total")[0]
    counts = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.M) if rule != "all"}
    assert counts or "Nothing to be done" in text
    return counts


def planned(project, *args: str) -> dict[str, int]:
    return counted(project.snakemake(*SMOKE, *args))


def test_what_changes_no_figure_reruns_nothing(rerun):
    """In a run that was moved elsewhere: comments, a touched file, other times in records, an option that no variant uses."""
    for name in (
        "workflow/secateur/models/words.py",
        "scripts/build_runs.py",
        "workflow/rules/graph.smk",
        "conf/lm/smollm2.yaml",
    ):
        with (rerun.root / name).open("a", encoding="utf-8") as file:
            file.write("\n# A thought.\n")
    (rerun.root / "data/toy/documents_smoke/passages.jsonl").touch()
    records = [path for path in (rerun.root / "results").rglob("run.json") if "experiments" not in path.parts]
    assert len(records) > 20
    for path in records:
        record = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(record | {"cpu_seconds": 1e6, "wall_seconds": 1e6}), encoding="utf-8")
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    assert planned(rerun) == {}


def test_an_override_reruns_from_its_rule_downwards_and_is_named_with_both_values(rerun):
    done = rerun.snakemake("-n", "--config", "experiment=smoke", "overrides=[retriever.top_k=100]")  # with reasons
    assert set(counted(done)) == (FROM_GRAPH_RANKING | STUDIED) - NOT_RUN
    assert "retriever.top_k=200" in done.stdout + done.stderr
    assert "retriever.top_k=100" in done.stdout + done.stderr


@pytest.mark.slow
def test_an_edit_of_the_text_reruns_that_corpus_only(rerun):
    rerun.edit("data/toy/documents_smoke/passages.jsonl", "41 million euros", "42 million euros")
    jobs = planned(rerun)
    assert set(jobs) == RULES - NOT_RUN - DIALOGUES - {"prepare_model"}
    assert jobs["prepare_corpus"] == jobs["prepare_dataset"] == 1


@pytest.mark.parametrize(
    ("axis", "walk", "rules", "written"),
    [
        ("retriever: [narrow]", "beam:narrow", {"rank_by_graph", "evaluate_rankings"} | VARIANT, 2),
        pytest.param("assembly: [{form: dense}]", "beam:dense", VARIANT, 3, marks=pytest.mark.slow),
    ],
)
def test_a_new_variant_reruns_nothing_of_the_others(rerun, axis, walk, rules, written):
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    rerun.edit("conf/experiment/smoke.yaml", "axes: {ecs: [quick]}", f"axes: {{ecs: [quick], {axis}}}")
    rerun.edit("conf/experiment/smoke.yaml", "exclude: [", f'exclude: [{{system: "{walk}"}}, ')
    jobs = planned(rerun)
    assert set(jobs) == rules
    assert jobs["assemble_contexts"] == written
    assert jobs.get("rank_by_graph", 2) == 2  # its two orders; those of the default stay


def _deleted(project) -> None:
    (project.root / "results/experiments/smoke/metrics.parquet").unlink()


def _edited(project) -> None:
    with (project.root / "workflow/secateur/evaluation/resampling.py").open("a", encoding="utf-8") as file:
        file.write("\nADDED = 1\n")


def _titled(project) -> None:
    project.edit("conf/experiment/smoke.yaml", "title: ", "title: Still ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "rules"), [(_deleted, EXPERIMENT), (_edited, EXPERIMENT), (_titled, EXPERIMENT - {"compare_variants"})]
)
def test_what_only_the_end_of_a_run_reads_reruns_the_end(rerun, change, rules):
    change(rerun)
    assert planned(rerun) == dict.fromkeys(rules, 1)


@pytest.mark.slow
def test_a_deleted_table_in_between_is_made_again_when_it_is_needed(rerun):
    (table,) = (rerun.root / "results").rglob("codebook/**/relations.parquet")
    table.unlink()
    assert planned(rerun) == {}
    found = planned(rerun, "--config", "overrides=[retriever.top_k=100]")
    assert set(found) == (FROM_CODEBOOK | STUDIED) - NOT_RUN
