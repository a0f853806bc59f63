"""Exact invalidation, confirmed: what a real `snakemake -n` starts after an edit of a finished run."""

import json
import re

from invalidation_matrix import EXPERIMENT, RULES
from invalidation_table import FROM_CODEBOOK, FROM_GRAPH_RANKING, JUDGED, STUDIED

SMOKE = ("--profile", "profiles/smoke", "-n")
NOT_RUN = {"fetch_dataset", "import_contexts", "rerank_passages", "check_red_herrings"}  # of other experiments
NOT_RUN |= {"prepare_peer", "index_peer", "ask_peer"} | JUDGED
DIALOGUES = {"propose_passages", "score_candidates", "combine_scores", "select_greedily"}
DIALOGUES |= {"select_context", "evaluate_selection"}
VARIANT = {"assemble_contexts", "evaluate_contexts", "measure_answer_gain"} | EXPERIMENT


def planned(project, *args: str) -> dict[str, int]:
    """Jobs by rule that a dry run would start."""
    said = project.snakemake(*SMOKE, *args)
    assert said.returncode == 0, said.stdout + said.stderr
    text = said.stdout + said.stderr
    if "Nothing to be done" in text:
        return {}
    table = text.partition("Job stats:")[2].partition("total")[0]
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, re.M) if rule != "all"}


def test_a_finished_run_that_was_moved_elsewhere_reruns_nothing(rerun):
    assert planned(rerun) == {}


def test_an_override_reruns_from_its_rule_downwards_and_is_named_with_both_values(rerun):
    overrides = ("--config", "overrides=[retriever.top_k=100]")
    assert set(planned(rerun, *overrides)) == (FROM_GRAPH_RANKING | STUDIED) - NOT_RUN
    said = rerun.snakemake("-n", "--config", "experiment=smoke", *overrides[1:])
    shown = said.stdout + said.stderr
    assert "retriever.top_k=200" in shown
    assert "retriever.top_k=100" in shown


def test_comments_in_library_rule_script_and_option_file_rerun_nothing(rerun):
    for name in (
        "workflow/secateur/models/words.py",
        "scripts/build_runs.py",
        "workflow/rules/graph.smk",
        "conf/lm/smollm2.yaml",
    ):
        with (rerun.root / name).open("a", encoding="utf-8") as file:
            file.write("\n# A thought.\n")
    assert planned(rerun) == {}


def test_an_edit_of_stats_reruns_the_comparison_and_the_report(rerun):
    with (rerun.root / "workflow/secateur/evaluation/resampling.py").open("a", encoding="utf-8") as file:
        file.write("\nADDED = 1\n")
    assert planned(rerun) == dict.fromkeys(EXPERIMENT, 1)


def test_an_edit_of_the_text_reruns_that_corpus_only(rerun):
    rerun.edit("data/toy/documents_smoke/passages.jsonl", "41 million euros", "42 million euros")
    jobs = planned(rerun)
    assert set(jobs) == RULES - NOT_RUN - DIALOGUES - {"prepare_model"}
    assert jobs["prepare_corpus"] == jobs["prepare_dataset"] == 1


def test_a_touched_file_with_the_same_text_reruns_nothing(rerun):
    (rerun.root / "data/toy/documents_smoke/passages.jsonl").touch()
    assert planned(rerun) == {}


def test_another_time_in_the_records_that_the_page_reads_reruns_nothing(rerun):
    found = [path for path in (rerun.root / "results").rglob("run.json") if "experiments" not in path.parts]
    assert len(found) > 20
    for path in found:
        record = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(record | {"cpu_seconds": 1e6, "wall_seconds": 1e6}), encoding="utf-8")
    assert planned(rerun) == {}


def test_an_option_that_no_variant_uses_reruns_nothing(rerun):
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    assert planned(rerun) == {}


def test_a_new_variant_reruns_nothing_of_the_others(rerun):
    (rerun.root / "conf/retriever/narrow.yaml").write_text("defaults: [default, _self_]\ntop_k: 50\n")
    rerun.edit("conf/experiment/smoke.yaml", "axes: {ecs: [quick]}", "axes: {ecs: [quick], retriever: [narrow]}")
    rerun.edit("conf/experiment/smoke.yaml", "exclude: [", 'exclude: [{system: "beam:narrow"}, ')
    jobs = planned(rerun)
    assert set(jobs) == {"rank_by_graph", "evaluate_rankings"} | VARIANT
    assert jobs["rank_by_graph"] == jobs["assemble_contexts"] == 2  # its two orders; those of the default stay


def test_another_form_of_the_same_rankings_ranks_nothing_anew(rerun):
    rerun.edit("conf/experiment/smoke.yaml", "axes: {ecs: [quick]}", "axes: {ecs: [quick], assembly: [dense]}")
    rerun.edit("conf/experiment/smoke.yaml", "exclude: [", 'exclude: [{system: "beam:dense"}, ')
    assert set(planned(rerun)) == VARIANT


def test_another_title_reruns_the_report(rerun):
    rerun.edit("conf/experiment/smoke.yaml", "title: ", "title: Still ")
    assert planned(rerun) == {"build_report": 1, "track_variants": 1}


def test_a_deleted_result_is_made_again_with_what_depends_on_it(rerun):
    (rerun.root / "results/experiments/smoke/metrics.parquet").unlink()
    assert planned(rerun) == dict.fromkeys(EXPERIMENT, 1)


def test_a_deleted_table_in_between_is_made_again_when_it_is_needed(rerun):
    (table,) = (rerun.root / "results").rglob("codebook/**/relations.parquet")
    table.unlink()
    assert planned(rerun) == {}
    found = planned(rerun, "--config", "overrides=[retriever.top_k=100]")
    assert set(found) == (FROM_CODEBOOK | STUDIED) - NOT_RUN
