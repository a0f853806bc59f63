# What the page shows, and how MLflow is told.

import subprocess
from contextlib import nullcontext
from dataclasses import asdict
from functools import cache

TRACKING_SECONDS = 120  # tracking has limits of its own; this is for what hangs nevertheless


@cache
def report_contents():
    """The contents of the experiment's report."""
    return PLANNED.contents(EXPERIMENT)


def report_files(_):
    """Every table that the report shows, besides metrics and comparisons."""
    return report_contents().files


def report_plan(_):
    """The contents as plain data."""
    return asdict(report_contents())


def tracked_rows(_):
    """A row a variant: labels and all files of its figures."""
    return PLANNED.rows()


def experiment_name(_):
    return EXPERIMENT


def track(log=None):
    """Tell MLflow what has been run, in a process of its own: no trouble there is one of the run.

    What it says goes to `log`, where one is given; whether MLflow knows all. A local store may take its time.
    """
    command = [sys.executable, "-m", "secateur.cli", "track"]
    timeout = TRACKING_SECONDS if os.environ.get("MLFLOW_TRACKING_URI", "").startswith("http") else None
    try:
        with log.open("w") if log else nullcontext() as said:
            done = subprocess.run(command, check=False, timeout=timeout, stdout=said, stderr=said)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"MLflow: {error}. Nothing is lost. Fix: secateur track", file=sys.stderr)
        return False
    return done.returncode == 0


def track_success():
    """Tell MLflow; where it cannot be told, leave the last job to the next run, which tries again."""
    if not track():
        Path(f"results/experiments/{EXPERIMENT}/track/run.json").unlink(missing_ok=True)


def track_failure():
    """Tell MLflow, and nobody else: the last word on the terminal is the failure's message."""
    log = Path("logs/mlflow.log")
    log.parent.mkdir(exist_ok=True)
    track(log)
