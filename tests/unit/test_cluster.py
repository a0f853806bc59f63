"""What SLURM's commands say, and what is made of it; what a real SLURM does is in tests/cluster."""

import asyncio
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest
import torch
from safetensors.torch import save_file

from secateur.cluster import resources
from secateur.cluster.leftovers import Waiting, cancel, jobs, remember, remembered
from secateur.cluster.needs import ask_for_weights, forget_gpu, in_turn, needs_gpu, weights_mb
from secateur.cluster.states import reason, states
from secateur.cluster.submit import submit
from secateur.core.errors import SecateurError


def told(**said: str | None) -> AsyncMock:
    """An `ask` that has each command print something; None: it does not answer."""
    return AsyncMock(side_effect=lambda command: said.get(command[0]))


def stands(jobs, **said) -> dict[str, str] | None:
    return asyncio.run(states("run", jobs, told(**said)))


def test_accounting_is_not_asked_where_the_queue_knows_all():
    ask = told(squeue="1|RUNNING\n")
    asyncio.run(states("run", ["1"], ask))
    assert [command.args[0][0] for command in ask.await_args_list] == ["squeue"]


def test_the_queue_is_believed_and_accounting_asked_for_what_it_has_forgotten():
    found = stands(["1", "2", "3"], squeue="1|RUNNING\n9|PENDING\n", sacct="2|COMPLETED\n3|CANCELLED by 1000\n")
    assert found == {"1": "RUNNING", "2": "COMPLETED", "3": "CANCELLED"}
    assert stands(["1"], squeue="", sacct="1|RUNNING\n") == {}  # active only where the queue has it
    assert stands(["1"], squeue="") == {}
    # A job that was just submitted is in no database yet: it must not be taken for lost.
    assert stands(["1", "2"], sacct="1|FAILED\n") == {"1": "FAILED", "2": "PENDING"}
    assert stands(["1"]) is None  # nobody answers


@pytest.mark.parametrize(
    ("state", "line", "expected"),
    [
        ("OUT_OF_MEMORY", "OUT_OF_MEMORY|0:125|c1|02:00:00|00:01:00", "OUT_OF_MEMORY (it was granted 250M)"),
        ("TIMEOUT", "TIMEOUT|0:0|c1|02:00:00|02:00:10", "TIMEOUT (it was granted 02:00:00)"),
        ("CANCELLED", "CANCELLED by 1000|0:0|c1|02:00:00|00:01:00", "CANCELLED by 1000 (after 00:01:00)"),
        ("FAILED", "FAILED|0:9|c1|02:00:00|00:00:02", "FAILED (exit code 0:9, after 00:00:02; it was granted 250M)"),
        ("FAILED", "FAILED|1:0|c1|02:00:00|00:00:02", "FAILED (exit code 1:0, after 00:00:02)"),
        ("PREEMPTED", "PREEMPTED|0:0|c1|02:00:00|00:01:00", "PREEMPTED"),
    ],
)
def test_why_a_job_ended_is_one_line(state, line, expected):
    assert asyncio.run(reason("1", state, 250, told(sacct=line + "\n"))) == expected
    assert asyncio.run(reason("1", state, 250, told())) == state


AWAY = ("sbatch", 1, "", "sbatch: error: Batch job submission failed: Unable to contact slurm controller\n")
TAKEN = ("sbatch", 0, "7\n", "")
NOTHING = ("squeue", 0, "", "")


def submitted(*answers: tuple[str, int, str, str], **changes) -> tuple[subprocess.CompletedProcess, list[float]]:
    """What becomes of a job when each command in turn has an exit code, an output and errors; and the pauses."""
    left, slept = iter(answers), []

    def run(command):
        name, code, out, err = next(left)
        assert command[0] == name
        return subprocess.CompletedProcess(command, code, out, err)

    done = submit(["--wrap", "true"], run=run, sleep=slept.append, **changes)
    return done, slept


@pytest.mark.parametrize("away", [0, 3])
def test_a_job_is_submitted_once_and_again_after_longer_and_longer_while_the_controller_is_away(away):
    done, slept = submitted(*[AWAY, NOTHING] * away, TAKEN)
    assert (done.returncode, done.stdout) == (0, "7\n")
    assert slept == [2, 4, 8][:away]


POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


def refused(*names: str) -> tuple[str, int, str, str]:
    """sbatch that refuses a job under SLURM's policy; older versions do not name the limit."""
    lines = (*names, f"Batch job submission failed: {POLICY}")
    return ("sbatch", 1, "", "".join(f"sbatch: error: {text}\n" for text in lines))


@pytest.mark.parametrize(
    "limit",
    ["QOSMaxSubmitJobPerUserLimit", "AssocGrpSubmitJobsLimit", "MaxSubmitJobsPerAccount", "AssocGrpJobsLimit"],
)
def test_a_limit_on_the_number_of_jobs_is_waited_for_and_said_once(limit, capfd):
    done, slept = submitted(*[refused(limit), NOTHING] * 20, TAKEN)  # longer than a controller is waited for
    assert done.stdout == "7\n"
    assert sum(slept) > 900
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert f"{limit}. The next job waits until others end, for 1440 minutes" in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (AWAY, "away for 14 s. Fix: repeat the command when `scontrol ping` answers"),
        (refused("AssocMaxSubmitJobLimit"), "would free the limit in 14 s. Fix: set `jobs` in profiles/slurm"),
    ],
)
def test_patience_ends_with_a_word(answer, said):
    done, _ = submitted(*[answer, NOTHING] * 3, answer, patience=10)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_limit_without_a_name_is_waited_for_as_long_as_a_controller():
    done, slept = submitted(*[refused(), NOTHING] * 99)
    assert done.returncode == 1
    assert 900 <= sum(slept) < 1000


SIZES = [
    "QOSMaxWallDurationPerJobLimit",
    "AssocMaxCpuPerJobLimit",
    "QOSMaxNodePerJobLimit",
    "QOSMinGRES",
    "MaxMemPerLimit",
]
ACCOUNT = ("sbatch", 1, "", "sbatch: error: invalid account or account/partition combination specified\n")


@pytest.mark.parametrize("answer", [ACCOUNT, *map(refused, SIZES)], ids=["account", *SIZES])
def test_what_is_refused_and_a_limit_on_the_size_of_a_job_are_final(answer):
    done, slept = submitted(answer)
    assert (done.returncode, slept) == (1, [])


def test_a_job_that_was_taken_although_the_answer_was_lost_is_not_submitted_twice():
    comments = []

    def run(command):
        if command[0] == "sbatch":
            comments.append(command[command.index("--comment") + 1])
            return subprocess.CompletedProcess(
                command, 1, "", "sbatch: error: Socket timed out on send/recv operation\n"
            )
        return subprocess.CompletedProcess(command, 0, f"6|{comments[0]} else\n7|{comments[0]}\n", "")

    done = submit(["--comment", "rule_x", "--wrap", "true"], run=run, sleep=lambda seconds: None)
    assert (done.returncode, done.stdout) == (0, "7\n")
    assert len(comments) == 1
    assert comments[0].startswith("rule_x #")


def test_the_jobs_of_a_folder_are_those_that_were_submitted_from_it(tmp_path):
    places = (("1", "RUNNING", tmp_path), ("2", "RUNNING", "/other"), ("3", "COMPLETED", tmp_path))
    rows = [f"{n}|{state}|rule_extract_triples_wildcards_a_b #1f|{place}" for n, state, place in places]
    assert jobs(tmp_path, lambda command: "\n".join(rows)) == [Waiting("1", "RUNNING", "extract_triples")]
    assert jobs(tmp_path, lambda command: None) == []


def test_jobs_are_cancelled_and_awaited_and_those_that_stay_are_named(tmp_path):
    row, asked = f"1|RUNNING|rule_x|{tmp_path}", []

    def run(command):
        asked.append(command[0])
        return row if asked.count("squeue") < 4 and command[0] == "squeue" else ""

    slept = []
    assert [one.job for one in cancel(tmp_path, run, slept.append)] == ["1"]
    assert asked[:2] == ["squeue", "scancel"]
    assert slept == [1.0, 1.0]
    with pytest.raises(SecateurError, match=r"SLURM jobs 1 .* still active\. Fix: squeue --me"):
        cancel(tmp_path, lambda command: row, lambda seconds: None)


def test_slurm_that_does_not_answer_is_no_empty_queue(tmp_path, monkeypatch):
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 'error: Unable to contact slurm controller' >&2; exit 1\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(SecateurError, match="Unable to contact slurm controller"):
        jobs(tmp_path)


def test_the_last_command_is_remembered(tmp_path):
    with pytest.raises(SecateurError, match="no run was started in this folder"):
        remembered(tmp_path / "note.json")
    remember(["--profile", "slurm"], tmp_path / "note.json")
    assert remembered(tmp_path / "note.json").arguments == ["--profile", "slurm"]


def test_one_figure_of_one_rule_is_named_and_anything_else_refused():
    rules = resources.rules_of(Path(__file__).parents[2] / "workflow" / "rules")
    given = ["rank_passages.mem_mb=attempt * 16000", "rank_passages.runtime=5"]
    assert resources.parse(given, rules) == {"rank_passages": {"mem_mb": "attempt * 16000", "runtime": "5"}}
    with pytest.raises(SecateurError, match=r"no rule 'rank_passage'; did you mean 'rank_passages'\?"):
        resources.parse(["rank_passage.mem_mb=1"], rules)
    with pytest.raises(SecateurError, match=r"Allowed: RULE\.NAME=VALUE"):
        resources.parse(["rank_passages:mem_mb=1"], rules)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"extractor.kind": "openie"}, False),
        ({"extractor.kind": "rebel"}, True),
        ({"extractor.kind": "openie", "lm.backend": "transformers"}, True),  # a session's answers become triples too
        ({"lm.backend": "transformers"}, True),
        ({"lm.backend": "vllm"}, False),
        ({"lm.backend": "transformers", "answer.backend": "chat"}, False),
        ({"lm.backend": "transformers", "answer.backend": "lm"}, True),
        ({"judge.backend": "chat"}, False),
        ({"embedder.model": "x"}, True),
        ({"reranker.spec": {"kind": "named"}, "extra.model": {"joins": []}}, False),
        ({"reranker.spec": {"kind": "cross_encoder"}, "extra.model": None}, True),
        ({"reranker.spec": {"kind": "pmi_q"}, "extra.model": {"backend": "transformers"}}, True),
        ({"reranker.spec": {"kind": "pmi_q"}, "extra.model": {"backend": "vllm"}}, False),
        ({"lm.backend": "vllm", "extra.judge_model": {"backend": "transformers"}}, True),
    ],
)
def test_a_gpu_is_for_a_model_that_is_read_in_the_job(params, expected):
    assert needs_gpu(params) is expected


class Asked(SimpleNamespace):
    """What Snakemake asks for."""

    def get(self, name, default=None):
        return getattr(self, name, default)


def test_a_job_without_a_gpu_goes_where_all_others_go():
    asked, other = Asked(gres="gpu:1", slurm_partition="gpu", mem_mb=8000), Asked(slurm_partition="cpu_long")
    forget_gpu(asked, "cpu")
    assert vars(asked) == {"gres": "", "slurm_partition": "cpu", "mem_mb": 8000}
    forget_gpu(other, "cpu")
    assert vars(other) == {"slurm_partition": "cpu_long"}


def test_a_job_asks_for_the_weights_that_it_reads_too(tmp_path):
    save_file({"w": torch.zeros(2**20, dtype=torch.float16)}, tmp_path / "model.safetensors")
    own = {"lm.backend": "transformers", "lm.model": str(tmp_path)}
    own |= {"lm.dtype": {"cpu": "float32", "cuda": "float16"}}
    judge = {key.removeprefix("lm."): value for key, value in own.items()}
    assert weights_mb(own) == 4
    assert weights_mb(own | {"lm.dtype": {"cpu": "bfloat16", "cuda": "float16"}}) == 2
    assert weights_mb(own | {"lm.backend": "vllm"}) == 0
    assert weights_mb(own | {"lm.model": "nobody/not-here-yet"}) == 0
    assert weights_mb({"embedder.model": "x"}) == weights_mb({"lm.model": str(tmp_path)}) == 0
    assert weights_mb({"judge.backend": "lm", "extra.model": judge, "lm.model": "tokens"}) == 4
    assert weights_mb(own | {"extra.judge_model": judge}) == 8
    assert weights_mb({"judge.backend": "chat", "extra.model": None}) == 0
    asked = Asked(mem_mb=8000)
    ask_for_weights(asked, own)
    assert asked.mem_mb == 8004
    params = [f"{key}={json.dumps(value)}" for key, value in own.items()]
    assert in_turn([job("gain", *params, mem_mb=8000, runtime=1)], "cpu")["mem_mb"] == 8004


def job(rule: str, *params: str, **resources: int | str) -> SimpleNamespace:
    return SimpleNamespace(rule=SimpleNamespace(name=rule), params=list(params), resources=resources)


def test_a_group_asks_for_its_largest_job_and_the_longest_limit_of_each_rule():
    same = {"slurm_partition": "cpu", "tmpdir": "/tmp"}
    jobs = [
        job("rank", mem_mb=8000, runtime=120, _cores=1, **same),
        job("rank", mem_mb=4000, runtime=60, _cores=1, **same),
        job("measure", mem_mb=2000, runtime=20, _cores=2, **same),
    ]
    assert in_turn(jobs, "cpu") == same | {"mem_mb": 8000, "runtime": 140, "_cores": 2, "_nodes": 1}


def test_a_group_asks_for_a_gpu_where_one_of_its_jobs_reads_a_model():
    graph = {"mem_mb": 8000, "runtime": 1, "slurm_partition": "gpu", "gres": "gpu:1"}
    light = job("measure", mem_mb=1, runtime=1, slurm_partition="cpu")
    reading = in_turn([light, job("gain", 'lm.backend="transformers"', **graph), light], "cpu")
    assert (reading["slurm_partition"], reading["gres"]) == ("gpu", "gpu:1")
    elsewhere = job("measure", mem_mb=1, runtime=1, slurm_partition="long")
    assert in_turn([light, elsewhere, light], "cpu")["slurm_partition"] == "long"  # as the profile has it for the rule
    asking = in_turn([light, job("gain", 'lm.backend="vllm"', **graph), light], "cpu")
    assert asking["slurm_partition"] == "cpu"
    assert "gres" not in asking
