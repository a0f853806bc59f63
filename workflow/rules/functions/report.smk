# Reports runs to MLflow.

import subprocess
from contextlib import nullcontext

from secateur.core.events import EVENTS, tell

TRACKING_SECONDS = 120  # limit for a tracking server; a local store has none


def experiment_name(_):
    """The name of the experiment."""
    return EXPERIMENT


def track(log=None):
    """Write all runs to MLflow, in a process of its own, so that its failure does not fail the run.

    log: file for its output; None for the terminal. Returns whether MLflow has all runs.
    """
    command = [sys.executable, "-m", "secateur.cli", "track"]
    is_server = os.environ.get("MLFLOW_TRACKING_URI", "").startswith("http")
    timeout = TRACKING_SECONDS if is_server else None
    try:
        with log.open("w") if log else nullcontext() as output:
            env = os.environ | ({EVENTS: ""} if log else {})
            done = subprocess.run(command, check=False, timeout=timeout, stdout=output, stderr=output, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        tell(f"MLflow: {error}. Nothing is lost. Fix: secateur track")
        return False
    return done.returncode == 0


def track_success():
    """Write all runs to MLflow; if that fails, the next run repeats the last job and tries again."""
    if not track():
        Path(f"results/experiments/{EXPERIMENT}/track/run.json").unlink(missing_ok=True)


def track_failure():
    """Write all runs to MLflow silently: the failure's message stays the last one on the terminal."""
    log = Path("logs/mlflow.log")
    log.parent.mkdir(exist_ok=True)
    track(log)
