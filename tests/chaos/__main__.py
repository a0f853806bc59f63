"""Kill and harm a finished run, by a seed; print what came of it. `make chaos SEED=1 KILLS=200`."""

import argparse
import json
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.support.project import copy_project

from .process import preload
from .schedule import Chaos
from .table import printed, rows
from .tree import EXPERIMENT, Tree
from .trial import WRONG

SHOWN = 1000  # first characters of what is wrong with a trial


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200, help="of stages, at least")
    parser.add_argument("--tries", type=int, default=1, help="of each other fault on each stage")
    parser.add_argument(
        "--scenes", type=int, default=3, help="of each scene with a driver, MLflow or a run that is repeated"
    )
    parser.add_argument("--stage", action="append", default=[], help="this rule alone; may be given again")
    parser.add_argument("--fault", action="append", default=[], help="faults with this in their name alone")
    parser.add_argument("--change", action="append", default=[], help="changes with this in their name alone")
    parser.add_argument("--run", type=Path, help=f"a clone in which {EXPERIMENT} has run; made where none is given")
    parser.add_argument("--verbose", action="store_true", help="a line for each trial")
    parser.add_argument("--json", type=Path, default=Path("results/bench/chaos.json"))
    return parser.parse_args()


def _finished(folder: Path) -> Path:
    project = copy_project(folder / "run")
    done = project.snakemake("--profile", f"profiles/{EXPERIMENT}")
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return project.root


def main() -> None:
    """Exit code 1 where a trial went wrong."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kept = asked.run or _finished(Path(folder))
        preload(few=bool(asked.stage))
        tree, trials = Tree(kept, Path(folder, "tree")), []
        tree.changes = tuple(asked.change)
        chaos = Chaos(tree, asked.seed, tuple(asked.stage), tuple(asked.fault))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("SIGTERM: what was tried until then stands above"))
        try:
            for trial in chaos.trials(asked.kills, asked.tries, asked.scenes):
                trials.append(trial)
                if trial.verdict == WRONG:
                    print(f"WRONG {trial.fault} · {trial.stage} · {trial.target}\n  {trial.why[:SHOWN]}", flush=True)
                elif asked.verbose:
                    print(f"{trial.verdict}: {trial.fault} · {trial.stage} · {trial.target}", flush=True)
        finally:  # what was tried until then is told, whatever ends it
            found = rows(trials, chaos.skipped)
            print(printed(found))
            asked.json.parent.mkdir(parents=True, exist_ok=True)
            told = {"seed": asked.seed, "faults": found, "trials": [asdict(trial) for trial in trials]}
            asked.json.write_text(json.dumps(told, indent=1, default=str) + "\n")
    sys.exit(any(trial.verdict == WRONG for trial in trials))


if __name__ == "__main__":
    main()
