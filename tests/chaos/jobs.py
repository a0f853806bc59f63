"""Every job of a finished run, as plain data: what Snakemake would hand to each script."""

import json
import os
import signal
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

from tests.support.rules import read_rules

__all__ = ["Spec", "found"]

Named = dict[str, list[str]]


@dataclass(frozen=True)
class Spec:
    """One job: its rule, and files and settings by name; paths are relative to the project."""

    rule: str
    wildcards: dict[str, str]
    input: Named
    output: dict[str, str]
    params: dict[str, str]
    log: str

    @property
    def name(self) -> str:
        """The record's folder, which no two jobs share."""
        return str(Path(self.output["record"]).parent)

    @property
    def files(self) -> list[str]:
        """Every file that it makes, the record last."""
        return sorted(self.output.values(), key=lambda path: path == self.output["record"])

    @property
    def tables(self) -> list[str]:
        return sorted({path for paths in self.input.values() for path in paths if path.endswith(".parquet")})

    def described(self) -> SimpleNamespace:
        """What its script reads under the name `snakemake`."""
        named = [_Named(one) for one in (self.input, self.output, self.params, self.wildcards)]
        given = dict(zip(("input", "output", "params", "wildcards"), named, strict=True))
        return SimpleNamespace(rule=self.rule, log=[self.log], threads=1, **given)


class _Named(dict):
    __getattr__ = dict.__getitem__


def found(root: Path, experiment: str) -> list[Spec]:
    """The jobs behind an experiment, each after those whose files it reads. Read once, and kept beside the results."""
    kept = root / "jobs.json"
    if not kept.exists():
        # Snakemake changes the process that reads a workflow. A pool ends its own with SIGTERM, of which ours would tell.
        with get_context("fork").Pool(1, signal.signal, (signal.SIGTERM, signal.SIG_DFL)) as alone:
            kept.write_text(alone.apply(_read, (root, experiment)))
    return [Spec(**one) for one in json.loads(kept.read_text())]


def _read(root: Path, experiment: str) -> str:
    os.chdir(root)
    with read_rules(root, experiment) as workflow:
        jobs: dict[str, dict] = {}
        rules = list(workflow.rules)
        for path in next(rule for rule in rules if rule.name == "all").input:
            _visit(str(path), rules, jobs)
        return json.dumps(list(jobs.values()))


def _visit(path: str, rules: list, jobs: dict[str, dict]) -> None:
    """Add the job that makes a file, behind those that make its inputs."""
    from snakemake.iocontainers import Wildcards

    rule = next((one for one in rules if one.is_producer(path)), None)
    if rule is None or any(path in job["output"].values() for job in jobs.values()):
        return
    own = rule.get_wildcards(path)
    wildcards = Wildcards(fromdict=own)
    inputs, outputs = rule.expand_input(wildcards)[0], rule.expand_output(wildcards)[0]
    for one in inputs:
        _visit(str(one), rules, jobs)
    params = {name: value(wildcards) if callable(value) else value for name, value in rule.params.items()}
    jobs[path] = {
        "rule": rule.name,
        "wildcards": dict(own),
        "input": {name: [value] if isinstance(value, str) else list(value) for name, value in inputs.items()},
        "output": dict(outputs.items()),
        "params": params,
        "log": str(rule.expand_log(wildcards)[0]),
    }
