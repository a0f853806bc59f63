"""What is tried: by a seed, every fault on every stage that it can strike, and kills until there are enough of them.

Each trial has a seed of its own, made of its fault, its stage and its number: one alone is the same as among others.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from . import drivers, repeated, stores
from .faults import FAULTS, Fault
from .jobs import Spec
from .process import Ended
from .tree import Tree
from .trial import Trial, tried, undisturbed

__all__ = ["SCENES", "Chaos"]

SCENES = drivers.SCENES | stores.SCENES | repeated.SCENES
COLD = 0.3  # share of kills in a run whose caches are empty
LONG = ("select_greedily",)  # stages that take ten seconds and more with cold caches


class Chaos:
    """Trials on a tree. stages, faults: those alone whose name contains one of these words, all where there are none."""

    def __init__(self, tree: Tree, seed: int, stages: tuple[str, ...] = (), faults: tuple[str, ...] = ()) -> None:
        self.tree, self.seed, self.faults, self.skipped = tree, seed, faults, {}
        self.jobs: dict[str, list[Spec]] = {}
        self._alone: dict[str, Ended] = {}
        for spec in tree.specs:
            if not stages or spec.rule in stages:
                self.jobs.setdefault(spec.rule, []).append(spec)

    def trials(self, kills: int, tries: int, scenes: int) -> Iterator[Trial]:
        """At least so many kills of stages, each other fault so often on each stage, each scene so often."""
        deaths = [fault for fault in self._asked() if fault.kills]
        found, rules = 0, list(dict.fromkeys(spec.rule for spec in self.tree.specs))
        for n in range(kills if deaths else 0):
            for rule in self.jobs:
                if found < kills:
                    fault = deaths[(n + rules.index(rule)) % len(deaths)]
                    for trial in self._tried(fault, rule, n):
                        found += trial.kills
                        yield trial
        for fault in self._asked():
            for n in range(0 if fault.kills else tries):
                for rule in self.jobs:
                    yield from self._tried(fault, rule, n)
        asked = [name for name in SCENES if not self.faults or any(word in name for word in self.faults)]
        for n in range(scenes):
            for name in asked:
                yield replace(SCENES[name](self.tree, Random(f"{self.seed} {name} {n}")), fault=name)

    def _asked(self) -> list[Fault]:
        """The faults of stages that are tried; of others it is said why they are not."""
        asked = [one for one in FAULTS if not self.faults or any(word in one.name for word in self.faults)]
        self.skipped |= {fault.name: fault.skipped for fault in asked if not fault.needs()}
        return [fault for fault in asked if fault.needs()]

    def _tried(self, fault: Fault, rule: str, n: int) -> Iterator[Trial]:
        """One trial; none where a fault finds nothing to strike."""
        rng = Random(f"{self.seed} {fault.name} {rule} {n}")
        spec = rng.choice(self.jobs[rule])
        if spec.name not in self._alone:
            self._alone[spec.name] = undisturbed(self.tree, spec)
        targets = fault.targets(self.tree, spec, self._alone[spec.name])
        cold = fault.kills and rule not in LONG and rng.random() < COLD
        if targets:
            yield tried(self.tree, spec, fault, rng.choice(targets), rng, cold)
