"""The machine around a run: odd paths, signals, two runs in one folder, locks."""

import errno
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import parse_config
from snakemake.script import PythonScript, ScriptBase
from snakemake_interface_executor_plugins import utils
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import SharedFSUsage

import secateur
from secateur.cluster import executor, leftovers, quoting
from secateur.commands import doctor, processes, running
from secateur.core.errors import SecateurError
from secateur.planning.dry_run import arguments
from secateur.planning.progress import Progress
from snakemake_executor_plugin_secateur import _Worker

LIMIT = 60  # seconds after which a process of these tests hangs

ODD = ["it's", 'a"b', "$HOME", "a;b", "(a)", "Prüfung", "a&b", "two  blanks", "*", "`id`"]


@pytest.fixture
def quoted(monkeypatch):
    """Snakemake with the patch, taken back afterwards."""
    owned = ((ScriptBase, "_execute_cmd"), (RemoteExecutor, "get_python_executable"), (utils, "format_cli_value"))
    for owner, name in owned:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    quoting.patch()
    quoting.patch()  # a second time changes nothing


def python_in(folder: Path) -> str:
    """This Python under a path in the folder."""
    folder.mkdir()
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    return str(folder / ".venv/bin/python")


@pytest.mark.parametrize("name", ODD)
def test_a_stage_runs_under_an_environment_of_any_name(tmp_path, monkeypatch, quoted, name):
    monkeypatch.setattr(sys, "executable", python_in(tmp_path / name))
    script = tmp_path / name / "stage.py"
    script.write_text("import sys, pathlib; pathlib.Path(__file__).with_name('said').write_text(sys.executable)")
    stage = PythonScript.__new__(PythonScript)
    unset = ("bench_record", "conda_env", "conda_base_path", "container_img", "shadow_dir", "env_modules")
    vars(stage).update(dict.fromkeys((*unset, "singularity_args", "runtime_paths")), resources={}, threads=1)
    stage.execute_script(str(script))
    assert script.with_name("said").read_text() == sys.executable


def of_executors() -> str:
    """The interpreter in the command of a job on a cluster."""
    storage = SimpleNamespace(shared_fs_usage=SharedFSUsage.all())
    one = SimpleNamespace(workflow=SimpleNamespace(storage_settings=storage))
    return RemoteExecutor.get_python_executable(one)


@pytest.mark.parametrize("name", ODD)
def test_a_job_on_a_cluster_starts_under_an_environment_of_any_name(tmp_path, monkeypatch, quoted, name):
    monkeypatch.setattr(sys, "executable", python_in(tmp_path / name))
    command = f"{of_executors()} -c 'import sys; print(sys.executable)'"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout.strip() == sys.executable
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert of_executors() == "/usr/bin/python3"


OVERRIDES = ['lm.model="a b"', "lm.model='it''s'", "eval.budgets=[64,128]", "lm.url=${oc.env:X}"]


@pytest.mark.parametrize(
    "folder", ["/it's", '/a"b', "/a #1", "/a: b", "/$HOME/`id`", "/back\\slash", "/Prüfung 😀", "/[x", "/-"]
)
def test_a_job_on_a_cluster_gets_the_data_and_overrides_of_its_run(quoted, folder):
    """From `secateur run` to the Snakemake in a job, by the shells on the way."""
    overrides = [*OVERRIDES, f"dataset.folder={folder}"]
    _, *texts = arguments("custom", overrides)
    config = parse_config(texts)
    assert config == {"experiment": "custom", "overrides": overrides}
    print_arguments = f"{shlex.quote(sys.executable)} -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
    original = lambda self, job: f"{print_arguments} {utils.format_cli_arg('--config', texts)}"  # noqa: E731
    script = executor._in_one_snakemake(original)(SimpleNamespace(), SimpleNamespace(threads=1))
    found = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True).stdout
    assert parse_config(json.loads(found)[1:]) == config


# Snakemake, which upon SIGINT waits for its jobs; a job that says how it ended; one that does not listen.
DRIVER = """
import shlex, subprocess, sys
job = subprocess.Popen(["bash", "-c", f"{shlex.join([sys.executable, sys.argv[1]])}; true"])
while job.poll() is None:
    try:
        job.wait()
    except KeyboardInterrupt:
        print("waits for its jobs", flush=True)
"""
JOB = """
import pathlib, signal, sys, time
def end(*_):
    pathlib.Path("ended").touch()
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
pathlib.Path("started").touch()
time.sleep(600)
"""
DEAF = JOB.replace("SIGTERM, end", "SIGTERM, signal.SIG_IGN")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder of runs, in which this process stands; signals are as before afterwards."""
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield tmp_path
    for number, handler in handlers.items():
        signal.signal(number, handler)


def job_in(folder: Path, text: str) -> Path:
    script = folder / ".snakemake/scripts/tmp1.slow.py"
    script.parent.mkdir(parents=True)
    script.write_text(text)
    return script


def driver(script: Path) -> list[str]:
    return [sys.executable, "-c", DRIVER, str(script)]


def wait_for(path: Path) -> None:
    for _ in range(100 * LIMIT):
        if path.exists():
            return
        time.sleep(0.01)
    raise TimeoutError(f"{path} never appeared")


@pytest.mark.parametrize(("job", "says_so"), [(JOB, True), (DEAF, False)], ids=["listens", "deaf"])
def test_a_run_that_is_ended_ends_its_jobs_which_say_so_or_are_killed(folder, monkeypatch, job, says_so):
    monkeypatch.setattr(processes, "GRACE", LIMIT if says_so else 1)
    with subprocess.Popen(driver(job_in(folder, job)), stdout=subprocess.PIPE, text=True) as run:
        wait_for(folder / "started")
        processes.end(run)
        assert run.returncode is not None
    assert (folder / "ended").exists() == says_so
    assert processes.workers() == {}


def test_jobs_of_another_run_in_the_folder_go_on(folder):
    script = job_in(folder, JOB)
    with subprocess.Popen([sys.executable, str(script)]) as other:
        try:
            wait_for(folder / "started")
            with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as run:
                processes.end(run)
            assert other.poll() is None
            assert list(processes.workers().values()) == ["slow"]
        finally:
            other.kill()


@pytest.fixture
def in_background(folder):
    """What a process is given that a shell starts in the background: SIGINT ignored, SIGHUP not, also under nohup."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("shown", [True, False], ids=["progress", "plain"])
def test_a_signal_to_a_run_ends_it_with_its_jobs(folder, in_background, number, shown):
    command = driver(job_in(folder, JOB))
    (folder / "events").touch()
    given = ["lambda child: list(running._followed(child, Path('events')))", "Path('events')", "open('log', 'a')"]
    text = f"from pathlib import Path; from secateur.commands import running\nrunning._driven({command!r}, "
    text += f"{', '.join(given if shown else [])})"
    env = os.environ | {"PYTHONPATH": str(Path(secateur.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, text=True, env=env) as run:
        wait_for(folder / "started")
        run.send_signal(number)
        _, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == running.INTERRUPTED, errors
    assert "interrupted; finished jobs are kept" in errors
    assert (folder / "ended").exists()


def test_a_second_run_leaves_the_log_of_the_first_alone_and_without_locks_there_is_one(folder, monkeypatch):
    with running._log() as first:
        first.write("the first run\n")
        first.flush()
        with running._log() as second:
            second.write("the second run\n")
            assert Path(second.name) == Path(f"logs/snakemake-{os.getpid()}.log")
        assert running.LOG.read_text() == "the first run\n"
    with running._log() as third:
        assert Path(third.name) == running.LOG
    assert running.LOG.read_text() == ""

    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(running.fcntl, "flock", unsupported)
    with running._log() as log:
        assert Path(log.name) == running.LOG


@pytest.mark.parametrize(
    ("driving", "message"),
    [([42], "process 42 drives a run .* Fix: wait for it"), ([], "killed run .* Fix: secateur resume --only-clean")],
)
def test_a_run_that_meets_a_lock_says_whose_it_is(folder, monkeypatch, driving, message):
    monkeypatch.setattr(running, "drivers", lambda: driving)
    log = folder / "mine.log"
    log.write_text("Error: Directory cannot be locked. Please make sure that ... --unlock\n")
    locked = {"event": "error", "exception": "LockException", "msg": log.read_text()}
    error = running._failure(Progress(errors=[locked]), 1, "secateur report quickstart", log)
    assert isinstance(error, SecateurError)
    assert re.search(message, str(error))
    assert "--unlock" not in str(error)


@pytest.mark.parametrize(
    ("driving", "host", "passed", "text"),
    [
        ([42], "here", True, "held by process 42"),
        ([], "here", False, "Fix: secateur resume"),
        ([], "login2", True, "on login2, which may drive a run; if it has ended, secateur resume --anyway"),
        ([], None, False, "Fix: secateur resume"),  # no note, or a damaged one
    ],
)
def test_doctor_tells_the_lock_of_a_run_from_one_that_was_left(folder, monkeypatch, driving, host, passed, text):
    assert doctor._lock() == ("lock", True, "none")
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.input.lock").touch()
    monkeypatch.setattr(doctor, "drivers", lambda: driving)
    monkeypatch.setattr(socket, "gethostname", lambda: "here")
    if host:
        note = {"arguments": [], "host": host, "process": 7}
        (folder / leftovers.NOTE).write_text(json.dumps(note))
    name, ok, said = doctor._lock()
    assert (name, ok) == ("lock", passed)
    assert text in said


STAGE = """
import os, signal, sys, time
from pathlib import Path
def stop(*_):
    Path("ended").touch()
    raise SystemExit("SIGTERM")
signal.signal(signal.SIGTERM, stop)
what = snakemake.wildcards["what"]
Path(f"{what}.{os.getpid()}").touch()
if what == "wrong":
    sys.exit(2)
if what == "broken":
    raise ValueError("of the stage")
while what == "slow":
    time.sleep(0.05)
"""


@pytest.fixture
def worker(folder):
    script = folder / "stage.py"
    script.write_text(STAGE)
    one = _Worker()

    def run(what: str) -> int:
        return one.run(script, SimpleNamespace(rule="measure_answer_gain", wildcards={"what": what}))

    yield SimpleNamespace(run=run, process=one.process)
    one.wire.close()
    one.process.kill()
    one.process.wait()


def test_one_process_runs_stages_one_after_another_and_ends_after_one_that_fails(folder, worker):
    assert [worker.run(what) for what in ("a", "b", "wrong")] == [0, 0, 2]
    assert {path.suffix for path in folder.glob("*.[0-9]*")} == {f".{worker.process.pid}"}
    assert worker.process.poll() == 0
    assert worker.run("a") != 0


def test_an_error_that_no_stage_expects_prints_its_traceback(folder):
    (folder / "stage.py").write_text(STAGE)
    described = "SimpleNamespace(rule='x', wildcards={'what': 'broken'})"
    code = f"from types import SimpleNamespace; from pathlib import Path; print(_Worker().run(Path('stage.py'), {described}))"
    command = [sys.executable, "-c", f"from snakemake_executor_plugin_secateur import _Worker; {code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert "ValueError: of the stage" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 1), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_process_of_stages_is_seen_while_it_runs_one_and_ended_with_it_and_says_by_what(folder, worker, number, code):
    assert processes.workers() == {}
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(worker.run, "slow")
        wait_for(folder / f"slow.{worker.process.pid}")
        assert processes.workers() == {worker.process.pid: "measure_answer_"}
        os.kill(worker.process.pid, number)
        assert ended.result() == code
    assert (folder / "ended").exists() == (number == signal.SIGTERM)
