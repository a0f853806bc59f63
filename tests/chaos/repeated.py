"""A run under other settings, data or code fails once; its cause is repaired and the same command is repeated.

In between, commands print no figure of the settings before; afterwards the figures are those of an undisturbed run.
"""

import json
import os
import resource
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

from secateur.core.artifacts import write_json
from tests.support.project import ROOT, Project

from . import disks
from .faults import broken
from .jobs import Spec
from .tree import EXPERIMENT, Tree
from .trial import OLD, RIGHT, WRONG, Trial, refusal
from .watch import Watch

__all__ = ["SCENES", "Change", "strike"]

HOME = f"results/experiments/{EXPERIMENT}"
PASSAGES, TURNS = (f"data/toy/{name}_smoke/passages.jsonl" for name in ("documents", "dialogue"))
QUESTIONS, ASKED = (f"data/toy/{name}_smoke/questions.jsonl" for name in ("documents", "dialogue"))
PRINTED = {
    "table": ("table", EXPERIMENT),
    "compare": ("compare", EXPERIMENT, "graph_zsum", "rankers/zsum", "--metric", "evidence_recall@claim"),
    "show": ("show", EXPERIMENT, "doc-q01", "--system", "graph_zsum", "--order", "blind"),
}
OTHER = "figures of "  # what a note on figures of other code says
SHOWN = 1500  # last characters of what a driver said
RESTORED = ("results", ".snakemake", "workflow", "scripts", "data")
EVENTS = 4  # that each job has at least
STRIKING = """
import json, os, runpy
run, asked = runpy.run_path, json.loads(os.environ.get("CHAOS_STRIKE", "null"))
def struck(path, given, *rest):
    if asked and given["snakemake"].output.record == asked[0]:
        from tests.chaos.repeated import strike
        strike(given["snakemake"], *asked[1:])
    return run(path, given, *rest)
runpy.run_path = struck
"""


@dataclass(frozen=True)
class Change:
    """What differs between two runs. overrides: settings; edits: (file, text in it, another text)."""

    kind: str
    overrides: tuple[str, ...] = ()
    edits: tuple[tuple[str, str, str], ...] = ()

    @property
    def name(self) -> str:
        return " ".join([*self.overrides, *(file for file, *_ in self.edits)])


def _set(*overrides: str) -> Change:
    return Change("settings", overrides)


def _edited(kind: str, *edits: tuple[str, str, str]) -> Change:
    return Change(kind, (), edits)


# Each moves a digit of the table; between them every rule of the experiment runs.
COMPARED, RANKED = (f"workflow/secateur/{name}.py" for name in ("evaluation/compared", "graph/retrieval/ranking"))
CHANGES = (
    _set("eval.claim=[64]"),
    _set("dataset.cutoffs=[1,3]"),
    _set("ecs.pool=4"),
    _set("policy.alpha=0.1", "policy.seed=3"),
    _set("retriever.w_dense=0", "answer.max_tokens=2"),  # short: answers are made anew, which take a minute
    _edited("code", (COMPARED, "summarise(part)", 'summarise(part.with_columns(pl.col("value") / 2))')),
    _edited("code", (RANKED, "without_excluded(scores, questions,", "without_excluded(-scores, questions,")),
    _edited("data", (TURNS, "I signed it on Friday.", "Fergus and Agnieszka work for Jonas now.")),
    _edited(
        "data",
        (PASSAGES, "Tessaly Market Limited, a Lisbon marketplace for second-hand furniture,", "It"),
        (QUESTIONS, "are subject to the Digital Services Act?", "does the Digital Services Act bind?"),
    ),
)


@dataclass(frozen=True)
class _Figures:
    """What a run's commands print, and its figures. records: what each job states, by its record."""

    metrics: bytes
    printed: dict[str, str]
    records: dict[str, list]


@dataclass(frozen=True)
class _Said:
    code: int
    said: str


class Repeats:
    """Runs of one tree that fail once. The tree is as before after each trial."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.project = tree, Project(tree.root)
        site = tree.root.parent / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(STRIKING)
        path = os.pathsep.join(map(str, (site, tree.root / "workflow", tree.root, ROOT)))
        self.env = {"PYTHONPATH": path, "MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}
        self._runs: dict[Change, _Figures] = {}
        self.before = self._found()
        chosen = tree.changes or [""]
        self.changes = [change for change in CHANGES if any(word in change.name for word in chosen)]

    def reset(self) -> None:
        """Files of the project and of results as in the finished run."""
        for name in RESTORED:
            shutil.rmtree(self.tree.root / name)
            shutil.copytree(self.tree.kept / name, self.tree.root / name, symlinks=True)

    def figures(self, change: Change) -> _Figures:
        if change not in self._runs:
            self.apply(change)
            ended = self.run(change)
            if ended.code:
                raise AssertionError(f"{change.name}, undisturbed: exit code {ended.code}: {ended.said[-SHOWN:]}")
            self._runs[change] = self._found()
            self.reset()
            if self._runs[change].printed["table"] == self.before.printed["table"]:
                raise AssertionError(f"{change.name}: it moves no figure")
        return self._runs[change]

    def rerun(self, change: Change) -> list[Spec]:
        after, before = self.figures(change).records, self.before.records
        records = {record for record, stated in after.items() if stated != before.get(record)}
        return [spec for spec in self.tree.specs if spec.output["record"] in records]

    def apply(self, change: Change, back: bool = False) -> None:
        """Edit the project's files. back: as they were."""
        for name, old, new in change.edits:
            path, given, wanted = self.tree.root / name, *((new, old) if back else (old, new))
            text = path.read_text()
            if given not in text:
                raise AssertionError(f"{name}: {given!r} is not there")
            path.write_text(text.replace(given, wanted, 1))

    def secateur(self, *words: str, **env: str) -> _Said:
        done = self.project.secateur(*words, **self.env | env)
        return _Said(done.returncode, done.stdout + done.stderr)

    def run(self, change: Change | None, **env: str) -> _Said:
        given = [word for value in (change.overrides if change else ()) for word in ("--set", value)]
        return self.secateur("run", EXPERIMENT, "--cores", "2", *given, **env)

    # --- what is there

    def _metrics(self) -> bytes:
        return (self.tree.root / HOME / "metrics.parquet").read_bytes()

    def _found(self) -> _Figures:
        printed, records = {}, {}
        for name, words in PRINTED.items():
            ended = self.secateur(*words)
            if ended.code:
                raise AssertionError(f"{' '.join(words)}: {ended.said}")
            printed[name] = ended.said
        for path in sorted((self.tree.root / "results").rglob("run.json")):
            record = json.loads(path.read_text())
            records[str(path.relative_to(self.tree.root))] = [record["config"], record["code"], record["inputs"]]
        return _Figures(self._metrics(), printed, records)

    def differs(self, right: _Figures) -> str | None:
        """What is wrong with the figures that are there and those that are printed; None where nothing."""
        if self._metrics() != right.metrics:
            old = self._metrics() == self.before.metrics
            return f"{OLD}: metrics.parquet is of the run before" if old else "metrics.parquet differs"
        ended = self.secateur(*PRINTED["table"])
        if ended.code or ended.said != right.printed["table"]:
            old = f"{OLD}: " if ended.said == self.before.printed["table"] else ""
            return f"{old}the table differs: {ended.said[-SHOWN:]}"
        return None

    def in_between(self, change: Change, right: _Figures, name: str) -> str | None:
        """What is wrong with a command that prints figures while those asked for last are not there."""
        ended = self.secateur(*PRINTED[name])
        if ended.code == 2:
            wrong = refusal(ended.said, "(?=.*Fix: )", ())
            return f"{name}: {wrong}" if wrong else None
        if ended.code:
            return f"{name}: exit code {ended.code}: {ended.said[-SHOWN:]}"
        if ended.said != right.printed[name] and not (change.kind == "code" and self._noted(name, ended.said)):
            return f"{OLD} by {name}: {ended.said[:SHOWN]}"
        return None

    def _noted(self, name: str, printed: str) -> bool:
        return OTHER in printed and self.before.printed[name] in printed


# --- causes ----------------------------------------------------------------------------------------

INVALID = "an invalid data file"
CAUSES = ("a broken input", "no space for the output", "a kill", INVALID)
READING = ("prepare_corpus", "prepare_dataset")


def strike(job, cause: str, seed: str) -> None:
    rng, folder = Random(seed), Path(job.output.record).parent
    if cause == "a kill":
        sys.addaudithook(Watch(Path.cwd(), rng.randint(1, EVENTS), os.open(os.devnull, os.O_WRONLY)))
    elif cause == "no space for the output" and disks.may_mount():
        disks.full(folder.absolute(), 0)
    elif cause == "no space for the output":
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
    elif cause == "a broken input":  # after its plan, before it reads it
        paths = sorted(path for path in map(Path, job.input) if path.suffix == ".parquet")
        path = rng.choice([path for path in paths if path.with_name("run.json").exists() and path.stat().st_size])
        put(path, broken(path.read_bytes(), rng))


def put(path: Path, content: bytes) -> None:
    """Give a file another content and its old date, as a disk does whose bit flips."""
    before = path.stat()
    half = path.with_name(f".{path.name}.tmp")
    half.write_bytes(content)
    half.replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _invalid(repeats: Repeats, spec: Spec, rng: Random) -> tuple[Path, bytes]:
    """A data file gets a line that is no JSON; the file, and what it was."""
    files = (TURNS, PASSAGES) if spec.rule == "prepare_corpus" else (ASKED, QUESTIONS)
    path = repeats.tree.root / files["documents" in spec.name]
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    cut = rng.randrange(len(lines))
    path.write_bytes(b"".join(line[: len(line) // 2] + b"\n" if n == cut else line for n, line in enumerate(lines)))
    return path, whole


def _case(repeats: Repeats, name: str, rng: Random) -> tuple[Change, Spec]:
    change = rng.choice(repeats.changes)
    jobs = repeats.rerun(change)
    if name == INVALID:
        jobs = [spec for spec in repeats.tree.specs if spec.rule in READING]  # under any change
    elif name == "a broken input":
        jobs = [spec for spec in jobs if spec.tables]
    rule = rng.choice(sorted({spec.rule for spec in jobs}))
    return change, rng.choice([spec for spec in jobs if spec.rule == rule])


# --- what happens between the failure and the repeated command ---------------------------------------

BETWEEN = ("", "a record is lost", "the settings before are asked for")  # beside the repair
BACK = BETWEEN[-1]


def _record_lost(repeats: Repeats, rng: Random) -> None:
    records = [repeats.tree.root / job.output["record"] for job in repeats.tree.specs]
    rng.choice([path for path in records if path.exists()]).unlink()


def _metadata_lost(repeats: Repeats) -> None:
    shutil.rmtree(repeats.tree.root / ".snakemake/metadata", ignore_errors=True)


def of_tree(tree: Tree) -> Repeats:
    if not hasattr(tree, "repeats"):
        tree.repeats = Repeats(tree)
    return tree.repeats


def failed_once(cause: str, repeats: Repeats, change: Change, spec: Spec, between: str, rng: Random) -> str | None:
    """What is wrong with a run that fails once, is repaired and is repeated; None where nothing."""
    right, command = repeats.figures(change), rng.choice(list(PRINTED))
    repeats.apply(change)
    harmed, whole = _invalid(repeats, spec, rng) if cause == INVALID else (None, b"")
    first = repeats.run(change, CHAOS_STRIKE=json.dumps([spec.output["record"], cause, str(rng.random())]))
    if first.code == 0:
        return f"it did not fail: {first.said[-SHOWN:]}"
    if "What was found" in first.said:  # a board
        return f"{OLD} by the failed run: {first.said[-SHOWN:]}"
    if wrong := repeats.in_between(change, right, command):
        return f"after the failure, {wrong}"
    if harmed:
        harmed.write_bytes(whole)
    if between == "a record is lost":
        _record_lost(repeats, rng)
    if between == BACK:
        repeats.apply(change, back=True)
    now = repeats.before if between == BACK and change.edits else right
    if between and (wrong := repeats.in_between(change, now, command)):
        return f"after the repair, {wrong}"
    if between == BACK:
        change, right = None, repeats.before
    again = repeats.run(change)
    if again.code:
        return f"repeated: exit code {again.code}: {again.said[-SHOWN:]}"
    if again.said.startswith("no jobs in "):
        return f"repeated: no job ran: {again.said[-SHOWN:]}"
    wrong = repeats.differs(right)
    return wrong and f"repeated, {wrong}"


def _scene(cause: str):
    def scene(tree: Tree, rng: Random) -> Trial:
        repeats = of_tree(tree)
        change, spec = _case(repeats, cause, rng)
        between = rng.choice(BETWEEN)
        try:
            wrong = failed_once(cause, repeats, change, spec, between, rng)
        finally:
            repeats.reset()
        target = {"change": change.name, "job": spec.name, "between": between}
        return Trial("", spec.rule, WRONG if wrong else RIGHT, int(cause == "a kill"), wrong or "", target)

    return scene


def _unchanged(tree: Tree, rng: Random) -> Trial:
    """Snakemake's metadata are lost: nothing runs where nothing changed, whose figures are printed; a change is noticed."""
    repeats = of_tree(tree)
    change = rng.choice(repeats.changes)
    right, wrong = repeats.figures(change), None
    _metadata_lost(repeats)
    note = tree.root / HOME / "asked.json"  # of a run that ended before its first job
    write_json(note, {"overrides": ["eval.resamples=300"], "state": None, "files": []})
    again = repeats.run(None)
    if again.code or not again.said.startswith("no jobs in "):
        wrong = f"without a change: exit code {again.code}: {again.said[-SHOWN:]}"
    wrong = wrong or repeats.differs(repeats.before)
    _metadata_lost(repeats)
    repeats.apply(change)
    ended = repeats.run(change)
    wrong = wrong or (ended.said[-SHOWN:] if ended.code else repeats.differs(right))
    repeats.reset()
    return Trial("", "all", WRONG if wrong else RIGHT, 0, wrong or "", change.name)


def _output_harmed(tree: Tree, rng: Random) -> Trial:
    """An output is harmed between two runs: its stage runs again by itself."""
    repeats = of_tree(tree)
    spec = rng.choice([s for s in tree.specs if any(path.endswith(".parquet") for path in s.output.values())])
    path = rng.choice([path for path in spec.output.values() if path.endswith(".parquet")])
    put(tree.root / path, broken((tree.root / path).read_bytes(), rng))
    wrong = repeats.in_between(CHANGES[0], repeats.before, "table")
    ended, record = repeats.run(None), spec.output["record"]
    if ended.code:
        wrong = wrong or f"exit code {ended.code}: {ended.said[-SHOWN:]}"
    elif (tree.root / record).read_bytes() == (tree.kept / record).read_bytes():
        wrong = wrong or f"its stage did not run: {ended.said[-SHOWN:]}"
    wrong = wrong or tree.wrong(spec) or repeats.differs(repeats.before)
    repeats.reset()
    return Trial("", spec.rule, WRONG if wrong else RIGHT, 0, wrong or "", path)


SCENES = {f"{cause} fails a run once; it is repeated": _scene(cause) for cause in CAUSES}
SCENES |= {
    "Snakemake's metadata are lost; it is repeated": _unchanged,
    "an output is harmed; it is repeated": _output_harmed,
}
