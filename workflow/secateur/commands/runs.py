"""Commands on runs: what would run and why, what is wrong here, what MLflow shows, which outputs are orphaned."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from typer import Argument, Option

from secateur.cluster import leftovers
from secateur.commands.processes import drivers, workers
from secateur.commands.shared import aligned, experiment_named
from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted
from secateur.report import reference

__all__ = ["costs", "docs", "doctor", "forecast", "gc", "orphans", "plan", "status", "track", "ui", "why"]

LEDGER = Path("results/ledger/job_runs.parquet")
SHIPPED = Path("data/costs.yaml")
FILES = (".parquet", ".json", ".html", ".safetensors")  # what rules make
JOBS = 5  # jobs of one cause that are named
Experiment = Annotated[str, Argument(help="a file of conf/experiment")]
Data = Annotated[Path | None, Option("--data", help="a folder of your own, for custom and custom_dialogue")]
Overrides = Annotated[
    list[str] | None,
    Option("--set", metavar="GROUP.KEY=VALUE", help="Override a configuration value, e.g. retriever.top_k=100."),
]


def track(rebuild: Annotated[bool, Option(help="write every run of results/ledger anew")] = False) -> None:
    """Show in MLflow what has been run, failures included."""
    from secateur.report import tracking

    written, of, where = tracking.track(Path("results"), rebuild)
    print(f"MLflow at {where}: {written} of {of} runs written")


def ui(port: Annotated[int, Option(help="on this machine")] = 5000) -> None:
    """Serve MLflow's pages on the runs of this folder until interrupted; prints the address of each experiment."""
    from secateur.report import tracking

    uri = os.environ.get("MLFLOW_TRACKING_URI") or tracking.LOCAL
    served = uri.startswith("http")
    address = redacted(uri) if served else f"http://127.0.0.1:{port}"
    there = served or Path(uri.removeprefix("sqlite:///")).exists()
    ids = tracking.experiments(uri) if there else {}
    if not ids:
        raise SecateurError("nothing has been run here. Fix: make run, then make ui.")
    for name, experiment_id in ids.items():
        link = f"{address}/#/experiments/{experiment_id}/runs?searchFilter={quote(tracking.CURRENT)}"
        print(f"{name}\n  runs    {link}\n  charts  {link}&compareRunsMode=CHART", flush=True)
    if served:
        return
    command = [sys.executable, "-m", "mlflow", "ui", "--workers", "1", "--port", str(port), "--backend-store-uri", uri]
    env = os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    os.execve(sys.executable, command, env)


def why(
    target: Annotated[str, Argument(help="a file of conf/experiment, or a file or folder of results/")],
    data: Data = None,
    changed: Overrides = None,
) -> None:
    """What would run now, and which key, file or module set it off."""
    from secateur.planning.dry_run import dry_run

    experiment, path = _experiment_and_file(target)
    planned = dry_run(experiment, changed or (), data, path)
    total = sum(planned.counts.values())
    if not total:
        print(f"{target}: nothing to do, everything is as its settings, files and code say")
        return
    causes: dict[str, list[str]] = {}
    for job, cause in planned.causes:
        causes.setdefault(cause, []).append(job)
    print(f"{target}: {total} jobs would run")
    for cause, jobs in causes.items():
        print(f"  {cause}")
        print(*(f"    {job}" for job in jobs[:JOBS]), sep="\n")
        if len(jobs) > JOBS:
            print(f"    and {len(jobs) - JOBS} more")
    if rest := total - len(planned.causes):
        print(f"  {rest} more read what these make")
    print("  " + ", ".join(f"{rule} {count}" for rule, count in planned.counts.items()))


def _experiment_and_file(target: str) -> tuple[str, Path | None]:
    """The experiment, and the file where a file of results is named; a folder stands for its record.

    The experiment of a file is the one that its record names.
    """
    from secateur.core.artifacts import read_json

    path = Path(os.path.relpath(target))
    if path.parts[0] != "results":
        return experiment_named(target), None
    file = path if path.suffix in FILES else path / "run.json"
    if path.parts[1:2] == ("experiments",):
        return experiment_named(path.parts[2]), file
    record = file.with_name("run.json")
    return (read_json(record)["experiment"] if record.exists() else None) or "quickstart", file


def plan(
    experiment: Experiment,
    data: Data = None,
    changed: Overrides = None,
    core_hour: Annotated[float | None, Option(help="Price of an hour of one core: what the run would cost.")] = None,
    million_tokens: Annotated[float | None, Option(help="Price of a million tokens at an endpoint.")] = None,
) -> None:
    """How long an experiment would take here, by what its rules have taken before: here, else on a reference machine."""
    from secateur.planning import costs
    from secateur.planning.dry_run import dry_run

    counts = dry_run(experiment_named(experiment), changed or (), data).counts
    if not counts:
        print("nothing to do")
        return
    known, pairs = _known(experiment, data, changed or (), counts)
    print(aligned(costs.estimate(counts, known, pairs)[0]))
    print(f"\n{costs.foretold(counts, known, pairs, os.cpu_count() or 1)}")
    if said := costs.money(counts, known, pairs, core_hour, million_tokens):
        print(said)


def forecast(experiment: str, data: Path | None, changed: Sequence[str], counts: dict[str, int], cores: int) -> str:
    """One line on what jobs of an experiment will cost."""
    from secateur.planning import costs

    return costs.foretold(counts, *_known(experiment, data, changed, counts), cores)


def _known(
    experiment: str, data: Path | None, changed: Sequence[str], counts: dict[str, int]
) -> tuple[dict, int | None]:
    """(what each rule takes, pairs that a language model will read)."""
    from secateur.planning import costs
    from secateur.planning.plan import of_folder, variants

    conf, overrides = Path("conf"), (*changed, *of_folder(data))
    found = variants(conf, experiment, overrides)
    names = {experiment, *(name for one in found for name in (one.dataset, one.corpus))}
    return costs.known(LEDGER, SHIPPED, names), costs.pairs_to_read(conf, found, overrides, counts)


def costs(
    experiment: Experiment,
    whole: Annotated[float, Option(help="CPU seconds of its run, as `secateur run` says them at the end")],
) -> None:
    """What a job of each rule took in a run of a new clone, in the form of data/costs.yaml."""
    from secateur.planning import costs

    print(costs.written(LEDGER, experiment_named(experiment), whole, _machine()), end="")


def _machine() -> str:
    """This machine: processor, cores, year."""
    told = Path("/proc/cpuinfo")
    model = re.search(r"^model name\s*:\s*(.+)$", told.read_text(), re.M) if told.exists() else None
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {datetime.now(UTC).year}"


def status() -> None:
    """What runs, what failed last, and whether a lock is left behind."""
    from secateur.core.artifacts import read_json

    locks = sorted(Path(".snakemake/locks").glob("*")) if Path(".snakemake/locks").exists() else []
    now = sorted(workers().values())
    print(f"running     {len(now)} jobs" + (f": {', '.join(now)}" if now else ""))
    print(f"SLURM       {_queued()}")
    driving = drivers()
    print(f"drivers     {len(driving)}" + (f": process {', '.join(map(str, driving))}" if driving else ""))
    if locks and not driving:
        print("lock        a run was killed, or is driven from another machine. Fix: if none is, secateur resume")
    failures = sorted(Path("results").rglob("failure.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    print(f"failed      {len(failures)} jobs")
    for path in failures[:10]:
        record = read_json(path)
        print(
            f"  {record['stage']} {' '.join(record['axes'].values())}\n    {record['failure'].splitlines()[0]}\n    {path}"
        )


def _queued() -> str:
    try:
        waiting = leftovers.jobs(Path.cwd())
    except SecateurError as error:
        return str(error)
    named = ", ".join(f"{job.job} {job.rule} {job.state.lower()}" for job in waiting)
    return f"{len(waiting)} jobs" + (f": {named}" if waiting else "")


def doctor() -> None:
    """What this machine has and lacks: packages, models, data, disk, locks, SLURM. Exit code 1 where something is wrong."""
    from secateur.report.doctor import checks

    wrong = 0
    for name, fine, said in checks():
        print(f"{'ok  ' if fine else 'FIX '} {name:10} {said}")
        wrong += not fine
    if wrong:
        raise SystemExit(1)


def orphans(
    delete: Annotated[bool, Option("--delete", help="Remove them; without it they are listed.")] = False,
) -> None:
    """Outputs that no experiment's results rest on, and what killed jobs left behind."""
    from secateur.planning.orphans import orphaned, size

    if not Path("Snakefile").exists() or not Path("conf").is_dir():
        raise SecateurError(f"{Path.cwd()}: no clone of Secateur. Fix: run it in the root of one.")
    if delete and (drivers() or workers()):
        raise SecateurError("a run is going on here. Fix: wait until it has ended.")
    found = orphaned(Path("results"), Path(os.environ.get("SECATEUR_CACHE", ".cache")))
    rows = [{"MB": f"{size(path) / 1e6:.1f}", "path": str(path), "why": why} for path, why in found]
    print(aligned(rows) if rows else "no orphaned outputs")
    for path, _ in found if delete else []:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if rows:
        print("removed" if delete else "nothing was removed; --delete removes them")


def gc() -> None:
    """The name of `secateur orphans` before 0.3."""
    raise SecateurError("secateur gc is now secateur orphans. Fix: secateur orphans, or secateur orphans --delete")


def docs() -> None:
    """Write the generated pages."""
    for path, text in reference.pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
