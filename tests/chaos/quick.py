"""Drivers whose jobs are forked from the harness, which has loaded the heavy libraries; a job that was done before is replayed.

Snakemake plans, starts, ends and cleans up as ever. What is tried is its choice of jobs, so no stage need be computed twice:
a job whose settings, code and contents of inputs were seen takes the outputs that it had then.
"""

import gc
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from secateur.core.artifacts import file_digest, read_json, write_json
from secateur.core.cache import digest
from secateur.planning import dry_run
from tests.support.project import ROOT

from .faults import Strike
from .jobs import Spec
from .process import Ended, enter, forked

__all__ = ["OWN", "Jobs"]

OWN = ("--executor", "local")  # Snakemake's, which hands a script over
EVENTS = 4  # that each job has at least, in a process that was not watched
MAIN = "import sys, json; from tests.chaos.quick import start; start(json.loads(sys.argv[1]))"


@dataclass(frozen=True)
class _Running:
    """A job that a driver waits for."""

    connection: socket.socket
    spec: Spec
    key: str
    seen: Path
    struck: bool


class Jobs:
    """Runs the jobs of the drivers of one tree. folder: for what they made."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.fresh = False  # jobs get a Python of their own, which reads the code of the tree
        self.ran: list[str] = []  # records of the jobs that were asked for, in order
        self._struck: tuple[str, Callable[[Spec], Strike]] | None = None
        self._digests: dict[tuple, str] = {}
        self._running: dict[int, _Running] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.place = Path(tempfile.mkdtemp(dir="/tmp")) / "jobs"  # the name of a socket is short
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.place))
        self._listening.listen()
        self._listening.setblocking(False)

    def keep(self, spec: Spec, events: int = EVENTS) -> None:
        """Keep what a finished job has made, to be replayed. events: how many its process had."""
        kept = self.folder / self._key(spec)
        half = Path(tempfile.mkdtemp(dir=self.folder))
        for name, path in spec.output.items():
            shutil.copy2(self.root / path, half / name)
        (half / "events").write_text(str(events))
        try:
            half.rename(kept)
        except OSError:  # it was kept before
            shutil.rmtree(half)

    def events(self, spec: Spec) -> int:
        """The number of events of a job when it ran to its end."""
        kept = self.folder / self._key(spec) / "events"
        return int(kept.read_text()) if kept.exists() else EVENTS

    def run(self, env: Mapping[str, str], call: Callable[[], None]) -> Ended:
        """A command whose drivers hand their jobs over to this process."""

        def inside() -> None:
            gc.disable()  # what is short needs none
            _hand_over(self.place)
            call()

        self.ran = []
        return forked(self.root, inside, env=dict(env), meanwhile=self.look)

    def struck(self, env: Mapping[str, str], call: Callable[[], None], record: str, strike) -> Ended:
        """The same; the job with this record is computed under a strike. strike: makes it when the job is asked for."""
        self._struck = (record, strike)
        try:
            return self.run(env, call)
        finally:
            self._struck = None

    def look(self) -> None:
        """Start what drivers ask for, and tell them what has ended."""
        try:
            connection, _ = self._listening.accept()
        except BlockingIOError:
            pass
        else:
            connection.setblocking(True)
            self._begin(connection)
        for child in list(self._running):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self._end(self._running.pop(child), os.waitstatus_to_exitcode(status))

    def _begin(self, connection: socket.socket) -> None:
        asked = json.loads(connection.makefile().readline())
        spec, env, output = Spec(**asked["spec"]), asked["env"], Path(asked["output"])
        record, key = spec.output["record"], self._key(spec)
        self.ran.append(record)
        struck = self._struck is not None and self._struck[0] == record
        strike = self._struck[1](spec) if struck else Strike()
        if not struck and self._replayed(spec, key, env):
            return _answer(connection, 0)
        seen = self.folder / f"{key}.seen"
        seen.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            enter(self.root, self._call(spec, strike, struck), strike.at, env | strike.env, output, seen)
        self._running[child] = _Running(connection, spec, key, seen, struck)
        return None

    def _call(self, spec: Spec, strike: Strike, struck: bool) -> Callable[[], None]:
        def call() -> None:
            if self.fresh and not struck:
                path = os.pathsep.join((str(self.root / "workflow"), str(self.root), str(ROOT)))
                os.execve(
                    sys.executable,
                    [sys.executable, "-c", MAIN, json.dumps(asdict(spec))],
                    os.environ | {"PYTHONPATH": path},
                )
            strike.inside()
            start(asdict(spec))

        return call

    def _end(self, job: _Running, code: int) -> None:
        if code == 0 and not job.struck:
            self.keep(job.spec, len(job.seen.read_text().splitlines()) if job.seen.exists() else EVENTS)
        _answer(job.connection, code)

    def _key(self, spec: Spec) -> str:
        inputs = {path: self._digest(path) for paths in spec.input.values() for path in paths}
        return digest([spec.rule, spec.output, spec.params, inputs])

    def _digest(self, path: str) -> str | None:
        whole = self.root / path
        if not whole.is_file():
            return None
        stat = whole.stat()
        seen = (path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        if seen not in self._digests:
            self._digests[seen] = file_digest(whole)
        return self._digests[seen]

    def _replayed(self, spec: Spec, key: str, env: Mapping[str, str]) -> bool:
        """Whether the job was done before, on inputs that its stage would take; if so, its outputs are there again."""
        kept = self.folder / key
        if not kept.is_dir() or not all(self._accepted(path) for paths in spec.input.values() for path in paths):
            return False
        record = self.root / spec.output["record"]
        record.parent.mkdir(parents=True, exist_ok=True)
        for name, path in spec.output.items():
            if name != "record":
                half = (self.root / path).with_name(f".{Path(path).name}.tmp")
                half.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(kept / name, half)
                half.replace(self.root / path)
        record.with_name("failure.json").unlink(missing_ok=True)
        asked_by = {"experiment": env["SECATEUR_EXPERIMENT"], "overrides": json.loads(env["SECATEUR_OVERRIDES"])}
        write_json(record, read_json(kept / "record") | asked_by)
        return True

    def _accepted(self, path: str) -> bool:
        """Whether an input is as its stage wrote it."""
        record = (self.root / path).with_name("run.json")
        written = read_json(record)["written"].get(path) if record.is_file() else None
        return written in (None, self._digest(path))


def start(described: dict) -> None:
    """A job's script as Snakemake would start it."""
    spec = Spec(**described)
    runpy.run_path(f"scripts/{spec.rule}.py", {"snakemake": spec.described()})


def _answer(connection: socket.socket, code: int) -> None:
    connection.sendall(f"{code}\n".encode())
    connection.close()


def _hand_over(place: Path) -> None:
    """From now on Snakemake is forked in this process, not started, and its jobs are asked for at a socket."""
    from snakemake.script import PythonScript

    from secateur.commands import running

    def lists(named) -> dict[str, list[str]]:
        return {name: [value] if isinstance(value, str) else list(map(str, value)) for name, value in named.items()}

    def evaluate(script, edit: bool = False) -> None:
        spec = Spec(
            rule=script.rulename,
            wildcards=dict(script.wildcards.items()),
            input=lists(script.input),
            output=dict(script.output.items()),
            params={name: str(value) for name, value in script.params.items()},
            log=str(script.log[0]),
        )
        asked = {"spec": asdict(spec), "env": dict(os.environ), "output": f"/proc/{os.getpid()}/fd/1"}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(place))
            connection.sendall((json.dumps(asked) + "\n").encode())
            code = int(connection.makefile().readline())
        if code:
            raise subprocess.CalledProcessError(code, f"{sys.executable} {script.rulename}.py")

    def run(words, *args, **given) -> subprocess.CompletedProcess:
        if list(words)[-2:] == ["secateur.cli", "track"]:  # MLflow takes six seconds to load, and has scenes of its own
            return subprocess.CompletedProcess(words, 0)
        return started(words, *args, **given)

    started, subprocess.run = subprocess.run, run
    PythonScript.evaluate = evaluate
    dry_run._run = lambda command, env: _snakemake(command[3:], env)
    running._driven = lambda command, *_: _snakemake([*command[3:], *OWN]).returncode


def _snakemake(arguments: Sequence[str], captured: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`snakemake ARGUMENTS` in a fork of this process. captured: the environment of one whose output is captured."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch, name) for name in ("out", "err")]
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.environ.update(captured or {})
            _become(arguments, files if captured else [])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out, err = (path.read_text() if path.exists() else "" for path in files)
    return subprocess.CompletedProcess(list(arguments), code, out, err)


def _become(arguments: Sequence[str], files: Sequence[Path]) -> None:
    from snakemake.cli import main

    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for stream, path in enumerate(files, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644), stream)
        sys.argv = ["snakemake", *arguments]
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
