"""A run under other settings, data or code fails once; its cause is repaired and the same command is repeated.

In between, commands print no figure of the settings before; afterwards the figures are those of an undisturbed run.
"""

import json
import os
import resource
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random

from secateur.config import code
from secateur.core.artifacts import write_json
from secateur.planning.dry_run import arguments
from secateur.stage import provenance
from tests.support.project import PARTS

from . import disks
from .drivers import command, env_of
from .faults import Strike, cut, flipped
from .jobs import Spec
from .process import Ended
from .quick import OWN, Jobs
from .served import Chat, serving
from .tree import EXPERIMENT, Tree
from .trial import OLD, RIGHT, WRONG, Trial, refusal

__all__ = ["SCENES", "Change"]

HOME = f"results/experiments/{EXPERIMENT}"
PASSAGES, TURNS = (f"data/toy/{name}_smoke/passages.jsonl" for name in ("documents", "dialogue"))
QUESTIONS, ASKED = (f"data/toy/{name}_smoke/questions.jsonl" for name in ("documents", "dialogue"))
PRINTED = {
    "table": ("table", EXPERIMENT),
    "compare": ("compare", EXPERIMENT, "graph_zsum", "rankers/zsum", "--metric", "evidence_recall@claim"),
    "show": ("show", EXPERIMENT, "doc-q01", "--system", "graph_zsum", "--order", "blind"),
}
OTHER = "figures of "  # what a note on figures of other code says
PROFILE, CORES = ("--profile", f"profiles/{EXPERIMENT}"), ("--cores", "2")  # a failure ends it; that of `run` goes on
MUTED = {"timeout": 5, "delays": [0], "max_wait": 1, "concurrency": 1, "backend": "chat", "model": "any"}
SHOWN = 1500  # last characters of what a driver said
RESTORED = ("results", ".snakemake", *PARTS)


@dataclass(frozen=True)
class Change:
    """What differs between two runs. overrides: settings; edits: (file, text in it, another text); moves: a figure."""

    kind: str
    name: str
    overrides: tuple[str, ...] = ()
    edits: tuple[tuple[str, str, str], ...] = ()
    served: bool = False
    moves: bool = True


def _set(*overrides: str) -> Change:
    return Change("settings", " ".join(overrides), overrides)


def _edited(kind: str, file: str, old: str, new: str) -> Change:
    return Change(kind, file, (), ((file, old, new),))


# Each moves a digit of the table; between them every rule of the experiment runs.
SHORT = "answer.max_tokens=2"  # beside what makes answers anew, which take a minute
CHANGES = (
    _set("eval.claim=[64]"),
    _set("eval.seed=11", "eval.claim=[128]"),
    _set("dataset.cutoffs=[1,3]"),
    _set("ecs.percentile=0.6"),
    _set("policy.alpha=0.1", "policy.seed=3"),
    _set("eval.read_shares=[0.5,1.0]", "eval.samples=2", "eval.claim=[64,128]"),
    _set("ecs.pool=4"),
    _edited(
        "code",
        "workflow/secateur/evaluation/compared.py",
        "summarise(part)",
        'summarise(part.with_columns(pl.col("value") / 2))',
    ),
    Change(
        "code",
        "scripts/prepare_model.py",
        (),
        (("scripts/prepare_model.py", '"weights": ', '"again": 1, "weights": '),),
        moves=False,
    ),
    _edited("data", TURNS, "I signed it on Friday.", "Fergus and Agnieszka work for Jonas now."),
    _set("assembly.budget=128", SHORT),
    _set("retriever.w_dense=0", SHORT),
    _set("memory.questions=1", "memory.fresh=100", SHORT),
    _set("embedder.max_tokens=8", "embedder.tau=0.9", "consolidation.tau=0.5", "consolidation.guarded=false", SHORT),
    Change("settings", "answer.url", served=True),
    _edited("code", "scripts/rank_by_graph.py", "without_excluded(scores, block,", "without_excluded(-scores, block,"),
    Change(
        "data",
        "data/toy/documents_smoke",
        edits=(
            (PASSAGES, "Tessaly Market Limited, a Lisbon marketplace for second-hand furniture,", "It"),
            (QUESTIONS, "are subject to the Digital Services Act?", "does the Digital Services Act bind?"),
        ),
    ),
)


@dataclass(frozen=True)
class _Figures:
    """What a run's commands print, and its figures. records: what each job states, by its record; None for one that failed."""

    metrics: bytes
    printed: dict[str, str]
    records: dict[str, list]


class Repeats:
    """Runs of one tree that fail once. The tree is as before after each trial."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.env = tree, env_of(tree)
        self.jobs = Jobs(tree.root, tree.jobs or tree.root.parent / "jobs")
        self.port = _free_port()
        self._runs: dict[Change, _Figures] = {}
        self._kept: dict[Path, tuple] = {}
        for spec in tree.specs:
            self.jobs.keep(spec)
        _parse_once(tree)
        self.before = _Figures(self._metrics(), self._printed(), self._records())
        self.changes = [
            c for c in CHANGES if c.served or not tree.changes or any(word in c.name for word in tree.changes)
        ]
        self.reset()

    def reset(self) -> None:
        """Files of the project and of results as in the finished run; records are written last, as by their stages."""
        for name in RESTORED:
            target, source = self.tree.root / name, self.tree.kept / name
            files = {path.relative_to(source): path for path in _files(source)} if source.is_dir() else {Path(): source}
            for path in _files(target) if target.is_dir() else []:
                if path.relative_to(target) not in files:
                    path.unlink()
            changed = {path for path in files if self._kept.get(target / path) != _seen(target / path)}
            folders = {path.parent for path in changed}
            if name == "results":
                changed |= {path for path in files if path.parent in folders}
            for path in sorted(changed, key=lambda path: path.name == "run.json"):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).unlink(missing_ok=True)
                shutil.copy2(files[path], target / path)
            self._kept |= {target / path: _seen(target / path) for path in changed}
        shutil.rmtree(self.tree.root / "cold", ignore_errors=True)
        self.jobs.fresh = False

    def figures(self, change: Change) -> _Figures:
        """The figures of an undisturbed run from nothing."""
        if change not in self._runs:
            self.apply(change)
            shutil.rmtree(self.tree.root / "results")
            shutil.rmtree(self.tree.root / ".snakemake/metadata", ignore_errors=True)
            with self.serving(change):
                ended = self.run(change)
            if ended.code:
                raise AssertionError(f"{change.name}, undisturbed: exit code {ended.code}: {ended.said[-SHOWN:]}")
            self._runs[change] = _Figures(self._metrics(), self._printed(), self._records())
            self.reset()
            if change.moves and self._runs[change].printed["table"] == self.before.printed["table"]:
                raise AssertionError(f"{change.name}: it moves no figure")
        return self._runs[change]

    def rerun(self, change: Change) -> list[Spec]:
        """The jobs whose settings, code or inputs a change alters."""
        try:
            after = self.figures(change).records
        except AssertionError as error:
            print(f"left out: {error}", file=sys.stderr, flush=True)
            self.reset()
            self.changes.remove(change)
            return []
        return [
            s
            for s in self.tree.specs
            if after.get(s.output["record"]) not in (None, self.before.records[s.output["record"]])
        ]

    def apply(self, change: Change) -> None:
        for name, old, new in change.edits:
            path = self.tree.root / name
            text = path.read_text()
            if old not in text:
                raise AssertionError(f"{name}: {old!r} is not there")
            path.write_text(text.replace(old, new, 1))
        self.jobs.fresh = change.kind == "code"

    def overrides(self, change: Change) -> tuple[str, ...]:
        if not change.served:
            return change.overrides
        given = {"url": f"http://127.0.0.1:{self.port}/v1"} | MUTED
        return tuple(f"answer.{name}={json.dumps(value)}" for name, value in given.items())

    def serving(self, change: Change):
        return serving(self.tree, Chat, [], False, self.port) if change.served else nullcontext()

    # --- commands

    def driver(self, change: Change | None, whole: bool) -> Callable[[], None]:
        """`secateur run`, or Snakemake by itself."""
        overrides = self.overrides(change) if change else ()
        if whole:
            given = [word for value in overrides for word in ("--set", value)]
            return command("secateur.cli:main", "secateur", "run", EXPERIMENT, *CORES, "--plain", *given)
        return command("snakemake.cli:main", "snakemake", *PROFILE, *CORES, *OWN, *arguments(EXPERIMENT, overrides))

    def run(self, change: Change | None, whole: bool = False) -> Ended:
        return self.jobs.run(self.env, self.driver(change, whole))

    def secateur(self, *words: str) -> Ended:
        return self.jobs.run(self.env, command("secateur.cli:main", "secateur", *words))

    def planned(self, change: Change | None) -> str:
        """What `secateur plan` says."""
        given = [word for value in (self.overrides(change) if change else ()) for word in ("--set", value)]
        return self.secateur("plan", EXPERIMENT, *given).said

    # --- what is there

    def _metrics(self) -> bytes:
        return (self.tree.root / HOME / "metrics.parquet").read_bytes()

    def _printed(self) -> dict[str, str]:
        printed = {}
        for name, words in PRINTED.items():
            ended = self.secateur(*words)
            if ended.code:
                raise AssertionError(f"{' '.join(words)}: {ended.said}")
            printed[name] = ended.said
        return printed

    def _records(self) -> dict[str, list]:
        records = {}
        for path in sorted((self.tree.root / "results").rglob("run.json")):
            record = json.loads(path.read_text())
            records[str(path.relative_to(self.tree.root))] = [record["config"], record["code"], record["inputs"]]
        return records

    def differs(self, right: _Figures) -> str | None:
        """What is wrong with the figures that are there and those that are printed; None where nothing."""
        if self._metrics() != right.metrics:
            old = self._metrics() == self.before.metrics
            return f"{OLD}: metrics.parquet is of the run before" if old else "metrics.parquet differs"
        ended = self.secateur(*PRINTED["table"])
        if ended.code or ended.said != right.printed["table"]:
            return (
                f"{OLD}: " * (ended.said == self.before.printed["table"]) + f"the table differs: {ended.said[-SHOWN:]}"
            )
        return None

    def in_between(self, change: Change, right: _Figures, names: Sequence[str]) -> str | None:
        """What is wrong with commands that print figures while those asked for last are not there."""
        for name in names:
            ended = self.secateur(*PRINTED[name])
            if ended.code == 2:
                if wrong := refusal(ended.said, "(?=.*Fix: )", ()):
                    return f"{name}: {wrong}"
            elif ended.code:
                return f"{name}: exit code {ended.code}: {ended.said[-SHOWN:]}"
            elif ended.said != right.printed[name] and not (change.kind == "code" and self._noted(name, ended.said)):
                return f"{OLD} by {name}: {ended.said[:SHOWN]}"
        return None

    def _noted(self, name: str, printed: str) -> bool:
        """Whether the figures before are printed under a note that other code has made them."""
        return OTHER in printed.splitlines()[0] and printed.endswith(self.before.printed[name])


def _parse_once(tree: Tree) -> None:
    """Parse the library in this process: forks find its syntax by its text, a third of a plan's time."""
    for rule in {spec.rule for spec in tree.specs}:
        provenance.code_digest(rule, tree.root)
    for of_paths in (provenance.code_digest, provenance._rules, code.imports):
        of_paths.cache_clear()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]


def _seen(path: Path) -> tuple | None:
    try:
        stat = path.lstat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- causes ----------------------------------------------------------------------------------------

Cause = Callable[[Repeats, Spec, Random], "Struck"]


@dataclass
class Struck:
    """How a job is made to fail: when it is asked for, and what repairs the cause."""

    strike: Callable[[Spec], Strike]
    repair: Callable[[], None] = lambda: None


def put(path: Path, content: bytes) -> None:
    """Give a file another content and its old date, as a disk does whose bit flips."""
    before = path.stat()
    half = path.with_name(f".{path.name}.tmp")
    half.write_bytes(content)
    half.replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _harmed(how: Callable[[bytes, Random], bytes]) -> Cause:
    """An input of the job is harmed after its plan, before it reads it. Repaired: put back, or left to its stage."""

    def cause(repeats: Repeats, spec: Spec, rng: Random) -> Struck:
        whole: dict[Path, bytes] = {}

        def strike(asked: Spec) -> Strike:
            paths = [
                repeats.tree.root / path
                for path in asked.tables
                if (repeats.tree.root / path).with_name("run.json").exists()
            ]
            path = rng.choice([path for path in paths if path.stat().st_size])
            whole[path] = path.read_bytes()
            put(path, how(whole[path], rng))
            return Strike()

        def repair() -> None:
            if rng.random() < 0.5:
                for path, content in whole.items():
                    put(path, content)

        return Struck(strike, repair)

    return cause


def _no_space(repeats: Repeats, spec: Spec, rng: Random) -> Struck:
    def strike(asked: Spec) -> Strike:
        folder = repeats.tree.root / asked.name
        if disks.may_mount():
            return Strike(inside=lambda: disks.full(folder, 0))
        return Strike(inside=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))

    return Struck(strike)


def _killed(repeats: Repeats, spec: Spec, rng: Random) -> Struck:
    return Struck(lambda asked: Strike(at=rng.randint(1, max(1, repeats.jobs.events(asked)))))


def _invalid(repeats: Repeats, spec: Spec, rng: Random) -> Struck:
    """A data file has a line that is no JSON."""
    named = spec.rule == "prepare_corpus"
    documents = "documents" in spec.name
    path = repeats.tree.root / {True: (TURNS, PASSAGES), False: (ASKED, QUESTIONS)}[named][documents]
    lines = path.read_bytes().splitlines(keepends=True)
    broken = rng.randrange(len(lines))
    path.write_bytes(b"".join(line[: len(line) // 2] + b"\n" if n == broken else line for n, line in enumerate(lines)))

    def repair() -> None:
        path.write_bytes(b"".join(lines))

    return Struck(lambda _: Strike(), repair)


def _down(repeats: Repeats, spec: Spec, rng: Random) -> Struck:
    """Nobody listens at the endpoint's address, and no reply is kept."""
    return Struck(lambda _: Strike(env=repeats.tree.cold()))


CAUSES: dict[str, Cause] = {
    "a flipped bit of an input": _harmed(flipped),
    "an input cut short": _harmed(cut),
    "no space for the output": _no_space,
    "a kill": _killed,
    "an invalid data file": _invalid,
    "an endpoint that is down": _down,
}
READING = ("prepare_corpus", "prepare_dataset")


def _case(repeats: Repeats, name: str, rng: Random) -> tuple[Change, Spec]:
    """A change, a rule that runs under it, and one of its jobs that the cause can strike."""
    asked = name == "an endpoint that is down"
    while changes := [change for change in repeats.changes if change.served == asked]:
        change = rng.choice(changes)
        jobs = repeats.rerun(change)
        if jobs and name == "an invalid data file":
            jobs = [spec for spec in repeats.tree.specs if spec.rule in READING]  # under any change
        elif asked:
            jobs = [spec for spec in jobs if spec.rule == "answer_questions"]
        elif "input" in name:
            jobs = [spec for spec in jobs if spec.tables]
        if jobs:
            rule = rng.choice(sorted({spec.rule for spec in jobs}))
            return change, rng.choice([spec for spec in jobs if spec.rule == rule])
    raise AssertionError(f"{name}: no change moves a figure")


# --- what happens between the failure and the repeated command ---------------------------------------


def _nothing(repeats: Repeats, rng: Random, spec: Spec) -> None:
    """The cause alone is repaired."""


def _record_lost(repeats: Repeats, rng: Random, spec: Spec) -> None:
    records = [repeats.tree.root / job.output["record"] for job in repeats.tree.specs]
    rng.choice([path for path in records if path.exists()]).unlink()


def _metadata_lost(repeats: Repeats, rng: Random, spec: Spec) -> None:
    shutil.rmtree(repeats.tree.root / ".snakemake/metadata", ignore_errors=True)


def _bit_flipped(repeats: Repeats, rng: Random, spec: Spec) -> None:
    tables = [
        repeats.tree.root / path
        for job in repeats.tree.specs
        for path in job.output.values()
        if path.endswith(".parquet")
    ]
    path = rng.choice([path for path in tables if path.exists() and path.stat().st_size])
    put(path, flipped(path.read_bytes(), rng))


BETWEEN = {
    "": _nothing,
    "a record is lost": _record_lost,
    "Snakemake's metadata are lost": _metadata_lost,
    "a bit of another output is flipped": _bit_flipped,
    "the settings before are asked for": _nothing,
}
BACK = "the settings before are asked for"
ALL = 0.25  # share of trials in which every command is asked, each of which plans the run
PLAIN = 0.4  # share of trials in which the cause alone is repaired


def of_tree(tree: Tree) -> Repeats:
    """The runs of a tree that fail once."""
    if not hasattr(tree, "repeats"):
        tree.repeats = Repeats(tree)
    return tree.repeats


def failed_once(
    name: str, repeats: Repeats, change: Change, spec: Spec, between: str, whole: bool, rng: Random
) -> tuple[str, str]:
    """(verdict, why) of a run that fails once, is repaired and is repeated. whole: by `secateur run`."""
    right = repeats.figures(change)
    repeats.apply(change)
    struck = CAUSES[name](repeats, spec, rng)
    first = repeats.jobs.struck(repeats.env, repeats.driver(change, whole), spec.output["record"], struck.strike)
    if first.code == 0:
        if name == "a kill":
            return RIGHT, ""  # the last event is after all that a job does
        return WRONG, f"it did not fail: {first.said[-SHOWN:]}"
    if whole and (old := _shown(first, repeats)):
        return WRONG, old
    names = rng.sample(list(PRINTED), 3 if rng.random() < ALL else 1)
    if wrong := repeats.in_between(change, right, names):
        return WRONG, f"after the failure, {wrong}"
    struck.repair()
    BETWEEN[between](repeats, rng, spec)
    if between == BACK:
        for file, old, new in change.edits:
            path = repeats.tree.root / file
            path.write_text(path.read_text().replace(new, old, 1))
    now = repeats.before if between == BACK and change.edits else right
    if between and (wrong := repeats.in_between(change, now, names[:1])):
        return WRONG, f"after the repair, {wrong}"
    if between == BACK:
        change, right = None, repeats.before
    if rng.random() < ALL and "nothing to do" in (plan := repeats.planned(change)):
        return WRONG, f"nothing is planned: {plan[-SHOWN:]}"
    with repeats.serving(change) if change else nullcontext():
        again = repeats.run(change, whole)
    if again.code:
        return WRONG, f"repeated: exit code {again.code}: {again.said[-SHOWN:]}"
    if not repeats.jobs.ran:
        return WRONG, f"repeated: no job ran: {again.said[-SHOWN:]}"
    wrong = repeats.differs(right)
    return (WRONG, f"repeated, {wrong}") if wrong else (RIGHT, "")


def _shown(first: Ended, repeats: Repeats) -> str | None:
    """Whether a run that failed printed a board."""
    return f"{OLD} by the failed run: {first.said[-SHOWN:]}" if "What was found" in first.said else None


def _scene(name: str):
    def scene(tree: Tree, rng: Random) -> Trial:
        repeats = of_tree(tree)
        change, spec = _case(repeats, name, rng)
        between = "" if rng.random() < PLAIN else rng.choice(list(BETWEEN)[1:])
        whole = rng.random() < 0.6
        try:
            verdict, why = failed_once(name, repeats, change, spec, between, whole, rng)
        finally:
            repeats.reset()
        target = {
            "change": change.name,
            "kind": change.kind,
            "job": spec.name,
            "between": between,
            "secateur run": whole,
        }
        return Trial("", spec.rule, verdict, int(name == "a kill"), why, target)

    return scene


def _unchanged(tree: Tree, rng: Random) -> Trial:
    """Snakemake's metadata are lost: nothing runs where nothing changed, whose figures are printed; a change is noticed."""
    repeats = of_tree(tree)
    change = rng.choice([change for change in repeats.changes if not change.served])
    right, wrong = repeats.figures(change), None
    _metadata_lost(repeats, rng, tree.specs[0])
    note = tree.root / HOME / "asked.json"  # of a run that ended before its first job
    write_json(note, {"overrides": ["eval.resamples=300"], "state": None, "files": []})
    again = repeats.run(None)
    if again.code or repeats.jobs.ran:
        wrong = f"without a change: exit code {again.code}, jobs {repeats.jobs.ran}"
    wrong = wrong or repeats.differs(repeats.before)
    _metadata_lost(repeats, rng, tree.specs[0])
    repeats.apply(change)
    if not wrong and "nothing to do" in repeats.planned(change):
        wrong = "a change is not noticed"
    ended = repeats.run(change)
    wrong = wrong or (ended.said[-SHOWN:] if ended.code else repeats.differs(right))
    repeats.reset()
    return Trial("", "all", WRONG if wrong else RIGHT, 0, wrong or "", change.name)


def _flipped(tree: Tree, rng: Random) -> Trial:
    """A bit of an output flips between two runs: its stage runs again by itself."""
    repeats = of_tree(tree)
    spec = rng.choice([s for s in tree.specs if any(path.endswith(".parquet") for path in s.output.values())])
    path = rng.choice([path for path in spec.output.values() if path.endswith(".parquet")])
    put(tree.root / path, flipped((tree.root / path).read_bytes(), rng))
    wrong = repeats.in_between(CHANGES[0], repeats.before, ["table"])
    ended = repeats.run(None, whole=rng.random() < 0.5)
    if ended.code:
        wrong = wrong or f"exit code {ended.code}: {ended.said[-SHOWN:]}"
    elif spec.output["record"] not in repeats.jobs.ran:
        wrong = wrong or f"its stage did not run; {repeats.jobs.ran} did"
    wrong = wrong or tree.wrong(spec) or repeats.differs(repeats.before)
    repeats.reset()
    return Trial("", spec.rule, WRONG if wrong else RIGHT, 0, wrong or "", path)


SCENES = {f"{name} fails a run once; it is repeated": _scene(name) for name in CAUSES}
SCENES |= {
    "Snakemake's metadata are lost; it is repeated": _unchanged,
    "an output's bit flips; it is repeated": _flipped,
}
