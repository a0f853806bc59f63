"""One trial: a stage under a fault, what came of it, and the same stage again when the fault is gone."""

import re
import runpy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .faults import Fault, Strike
from .jobs import Spec
from .process import Ended, forked
from .tree import EXPERIMENT, Tree

__all__ = ["OLD", "REFUSED", "RIGHT", "WRONG", "Trial", "ran", "refusal", "tried", "undisturbed"]

RIGHT, REFUSED, WRONG = "right answer", "clear refusal", "wrong"
OLD = "an old figure was printed"
OWN = {"SECATEUR_EXPERIMENT": EXPERIMENT}


@dataclass(frozen=True)
class Trial:
    fault: str
    stage: str
    verdict: str
    kills: int = 0
    why: str = ""
    target: Any = field(default=None)


def ran(tree: Tree, spec: Spec, strike: Strike = Strike()) -> Ended:  # noqa: B008 (nobody changes it)

    def call() -> None:
        strike.inside()
        runpy.run_path(f"scripts/{spec.rule}.py", {"snakemake": spec.described()})

    return forked(tree.root, call, strike.at, OWN | strike.env)


def undisturbed(tree: Tree, spec: Spec) -> Ended:
    """A job by itself. Raises where that alone gives something else than the whole run did."""
    tree.clear(spec)
    with tree.watched(spec):
        ended = ran(tree, spec)
    wrong = tree.wrong(spec) or (f"litter: {found}" if (found := tree.litter()) else None)
    if ended.code or wrong:
        raise AssertionError(f"{spec.name}, undisturbed: {wrong}; exit code {ended.code}; {ended.said}")
    tree.restore(spec)
    return ended


def refusal(said: str, head: str, names: tuple[str, ...]) -> str | None:
    """What is wrong with the words of a refusal: one message, with one of the names and what to do; None where nothing."""
    if "Traceback (most recent call last)" in said:
        return f"a traceback: {said}"
    told = [line for line in said.splitlines() if re.match(head, line)]
    if len(told) != 1:
        return f"{len(told)} messages: {said}"
    if "Fix: " not in told[0]:
        return f"no fix: {told[0]}"
    if names and not any(name in told[0] for name in names):
        return f"none of {', '.join(names)} is named: {told[0]}"
    return None


def _came(tree: Tree, spec: Spec, ended: Ended, strike: Strike) -> tuple[str, str]:
    if ended.code is None:
        return WRONG, f"hung: {ended.said}"
    if ended.code == 0:
        wrong = tree.wrong(spec)
        return (WRONG, f"exit code 0, but {wrong}") if wrong else (RIGHT, "")
    if wrong := tree.wrong(spec, partly=True):
        return WRONG, f"exit code {ended.code}, and {wrong}"
    if ended.killed and strike.at:
        return RIGHT, ""
    wrong = refusal(ended.said, rf"{spec.rule}: ", strike.names)
    if ended.code != 2:
        return WRONG, f"exit code {ended.code}: {wrong or ended.said}"
    return (WRONG, wrong) if wrong else (REFUSED, "")


def tried(tree: Tree, spec: Spec, fault: Fault, target: Any, rng: Random, cold: bool) -> Trial:
    """Strike a job, look at what it left, let it run again, and look at that; the tree is as before."""
    tree.clear(spec)
    with fault.strike(tree, spec, target, rng) as strike:
        if cold and not strike.env:
            strike.env |= tree.cold()
        ended = ran(tree, spec, strike)
        verdict, why = _came(tree, spec, ended, strike)
    if verdict != WRONG:
        if verdict == REFUSED or ended.killed:
            tree.clear(spec)
        again = ran(tree, spec, Strike(env=strike.env))
        if again.code:
            verdict, why = WRONG, f"not mended by running again: exit code {again.code}: {again.said}"
        elif wrong := tree.wrong(spec):
            verdict, why = WRONG, f"run again, {wrong}"
    tree.restore(spec)
    if verdict != WRONG and (litter := tree.litter()):
        verdict, why = WRONG, f"litter: {', '.join(litter)}"
    tree.swept()
    return Trial(fault.name, spec.rule, verdict, int(ended.killed), why, target)
