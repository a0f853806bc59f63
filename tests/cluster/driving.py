"""A project that is run on a cluster: its driver, its jobs, what both said."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from slurm import Cluster, until

POLL = "2"  # seconds between looks at the jobs, in the tests


@dataclass
class Driven:
    root: Path
    cluster: Cluster

    @property
    def env(self) -> dict[str, str]:
        """Of whoever drives a run; jobs inherit it."""
        own = {"PYTHONPATH": f"{self.root / 'workflow'}{os.pathsep}{self.root}", "HF_HUB_OFFLINE": "1"}
        own |= {"OMP_NUM_THREADS": "1", "SECATEUR_SLURM_POLL": POLL, "SECATEUR_CACHE": str(self.root / ".cache")}
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SECATEUR_"))}
        path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{self.cluster.env['PATH']}"}
        return kept | self.cluster.env | own | path

    def start(self, *targets: str, config: tuple[str, ...] = ("experiment=smoke",)) -> subprocess.Popen:
        """Drive a run on the cluster, in the background; what it says is in `driver.log`."""
        command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--config", *config, "--", *targets]
        log = (self.root / "driver.log").open("w")
        streams = {"stdout": log, "stderr": log, "start_new_session": True, "preexec_fn": _as_in_a_terminal}
        return subprocess.Popen(command, cwd=self.root, env=self.env, **streams)

    def secateur(self, *args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from secateur.cli import main; main()", *args]
        return subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False)

    def said(self) -> str:
        return (self.root / "driver.log").read_text()

    def running(self, rule: str) -> str:
        """The id of the first job of a rule, once its stage is at work: it has begun its log."""

        def found() -> list[str]:
            return [job for job, state, comment in self.cluster.jobs() if state == "RUNNING" and rule in comment]

        logs = self.root / "logs" / rule
        until(lambda: bool(found()) and any(logs.glob("*.log")), 300, f"a running job of {rule}")
        (log, *_) = logs.glob("*.log")
        shard = log.stem.rpartition("-")[2]
        jobs = [(shard not in comment, job) for job, _, comment in self.cluster.jobs() if rule in comment]
        return min(jobs)[1]  # a group has no shard

    def held(self, rule: str) -> str:
        """The id of a running job whose stage is made to sleep where it is, so that it does not end by itself."""
        job = self.running(rule)
        for process in stages(job):
            os.kill(process, signal.SIGSTOP)
        return job

    def submitted(self, rule: str) -> list[list[str]]:
        """Every job of a rule, or of a group, that was ever submitted: id, state, where, what it was given."""
        logs = self.root / ".snakemake/slurm_logs"
        ids = [path.stem for kind in ("rule", "group") for path in logs.glob(f"{kind}_{rule}*/**/*.log")]
        shown = {row[0]: row for row in self.cluster.accounted("JobID,State,Partition,AllocTRES,ReqMem")}
        return [shown[job] for job in sorted(ids, key=int) if job in shown]


def _as_in_a_terminal() -> None:
    """Whoever runs the tests under nohup has SIGHUP ignored, which children inherit."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def stages(job: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"/.snakemake/scripts/" in command and f"SLURM_JOB_ID={job}".encode() in environ.split(b"\0"):
            found.append(int(entry.name))
    return found
