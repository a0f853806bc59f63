"""A throw-away SLURM of plain processes below one folder, loopback only: munge, accounting, a controller, nodes."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

NEEDED = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacctmgr", "squeue")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
LIMIT = 60  # seconds for a daemon to answer


def lacking() -> list[str]:
    return [name for name in NEEDED if shutil.which(name, path=PATH) is None]


def until(true: Callable[[], bool], limit: float = LIMIT, what: str = "it") -> None:
    end = time.monotonic() + limit
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen in {limit} s")
        time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Cluster:
    """min_job_age: seconds that the controller knows an ended job. Two CPU nodes, one GPU node whose GPUs are only named."""

    root: Path
    min_job_age: int = 300
    nodes: tuple[str, ...] = ("c1", "c2", "g1")
    ports: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("etc", "run", "log", "state", "spool", "munge", "dev", "mysql"):
            (self.root / name).mkdir(parents=True)
        for path in (self.root, self.root / "etc", self.root / "run", self.root / "munge"):
            path.chmod(0o755)
        self.ports = {name: free_port() for name in ("mysql", "slurmdbd", "slurmctld", *self.nodes)}

    # --- commands ---------------------------------------------------------------------------------

    @property
    def env(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.root / "etc/slurm.conf"), "PATH": PATH}

    def ask(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            command, env=os.environ | self.env, capture_output=True, text=True, timeout=60, check=False
        )
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
        return done.stdout

    def answers(self, *command: str) -> bool:
        try:
            done = subprocess.run(command, env=os.environ | self.env, capture_output=True, timeout=10, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def jobs(self) -> list[list[str]]:
        """Active jobs: id, state, comment."""
        return [line.split("|") for line in self.ask("squeue", "--noheader", "--format=%i|%T|%k").splitlines()]

    def accounted(self, form: str) -> list[list[str]]:
        """Every job that accounting knows, in the order of submission."""
        said = self.ask("sacct", "-X", "-n", "-P", "--starttime=now-1days", f"--format={form}")
        return [line.split("|") for line in said.splitlines()]

    # --- daemons ----------------------------------------------------------------------------------

    def up(self) -> None:
        self._munge()
        self._accounting()
        self._configure()
        self.start_controller()
        for node in self.nodes:
            self._daemon("slurmd", "-N", node)
        until(self._all_idle, what="idle nodes")

    def _all_idle(self) -> bool:
        shown = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t", check=False).split("\n")
        return sum(line.split()[1:] == ["idle"] for line in shown) == len(self.nodes)

    def start_controller(self) -> None:
        self._daemon("slurmctld")
        until(lambda: "UP" in self.ask("scontrol", "ping", check=False), what="slurmctld")

    def stop_controller(self) -> None:
        """Stop slurmctld as an administrator does; jobs go on."""
        self._end("slurmctld")

    def kill_node(self, node: str) -> None:
        """A node that loses its power: its daemon, and what runs on it."""
        self._end(f"slurmd.{node}", signal.SIGKILL)
        for process in self._processes():
            if process != os.getpid() and self._on(process, node):
                os.kill(process, signal.SIGKILL)

    def start_node(self, node: str) -> None:
        self._daemon("slurmd", "-N", node)

    @staticmethod
    def _processes() -> Iterator[int]:
        return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())

    @staticmethod
    def _on(process: int, node: str) -> bool:
        try:
            environ = Path(f"/proc/{process}/environ").read_bytes()
        except OSError:
            return False
        return f"SLURMD_NODENAME={node}".encode() in environ.split(b"\0")

    def down(self) -> None:
        if (self.root / "run/slurmctld.pid").exists():
            self.ask("scancel", "--user", str(os.getuid()), check=False)
        for name in (*(f"slurmd.{node}" for node in self.nodes), "slurmctld", "slurmdbd", "mariadbd", "munged"):
            self._end(name)

    def _daemon(self, *command: str) -> None:
        subprocess.run(command, env=os.environ | self.env, check=True, capture_output=True, timeout=60)

    def _end(self, name: str, by: signal.Signals = signal.SIGTERM) -> None:
        pid = self.root / "run" / f"{name}.pid"
        if not pid.exists() or not pid.read_text().strip():
            return
        process = int(pid.read_text())
        try:
            os.kill(process, by)
            until(lambda: not _alive(process), 20, f"the end of {name}")
        except ProcessLookupError:
            pass
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
        pid.unlink(missing_ok=True)

    # --- configuration ----------------------------------------------------------------------------

    def _munge(self) -> None:
        key, where = self.root / "munge/munge.key", self.root / "munge/munge.sock"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        own = {"key-file": key, "socket": where, "seed-file": self.root / "munge/seed"}
        own |= {"pid-file": self.root / "run/munged.pid", "log-file": self.root / "log/munged.log"}
        self._daemon("munged", "--force", *(f"--{name}={path}" for name, path in own.items()))
        until(lambda: self.answers("sh", "-c", f"munge -n -S {where} | unmunge -S {where}"), what="munge")

    def _accounting(self) -> None:
        data, where = self.root / "mysql/data", self.root / "mysql/s.sock"
        user = f"--user={_me()}"
        made = ["mariadb-install-db", "--no-defaults", user, f"--datadir={data}", "--skip-test-db"]
        self._daemon(*made, "--auth-root-authentication-method=normal")
        own = {"datadir": data, "socket": where}
        own |= {"pid-file": self.root / "run/mariadbd.pid", "port": self.ports["mysql"]}
        own |= {"bind-address": "127.0.0.1", "innodb-buffer-pool-size": "64M", "innodb-lock-wait-timeout": 900}
        with (self.root / "log/mariadbd.log").open("w") as log:
            command = ["mariadbd", "--no-defaults", user, "--skip-log-bin", *(f"--{k}={v}" for k, v in own.items())]
            subprocess.Popen(command, env=os.environ | self.env, stdout=log, stderr=log, start_new_session=True)
        asked = ["--no-defaults", "-u", "root", "-S", str(where)]
        until(lambda: self.answers("mariadb-admin", *asked, "ping"), what="mariadb")
        grant = "CREATE DATABASE slurm_acct_db; CREATE USER 'slurm'@'%' IDENTIFIED BY 'slurm'; GRANT ALL ON *.* TO 'slurm'@'%';"
        self.ask("mariadb", *asked, "-e", grant)

    def _configure(self) -> None:
        (self.root / "etc/slurmdbd.conf").write_text(DBD.format(root=self.root, me=_me(), host=_host(), **self.ports))
        (self.root / "etc/slurmdbd.conf").chmod(0o600)
        own = CONF.format(root=self.root, me=_me(), host=_host(), min_job_age=self.min_job_age, **self.ports)
        for node in self.nodes:
            gres = " Gres=gpu:2" if node.startswith("g") else ""
            own += f"NodeName={node} NodeHostname={_host()} NodeAddr=127.0.0.1 Port={self.ports[node]} CPUs=2 RealMemory=64000{gres}\n"
        cpu, gpu = (",".join(n for n in self.nodes if n.startswith(letter)) for letter in "cg")
        own += f"PartitionName=cpu Nodes={cpu} Default=YES MaxTime=1-00:00:00 State=UP\n"
        own += f"PartitionName=gpu Nodes={gpu} MaxTime=1-00:00:00 State=UP\n"
        (self.root / "etc/slurm.conf").write_text(own)
        (self.root / "etc/cgroup.conf").write_text("CgroupAutomount=no\n")
        (self.root / "etc/gres.conf").write_text(f"NodeName={gpu} Name=gpu File={self._devices()}\n")
        self._daemon("slurmdbd")
        until(lambda: self.answers("sacctmgr", "--noheader", "list", "cluster"), what="slurmdbd")
        self.ask("sacctmgr", "-i", "add", "cluster", "secateur")
        self.ask("sacctmgr", "-i", "add", "account", "secateur", "Description=x", "Organization=x")
        self.ask("sacctmgr", "-i", "add", "user", _me(), "DefaultAccount=secateur")

    def _devices(self) -> str:
        """SLURM wants character devices; it only looks at them."""
        try:
            for n in (0, 1):
                os.mknod(self.root / f"dev/nvidia{n}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            return f"{self.root}/dev/nvidia[0-1]"
        except PermissionError:
            return "/dev/null,/dev/zero"


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _me() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def cluster(root: Path, **named: int) -> Iterator[Cluster]:
    one = Cluster(root, **named)
    try:
        one.up()
        yield one
    finally:
        one.down()


DBD = """\
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.sock
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={slurmdbd}
SlurmUser={me}
PidFile={root}/run/slurmdbd.pid
LogFile={root}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mysql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
"""
CONF = """\
ClusterName=secateur
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={slurmctld}
SlurmUser={me}
SlurmdUser={me}
AuthType=auth/munge
AuthInfo=socket={root}/munge/munge.sock
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
MinJobAge={min_job_age}
Waittime=0
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
DefMemPerCPU=500
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={slurmdbd}
AccountingStorageTRES=gres/gpu
AccountingStoragePass={root}/munge/munge.sock
JobCompType=jobcomp/none
"""
