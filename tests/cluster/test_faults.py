"""What a real SLURM does to a run, and how the run ends: with the bytes of an undisturbed one, or a clear word.

One cluster for all; without SLURM's programs they are skipped, and say which are lacking.
"""

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator

import pytest
from driving import Driven
from slurm import Cluster, cluster, lacking, until
from tests.support.project import copy_project, of_folder

pytestmark = pytest.mark.slow

CORPUS = "results/toy_documents_smoke"
SHARDS = [f"{CORPUS}/triples/openie/{n}of2/triples.parquet" for n in (0, 1)]
LIMIT = 420  # seconds for a run of four jobs on a machine that does much else; a hang, that is, fails

AGE = 10  # seconds that the controller knows an ended job


@pytest.fixture(scope="session")
def slurm(tmp_path_factory) -> Iterator[Cluster]:
    if missing := lacking():
        pytest.skip(f"no SLURM here: no {', '.join(missing)} (apt install slurm-wlm slurmdbd mariadb-server)")
    with cluster(tmp_path_factory.mktemp("cluster") / "s", min_job_age=AGE) as one:
        yield one


@pytest.fixture
def driven(slurm, smoke, tmp_path) -> Iterator[Driven]:
    """A project in which nothing has run, with an account, and the converted models of the shared smoke run."""
    project = copy_project(tmp_path / "project")
    project.edit("profiles/slurm/config.yaml", "CHANGE_ME", "secateur")
    project.edit("profiles/slurm/config.yaml", "latency-wait: 60", "latency-wait: 5")
    cache = project.root / ".cache"
    for name in ("models", "tokenizers", "embeddings"):
        if (smoke.root / ".cache" / name).exists():
            shutil.copytree(smoke.root / ".cache" / name, cache / name, copy_function=os.link)
    yield Driven(project.root, slurm)
    for job, *_ in slurm.jobs():
        slurm.ask("scancel", job, check=False)
    until(lambda: not slurm.jobs(), what="an empty queue")


def ends(driver, limit: float = LIMIT) -> int:
    """The exit code of a driver. A driver that hangs is killed, and the test fails."""
    try:
        return driver.wait(limit)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)


def same(driven: Driven, smoke, paths=SHARDS) -> None:
    """The tables are those of the undisturbed run, to the byte."""
    for path in paths:
        assert (driven.root / path).read_bytes() == (smoke.root / path).read_bytes(), path


def ends_well(driven: Driven, driver, smoke, paths=SHARDS) -> None:
    assert ends(driver) == 0, driven.said()
    same(driven, smoke, paths)


def test_a_job_that_is_cancelled_is_noticed_although_the_controller_forgets_it_and_runs_again(driven, smoke):
    driver = driven.start(*SHARDS)
    job = driven.running("extract_triples")
    driven.cluster.ask("scancel", job)
    ends_well(driven, driver, smoke)
    assert f"SLURM job {job}: CANCELLED" in driven.said()
    assert "SIGTERM: cancelled, or at the end of its time" in driven.said()
    states = [state.split()[0] for _, state, *_ in driven.submitted("extract_triples")]
    assert sorted(states) == ["CANCELLED", "COMPLETED", "COMPLETED"]


def test_a_driver_that_slept_while_its_jobs_ended_and_were_forgotten_goes_on(driven, smoke):
    driver = driven.start(*SHARDS)
    driven.running("extract_triples")
    os.kill(driver.pid, signal.SIGSTOP)
    until(lambda: not driven.cluster.jobs(), LIMIT, "the end of the jobs")
    until(lambda: bool(driven.submitted("extract_triples")), LIMIT, "accounting's word of a job")  # it lags behind
    known = driven.submitted("extract_triples")[0][0]
    until(lambda: known not in driven.cluster.ask("squeue", "-h", "--states=all", "--format=%i").split(), 240)
    os.kill(driver.pid, signal.SIGCONT)
    ends_well(driven, driver, smoke)
    assert len(driven.submitted("extract_triples")) == 2


def test_a_driver_that_submits_while_the_controller_is_away_waits_for_it(driven, smoke):
    driven.cluster.stop_controller()
    try:
        driver = driven.start(*SHARDS)
        until(lambda: "the next try is in" in driven.said() or driver.poll() is not None, LIMIT, "a try")
    finally:
        driven.cluster.start_controller()
    ends_well(driven, driver, smoke)
    assert len(driven.submitted("extract_triples")) == 2


def test_a_controller_that_is_away_while_jobs_run_loses_nothing(driven, smoke):
    driver = driven.start(*SHARDS)
    driven.running("extract_triples")
    driven.cluster.stop_controller()
    time.sleep(20)
    driven.cluster.start_controller()
    ends_well(driven, driver, smoke)


def test_a_run_whose_driver_was_killed_is_resumed_and_no_job_runs_beside_itself(driven, smoke):
    driver = driven.start(*SHARDS)
    left = driven.held("extract_triples")
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    assert "secateur resume" in driven.secateur("status").stdout
    done = driven.secateur("resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"cancelled  SLURM job {left}" in done.stdout
    states = [state.split()[0] for _, state, *_ in driven.submitted("extract_triples")]
    assert states.count("CANCELLED") >= 1
    assert states.count("COMPLETED") == 2
    same(driven, smoke)


def test_a_terminal_that_is_closed_leaves_no_job_and_no_lock(driven):
    driver = driven.start(*SHARDS)
    driven.held("extract_triples")
    os.kill(driver.pid, signal.SIGHUP)
    assert ends(driver) != 0
    until(lambda: not driven.cluster.jobs(), what="an empty queue")
    assert not list((driven.root / ".snakemake/locks").glob("*"))


def test_a_node_that_goes_down_in_mid_job_is_left_and_the_job_runs_elsewhere(driven, smoke):
    driver = driven.start(*SHARDS)
    job = driven.running("extract_triples")
    node = driven.cluster.ask("squeue", "-h", "-j", job, "--format=%N").strip()
    driven.cluster.kill_node(node)
    try:
        ends_well(driven, driver, smoke)
    finally:
        driven.cluster.start_node(node)
        driven.cluster.ask("scontrol", "update", f"nodename={node}", "state=resume", check=False)
        until(driven.cluster._all_idle, what="idle nodes")
    assert "NODE_FAIL" in driven.said() or "FAILED" in driven.said()


def test_bad_input_is_not_tried_again(driven, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "passages.jsonl").write_text('{"id": "a", "doc": "a", "text": "Alder Ltd bought the mill."}\n{broken\n')
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "Who?", "evidence": ["a"]}\n')
    driver = driven.start("results/custom/passages/passages.parquet", config=of_folder(folder)[1:])
    assert ends(driver) != 0
    assert len(driven.submitted("prepare")) == 1
    found = json.loads((driven.root / "results/custom/passages/failure.json").read_text())
    assert found["final"] and "passages.jsonl" in found["failure"]
    assert found["failure"] in driven.said()


def test_a_job_whose_option_reads_no_model_asks_for_no_gpu_and_one_figure_of_one_rule_is_replaced(driven):
    target = f"{CORPUS}/codebook/openie.minilm/edges.parquet"
    own = ("experiment=smoke", "resources=[extract_triples.mem_mb=1234]")
    assert ends(driven.start(target, config=own)) == 0, driven.said()
    triples, codebook = driven.submitted("extract_triples"), driven.submitted("graph")
    assert [(row[2], "gpu" in row[3], row[4]) for row in triples] == [("cpu", False, "1234M")] * 2
    assert [(row[2], "gres/gpu=1" in row[3], row[4]) for row in codebook] == [("gpu", True, "8000M")]


def test_an_account_that_was_not_written_stops_before_anything_runs(driven):
    profile = driven.root / "profiles/slurm/config.yaml"
    profile.write_text(profile.read_text().replace('"secateur"', '"CHANGE_ME"'))
    assert ends(driven.start(*SHARDS)) == 2
    assert "slurm_account is CHANGE_ME. Fix: write your account" in driven.said()
    assert not (driven.root / "results").exists()


def test_a_job_at_the_end_of_its_time_says_so_and_runs_again(driven, smoke):
    """SLURM counts in minutes: the stage sleeps where it is."""
    driver = driven.start(*SHARDS, config=("experiment=smoke", "resources=[extract_triples.runtime=attempt**3]"))
    job = driven.held("extract_triples")
    until(lambda: f"SLURM job {job}: TIMEOUT" in driven.said(), LIMIT, "the end of its time")
    ends_well(driven, driver, smoke)  # the second attempt is not stopped


def test_a_job_that_takes_more_memory_than_it_was_granted_is_killed_and_runs_again_with_more(driven, smoke):
    """No cgroups here: SLURM looks at what its job takes every other second, and kills it."""
    more = "resources=[extract_triples.mem_mb=attempt**3*250]"
    ends_well(driven, driven.start(*SHARDS, config=("experiment=smoke", more)), smoke)
    jobs = driven.submitted("extract_triples")
    assert {row[4] for row in jobs if row[1] == "COMPLETED"} == {"2000M"}
    killed = [row for row in jobs if row[1] != "COMPLETED"]
    assert [row[4] for row in killed] == ["250M"] * 2
    for job, *_ in killed:
        assert f"SLURM job {job}: FAILED (exit code 0:9, " in driven.said()
    assert driven.said().count("; it was granted 250M)") >= 2


def test_a_group_that_is_cancelled_goes_on_with_what_is_left_of_it(driven, smoke):
    names = ("toy_documents_smoke", "toy_dialogue_smoke")
    targets = [f"results/{name}/{name}/description/dataset_statistics.parquet" for name in names]
    driver = driven.start(*targets)
    job = driven.running("describe_dataset")
    driven.cluster.ask("scancel", job)
    ends_well(driven, driver, smoke, targets)
    assert f"SLURM job {job}: CANCELLED" in driven.said()
    assert len(driven.submitted("prepare")) == 2


def test_shards_are_allocations_of_their_own_and_join_to_the_bytes_of_one_job(driven, smoke):
    graph = "openie.minilm.default.blind.default.default"
    targets = [f"{CORPUS}/codebook/openie.minilm/{name}.parquet" for name in ("lines", "edges")]
    targets += [f"{CORPUS}/toy_documents_smoke/rankings/graph/{graph}/{name}.parquet" for name in ("rankings", "paths")]
    shared = "overrides=['embedder.shards=2', 'retriever.shards=2']"
    driver = driven.start(*targets, config=("experiment=smoke", shared))
    ends_well(driven, driver, smoke, targets)
    for rule in ("build_codebook", "rank_by_graph"):
        logs = sorted(path.name for path in (driven.root / "logs" / rule).rglob("*of2.log"))
        assert logs == ["0of2.log", "1of2.log"]
    for group in ("graph", "rank"):
        assert len(driven.submitted(group)) >= 3  # two shards, and what joins them
