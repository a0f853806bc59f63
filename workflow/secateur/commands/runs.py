"""Commands on runs: plan and explain them, check this machine, track them in MLflow, clean up after them."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import psutil
from typer import Argument, Option

from secateur.cluster import leftovers
from secateur.commands.processes import drivers, workers
from secateur.commands.shared import aligned, at_root, experiment_named
from secateur.config.compose import separated
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError, needs
from secateur.core.redaction import redacted
from secateur.planning.progress import Job

__all__ = ["clean", "doctor", "estimate_of", "plan", "status", "track", "ui", "why"]

RESULTS, CONF = Path("results"), Path("conf")
SHIPPED = Path("data/costs.yaml")
FILES = (".parquet", ".json", ".html", ".safetensors")  # suffixes of the files that rules write
JOBS = 5  # jobs listed under one cause
FAILURES = 10  # failed jobs that `status` lists
Experiment = Annotated[str, Argument(help="Name of a file in conf/experiment.")]


def _separated(texts: list[str] | None) -> list[str]:
    """The overrides of several texts, each of which may hold several."""
    return [override for text in texts or () for override in separated(text)]


Overrides = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="GROUP.KEY=VALUE",
        help="Override a configuration value, e.g. retriever.top_k=100.",
        callback=_separated,
    ),
]


def track(rebuild: Annotated[bool, Option(help="Write every run of results/ledger again.")] = False) -> None:
    """Write runs to MLflow, failed ones too."""
    from secateur.stage import tracking

    needs("mlflow")
    written, total, address = tracking.track(Path("results"), rebuild)
    print(f"MLflow at {address}: {written} of {total} runs written")


def ui(port: Annotated[int, Option(help="Port on this machine.")] = 5000) -> None:
    """Serve MLflow's pages until interrupted, and print a link for each experiment."""
    from secateur.stage import tracking

    needs("mlflow")
    uri = os.environ.get("MLFLOW_TRACKING_URI") or tracking.LOCAL
    is_server = uri.startswith("http")
    address = redacted(uri) if is_server else f"http://127.0.0.1:{port}"
    exists = is_server or Path(uri.removeprefix("sqlite:///")).exists()
    ids = tracking.experiments(uri) if exists else {}
    if not ids:
        raise SecateurError("nothing has been run here. Fix: make run, then make ui.")
    for name, experiment_id in ids.items():
        link = f"{address}/#/experiments/{experiment_id}/runs?viewStateShareKey={tracking.VIEW}"
        print(f"{name}\n  runs    {link}\n  charts  {link}&compareRunsMode=CHART", flush=True)
    if is_server:
        return
    command = [sys.executable, "-m", "mlflow", "ui", "--workers", "1", "--port", str(port), "--backend-store-uri", uri]
    env = os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    os.execve(sys.executable, command, env)


def why(
    target: Annotated[str, Argument(help="Name of a file in conf/experiment, or a file or folder of results/.")],
    changed: Overrides = None,
) -> None:
    """List the jobs that would run, and the key, file or module that causes each."""
    from secateur.planning.dry_run import jobs_to_run

    needs("snakemake")
    at_root()
    experiment, path = _experiment_and_file(target)
    planned = jobs_to_run(experiment, changed or (), path)
    if not planned:
        print(f"{target}: nothing to do, everything is up to date")
        return
    causes: dict[str, list[str]] = {}
    for job in planned:
        if job.cause:
            causes.setdefault(job.cause, []).append(job.message)
    print(f"{target}: {len(planned)} jobs would run")
    for cause, jobs in causes.items():
        print(f"  {cause}")
        print(*(f"    {job}" for job in jobs[:JOBS]), sep="\n")
        if len(jobs) > JOBS:
            print(f"    and {len(jobs) - JOBS} more")
    if others := sum(not job.cause for job in planned):
        print(f"  {others} more read the outputs of these")
    print("  " + ", ".join(f"{rule} {count}" for rule, count in Counter(job.rule for job in planned).items()))


def _experiment_and_file(target: str) -> tuple[str, Path | None]:
    """The experiment of a target, and its file if the target is in results/; a folder stands for its record.

    The record of a file names its experiment; without a record it is quickstart.
    """
    path = Path(os.path.relpath(target))
    if path.parts[0] != "results":
        return experiment_named(target), None
    file = path if path.suffix in FILES else path / "run.json"
    if path.parts[1:2] == ("experiments",):
        return experiment_named(path.parts[2]), file
    record = file.with_name("run.json")
    return (read_json(record)["experiment"] if record.exists() else None) or "quickstart", file


def plan(experiment: Experiment, changed: Overrides = None) -> None:
    """Estimate how long an experiment takes here: jobs that ran here, scaled by the sizes of the data."""
    needs("snakemake")
    at_root()
    estimate = estimate_of(experiment_named(experiment), changed or ())
    if not estimate.jobs:
        print("nothing to do")
        return
    print(f"{aligned(estimate.rows)}\n\n{estimate.summary(os.cpu_count() or 1)}")
    for line in [
        *estimate.beyond(shutil.disk_usage(".").free, psutil.virtual_memory().total),
        *_beyond(experiment, changed or (), estimate),
    ]:
        print(line)


def _beyond(experiment: str, changed: Sequence[str], estimate) -> Iterator[str]:
    """What an experiment asks of endpoints and hardware, in lines."""
    from secateur.planning.foretold import load_prices, needs
    from secateur.planning.plan import variants
    from secateur.planning.sizes import Data

    prices, overrides = load_prices(CONF), tuple(changed)
    planned = variants(CONF, experiment, overrides)
    asked = needs(CONF, planned, Data(CONF, overrides, {(v.corpus, None) for v in planned}), prices, overrides)
    if rows := asked.rows(prices):
        amounts = [row[prices.currency] for row in rows if row[prices.currency] is not None]
        yield f"\n{aligned(rows)}\n"
        cost = (
            f"about {sum(amounts):.2f} {prices.currency} at prices of {prices.date} (conf/prices.yaml)"
            if amounts
            else ""
        )
        yield f"Whole experiment, contexts at full budget and replies at full length{': ' * bool(cost)}{cost}"
    if asked.uncounted:
        yield f"not counted: {', '.join(asked.uncounted)}"
    read = Counter()
    for job in estimate.jobs:
        option_names = {part for segment in job.record.split("/") for part in segment.split(".")}
        names = [name for name in asked.models if name.rpartition(" ")[2] in option_names and name.startswith("lm.")]
        read.update(dict.fromkeys(names, job.tokens))
    yield from asked.hardware(prices, read)


def estimate_of(experiment: str, changed: Sequence[str], jobs: Sequence[Job] | None = None):
    """The Estimate of the jobs that would run for an experiment. jobs: these, where they are known."""
    from secateur.planning.costs import estimate
    from secateur.planning.dry_run import jobs_to_run
    from secateur.planning.pace import jobs_here, load_coefficients
    from secateur.planning.plan import variants

    jobs = jobs_to_run(experiment, changed) if jobs is None else jobs
    overrides = tuple(changed)
    planned = variants(CONF, experiment, overrides)
    return estimate(jobs, jobs_here(RESULTS), load_coefficients(SHIPPED), CONF, planned, overrides)


def status() -> None:
    """List running jobs, failed jobs and locks."""
    locks = list(Path(".snakemake/locks").glob("*"))
    rules, driving = sorted(workers().values()), drivers()
    print(f"running     {len(rules)} jobs" + (f": {', '.join(rules)}" if rules else ""))
    print(f"SLURM       {_queued()}")
    print(f"drivers     {len(driving)}" + (f": process {', '.join(map(str, driving))}" if driving else ""))
    if locks and not driving:
        print("lock        a run was killed, or another machine drives it. Fix: secateur resume, if no machine does")
    failures = sorted(Path("results").rglob("failure.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    print(f"failed      {len(failures)} jobs")
    for path in failures[:FAILURES]:
        record = read_json(path)
        job, reason = f"{record['stage']} {' '.join(record['axes'].values())}", record["failure"].splitlines()[0]
        print(f"  {job}\n    {reason}\n    {path}")


def _queued() -> str:
    try:
        jobs = leftovers.jobs(Path.cwd())
    except SecateurError as error:
        return str(error)
    names = ", ".join(f"{job.job} {job.rule} {job.state.lower()}" for job in jobs)
    return f"{len(jobs)} jobs" + (f": {names}" if jobs else "")


def doctor(
    experiment: Annotated[str | None, Argument(help="Also check what this experiment needs.")] = None,
    changed: Overrides = None,
) -> None:
    """Check packages, models, data, disk, locks, MLflow and SLURM. The exit code is 1 if a check fails."""
    from secateur.commands.doctor import checks, checks_of

    failed = 0
    needed = checks_of(experiment_named(experiment), tuple(changed or ())) if experiment else ()
    for name, passed, text in chain(checks(), needed):
        print(f"{'ok  ' if passed else 'FIX '} {name:10} {text}")
        failed += not passed
    if failed:
        raise SystemExit(1)


def clean(
    delete: Annotated[bool, Option("--delete", help="Delete what is listed.")] = False,
    days: Annotated[float, Option(min=1, help="Days without use after which a cache entry is listed.")] = 30,
) -> None:
    """List what can be deleted: outputs that no experiment uses, partial files, cache entries no longer read."""
    from secateur.planning.cleaning import orphaned, size, unread

    at_root()
    if delete and (drivers() or workers()):
        raise SecateurError("a run is active in this folder. Fix: wait until it has ended.")
    cache = Path(os.environ.get("SECATEUR_CACHE", ".cache"))
    listed = {str(path): (why, [path]) for path, why in orphaned(Path(), cache)}
    for name, paths in unread(cache, days).items():
        listed[f"{cache / name}/..."] = (f"{len(paths)} entries; the file system notes no use for {days:g} days", paths)
    sizes = {place: sum(map(size, paths)) for place, (_, paths) in listed.items()}
    rows = [{"MB": f"{sizes[place] / 1e6:.1f}", "path": place, "why": why} for place, (why, _) in listed.items()]
    print(aligned(rows) if rows else "nothing to delete")
    for path in chain.from_iterable(paths for _, paths in listed.values()) if delete else []:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if rows:
        print(f"{sum(sizes.values()) / 1e6:.1f} MB {'deleted' if delete else 'can be deleted; --delete does'}")
    print(f"{RESULTS}: {size(RESULTS) / 1e6:.1f} MB, {cache}: {size(cache) / 1e6:.1f} MB")
