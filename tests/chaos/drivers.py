"""What may happen to the driver of a run: it is killed, there are two, the clock is wrong, its path is odd."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from .jobs import Spec
from .process import Ended, forked, waits_for
from .tree import EXPERIMENT, Tree
from .trial import REFUSED, RIGHT, WRONG, Trial, ran

__all__ = ["SCENES", "command", "env_of"]

CHEAP = ("build_runs", "describe_dataset", "evaluate_rankings")
CHEAP += ("evaluate_selection", "propose_passages", "select_context")
PROFILE = ("--profile", f"profiles/{EXPERIMENT}", "--cores", "1")
DAY = 86_400
SKEWS = (-40 * 365 * DAY, -DAY, -1, 1, DAY, 40 * 365 * DAY)  # seconds by which the clock was wrong
SKEWED = "This could indicate a clock skew problem"  # Snakemake's own words, with both files and their times
SHOWN = 2000  # last characters of what a driver said


def command(main: str, *argv: str) -> Callable[[], None]:

    def call() -> None:
        module, _, name = main.partition(":")
        sys.argv = list(argv)
        getattr(__import__(module, fromlist=[name]), name)()

    return call


def env_of(tree: Tree) -> dict[str, str]:
    """Of a driver, and of the jobs that it starts: this library and this Python; MLflow is away."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": f"{tree.root / 'workflow'}{os.pathsep}{tree.root}"}
    return own | {"PYTHONNOUSERSITE": "1", "MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}


def driven(tree: Tree, *args: str, at: int | None = None) -> Ended:
    """`snakemake ARGS`, which kills itself before its event number `at`."""
    return forked(tree.root, command("snakemake.cli:main", "snakemake", *PROFILE, *args), at, env_of(tree))


def _secateur(tree: Tree, *args: str) -> Ended:
    return forked(tree.root, command("secateur.cli:main", "secateur", *args), env=env_of(tree))


def _some(tree: Tree, rng: Random) -> Spec:
    """A job that takes little: what is looked at is its driver."""
    return rng.choice([spec for spec in tree.specs if spec.rule in CHEAP])


def _after(tree: Tree, spec: Spec, ended: Ended) -> str | None:
    """What is wrong after a driver has ended well; None where nothing."""
    if ended.code:
        return f"exit code {ended.code}: {ended.said[-SHOWN:]}"
    if wrong := tree.wrong(spec):
        return wrong
    locks = list((tree.root / ".snakemake/locks").glob("*"))
    litter = tree.litter()
    return f"locks: {locks}" if locks else f"litter: {', '.join(litter)}" if litter else None


def _settled(tree: Tree, spec: Spec) -> None:
    for one in [spec, *(job for job in tree.specs if job.rule == "track_variants")]:
        tree.restore(one)
    shutil.rmtree(tree.root / ".snakemake/locks", ignore_errors=True)
    tree.swept()


def _killed(whole: bool) -> Callable[[Tree, Random], Trial]:
    def scene(tree: Tree, rng: Random) -> Trial:
        spec = _some(tree, rng)
        target = spec.output["record"]
        tree.clear(spec)
        if not tree.driven:
            tree.driven = len(driven(tree, "--", target).events)
            tree.clear(spec)
        ended = driven(tree, "--", target, at=rng.randrange(1, tree.driven + 1))
        if whole and ended.killed:
            _end_jobs(ended)
        wrong = tree.wrong(spec, partly=True)
        again = _secateur(tree, "resume") if ended.killed else ended
        if not wrong and not again.code and tree.wrong(spec):  # killed before it was noted as the last run
            again = driven(tree, "--", target)
        wrong = wrong or _after(tree, spec, again)
        _settled(tree, spec)
        return Trial("", "the driver", WRONG if wrong else RIGHT, int(ended.killed), wrong or "", target)

    return scene


def _end_jobs(ended: Ended) -> None:
    """The jobs of a driver end with it, as where a machine loses its power."""
    try:
        os.killpg(ended.process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _two(tree: Tree, rng: Random) -> Trial:
    """A second driver begins while the first one is at work."""
    spec = _some(tree, rng)
    tree.clear(spec)
    locks = tree.root / ".snakemake/locks"

    def both() -> None:
        first = os.fork()
        if first == 0:
            command("snakemake.cli:main", "snakemake", *PROFILE, "--", spec.output["record"])()
            os._exit(0)
        waits_for(lambda: any(locks.glob("*")))
        command("secateur.cli:main", "secateur", "run", EXPERIMENT, "--profile", EXPERIMENT, "--cores", "1")()

    second = forked(tree.root, both, env=env_of(tree))
    waits_for(lambda: not any(locks.glob("*")))
    wrong = _after(tree, spec, Ended(0, "", (), 0))
    verdict = RIGHT if second.code == 0 else REFUSED
    if second.code and ("Traceback" in second.said or "Fix:" not in second.said):
        wrong = wrong or f"exit code {second.code}: {second.said[-SHOWN:]}"
    _settled(tree, spec)
    return Trial("", "the driver", WRONG if wrong else verdict, 0, wrong or "", second.said[-300:])


def _skewed(tree: Tree, rng: Random) -> Trial:
    """Inputs that were written yesterday, tomorrow, or in another century."""
    spec, skew = _some(tree, rng), rng.choice(SKEWS)
    tree.clear(spec)
    before = {path: (tree.root / path).stat() for path in spec.tables}
    for path in spec.tables:
        now = max(0.0, time.time() + skew)
        os.utime(tree.root / path, (now, now))
    ended = driven(tree, "--allowed-rules", spec.rule, "--", spec.output["record"])
    refused = ended.code == 1 and SKEWED in ended.said and "Traceback" not in ended.said
    partly = tree.wrong(spec, partly=True)
    for path, was in before.items():
        os.utime(tree.root / path, ns=(was.st_atime_ns, was.st_mtime_ns))
    wrong = partly or _after(tree, spec, driven(tree, "--", spec.output["record"]) if refused else ended)
    _settled(tree, spec)
    return Trial("", "the driver", WRONG if wrong else REFUSED if refused else RIGHT, 0, wrong or "", skew)


def _elsewhere(tree: Tree, rng: Random) -> Trial:
    """A clone in a folder whose name has spaces, quotes and letters of other scripts."""
    other = Tree(tree.kept, tree.root.parent / "a folder, 'ä ö' 東京")
    specs = rng.sample([spec for spec in other.specs if spec.rule != "select_greedily"], 8)
    wrong = None
    for spec in specs:
        other.clear(spec)
        ended = ran(other, spec)
        wrong = wrong or (f"{spec.name}: {ended.said}" if ended.code else other.wrong(spec))
    spec = _some(other, rng)
    other.clear(spec)
    wrong = wrong or _after(other, spec, driven(other, "--", spec.output["record"]))
    shutil.rmtree(other.root)
    return Trial("", "8 stages and the driver", WRONG if wrong else RIGHT, 0, wrong or "")


SCENES = {
    "driver killed, its job goes on": _killed(whole=False),
    "driver killed with its job": _killed(whole=True),
    "two drivers at once": _two,
    "the clock is wrong": _skewed,
    "spaces, quotes and 東京 in the path": _elsewhere,
}
