"""`secateur evaluate`: writes the options of an experiment on a folder of one's own, and runs it."""

import ast
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from secateur.commands.checking import (
    GAINED,
    Folder,
    Workspace,
    check,
    measured_by_answers,
    read_folder,
    rooted,
    unreadable,
)
from secateur.commands.running import run
from secateur.commands.runs import Overrides
from secateur.commands.shared import at_work
from secateur.commands.starting import TAKEN
from secateur.config import files as option_files
from secateur.config.compose import names, option
from secateur.contexts.imported import read_contexts, reference_of
from secateur.core import layout
from secateur.core.artifacts import write_text
from secateur.core.errors import SecateurError, needs
from secateur.core.workspace import OWN, WRITTEN, as_given
from secateur.datasets.loaders import reads_folder
from secateur.datasets.own import FORMS

__all__ = ["check", "evaluate", "experiment_of"]

CONF = Path("conf")
RANKERS = Path(OWN)
HEAD = f"{WRITTEN}, which writes it again. To edit it, delete this line."
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
Named = Annotated[
    str | None, Option("--name", help="Name of the experiment; default: the folder's, with a digest of its path.")
]
Files = list[str] | None
Scope = Callable[[str, Path], str]


def evaluate(
    folder: Folder,
    name: Named = None,
    ranker: Annotated[Files, Option(metavar="[NAME=]FILE.py", help="A ranker of yours, a plug-in in one file.")] = None,
    ranking: Annotated[
        Files, Option("--run", metavar="[NAME=]FILE", help="A ranking made elsewhere: a TREC run.")
    ] = None,
    contexts: Annotated[Files, Option(metavar="[NAME=]FILE.jsonl", help="Contexts made elsewhere, one a line.")] = None,
    experiment: Annotated[
        str | None,
        Option(help="Experiment whose systems are compared, on your data; default: by what the folder holds."),
    ] = None,
    limit: Annotated[
        int | None, Option(min=1, help="Only so many questions: the first by hash of their ids, of each group in turn.")
    ] = None,
    profile: Annotated[str, Option(help="Folder of profiles/.")] = "local",
    cores: Annotated[str, Option(help="Number of cores, or all.")] = "all",
    changed: Overrides = None,
    workspace: Workspace = None,
    plain: Annotated[bool, Option("--plain", help="Show Snakemake's own output instead of the progress line.")] = False,
) -> None:
    """Run the systems of an experiment, and yours, on a folder of your own, then print the results."""
    needs("snakemake")  # before anything is written
    folder = at_work(folder, workspace)
    user_files = {"ranker": ranker, "run": ranking, "contexts": contexts}
    name = experiment_of(folder, name, user_files, experiment, tuple(changed or ()))
    limited = f"{name}@{limit}" if limit else name
    print(f"experiment {limited}: conf/experiment/{name}.yaml\n")
    run(limited, profile, cores, changed, None, plain)


# --- options -------------------------------------------------------------------------------------


def experiment_of(
    folder: Path,
    name: str | None = None,
    given: dict[str, Files] | None = None,
    base: str | None = None,
    overrides: tuple[str, ...] = (),
) -> str:
    """The name of the experiment on a folder, whose options are written to conf/.

    given: files of the user's systems, by `ranker`, `run` and `contexts`, each `FILE` or `NAME=FILE`. base: the experiment
    whose systems are compared; those whose extractor cannot read the folder are left out, which is printed. overrides: of
    the run, which may name another extractor. Raises SecateurError for what is invalid; then nothing is written.
    """
    base_set = _base_set(base) if base else None  # an experiment with data of its own lends its systems alone
    data = read_folder(folder, option(CONF, "dataset", base_set, rooted(folder)).format if base_set else None)
    dataset, experiment = FORMS[data.form]
    dataset, experiment, lent = base_set or dataset, base if base_set else experiment, base or experiment
    name = _checked(name) if name else _default_name(folder)
    scope = partial(_scoped, name, _slug(folder.name))
    files = dict(_systems(given or {}, data.form == "dialogues", scope))
    ours = option(CONF, "experiment", lent).systems
    unread = unreadable(data, ours, overrides)
    systems = [system for system in ours if system not in unread]
    systems += [path.stem for path in files if path.parent.name == "system"]
    gained = measured_by_answers(data)
    chosen = option(CONF, "experiment", experiment, overrides).options.get("all", {}).get("assembly")
    assembly = chosen or option(CONF, "system", "bm25", overrides).assembly
    sent = option(CONF, "assembly", assembly, overrides).budget
    keys = {"folder": str(folder.resolve())} | ({"gain": GAINED, "gain_at": [sent]} if gained else {})
    files |= {CONF / f"dataset/{name}.yaml": _option(dataset, f"folder {folder.name}", keys)}
    keys = {"title": name, "datasets": [name], "systems": list(dict.fromkeys(systems))} | (
        {"gains": True} if gained else {}
    )
    files |= {CONF / f"experiment/{name}.yaml": _option(experiment, f"{data.form} of {folder.name}", keys)}
    for path, text in files.items():
        _check_free(path, text)
    reference = reference_of(data.questions.questions, data.passages)
    for _, path in _named("contexts", (given or {}).get("contexts") or ()):
        read_contexts(path, reference, lambda _: None)  # the stage warns
    for path, text in files.items():
        if isinstance(text, Path):
            if path.exists() and not path.is_symlink():  # the user's own file, which stands where it is looked for
                continue
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(text)
        elif not path.exists() or path.read_text(encoding="utf-8") != text:  # an equal file keeps its time
            write_text(path, text)
    asked = option(CONF, "experiment", name, overrides)
    if gained and asked.gains:
        print(f"measured: {gained}. Without it: --set experiment.gains=false")
    compared = asked.systems
    if dropped := [path.stem for path in files if path.parent.name == "system" and path.stem not in compared]:
        print(f"left out: {', '.join(dropped)}; experiment.systems is {', '.join(compared)}")
    if unread:
        print(f"left out: {', '.join(unread)}; {next(iter(unread.values()))}")
    return name


def _base_set(experiment: str) -> str | None:
    """The data set of an experiment that takes a folder; None for one with data of its own."""
    dataset, *others = option(CONF, "experiment", experiment, asked_by="--experiment").datasets
    spec = option(CONF, "dataset", dataset)
    return None if others or spec.folder or not reads_folder(spec.format) else dataset


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise SecateurError(f"--name {name!r}: allowed: letters, digits, _ and -. Fix: --name {_slug(name)}")
    if name in (*layout.SHARED, *layout.OF_CORPUS):
        raise SecateurError(f"--name {name!r}: a folder of results has this name. Fix: --name my_{name}")
    return name


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "data"


def _default_name(folder: Path) -> str:
    """The folder's name with a digest of its path, so that no two folders share results."""
    path = folder.resolve()
    return f"{_slug(path.name)}_{hashlib.sha256(str(path).encode()).hexdigest()[:4]}"


def _option(base: str | None, about: str, keys: dict) -> str:
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    inherited = [f"defaults: [{base}, _self_]"] if base else []
    return "\n".join([HEAD, f"# {about}", *inherited, *lines]) + "\n"


def _systems(user_files: dict[str, Files], turns: bool, scope: Scope) -> Iterator[tuple[Path, str | Path]]:
    """(file, its text, or what it links to) of the options of the user's systems.

    turns: whether turns are ranked; scope: (name, file) -> the name that a system without a given one gets.
    """
    seen: dict[str, Path] = {}
    for kind, texts in user_files.items():
        for name, path in _named(kind, texts or (), scope):
            if name in seen:
                fix = f"Fix: --{kind} OTHER={path}"
                raise SecateurError(f"--{kind}: {seen[name]} and {path} are both named {name}. {fix}")
            seen[name], about = path, f"{kind} {path.name}"
            if kind == "contexts":
                if turns:
                    raise SecateurError(
                        "--contexts: of dialogues turns are selected, and no contexts are read. Fix: --run"
                    )
                yield CONF / f"system/{name}.yaml", _option("_default", about, {"contexts": str(path.resolve())})
                continue
            if kind == "ranker":
                _check_python(path)
                yield RANKERS / f"{name}.py", path.resolve()
            spec = {"kind": f"{OWN}.{name}"} if kind == "ranker" else {"kind": "import", "run": str(path.resolve())}
            keys = {"scorers": {name: spec}, "suffixes": [], "neighbour": 0, "keep": 300}
            yield CONF / f"rankers/{name}.yaml", _option(None, about, keys)
            ranked = {"turns": name} if turns else {"rankers": name, "ranker": name}
            yield (
                CONF / f"system/{name}.yaml",
                _option("_default", about, ranked | {"orders": ["blind"], "yours": True}),
            )


def _named(kind: str, texts: Iterable[str], scope: Scope = lambda name, _: name) -> Iterator[tuple[str, Path]]:
    """(name, file) of each `FILE` or `NAME=FILE`. Raises SecateurError for a file that is missing, and an invalid name."""
    for text in texts:
        name, _, file = text.rpartition("=")
        path = as_given(Path(file))
        name = name or scope(re.sub(r"\W+", "_", path.stem, flags=re.ASCII), path)
        if not path.is_file():
            raise SecateurError(f"--{kind} {text}: no such file")
        if "{" in file or "}" in file:
            raise SecateurError(
                f"--{kind} {text}: Snakemake reads braces in a path as a wildcard. Fix: rename it, or link to it"
            )
        if name in TAKEN or (kind == "contexts" and name.isdigit()):
            raise SecateurError(f"--{kind} {text}: {name!r} is a row of Secateur. Fix: --{kind} my_{name}={file}")
        if not NAME.fullmatch(name) or (kind == "ranker" and not f"k{name}".isidentifier()):
            raise SecateurError(f"--{kind} {text}: {name!r} is no name. Fix: --{kind} {_slug(name)}={file}")
        yield name, path


def _scoped(experiment: str, folder: str, name: str, path: Path) -> str:
    """The name of a system, with the folder's behind it where a call for another folder gave it to another file."""
    system, ranker, listed = (
        CONF / f"system/{name}.yaml",
        CONF / f"rankers/{name}.yaml",
        CONF / f"experiment/{experiment}.yaml",
    )
    texts = [file.read_text(encoding="utf-8") for file in (system, ranker) if file.exists()]
    if not texts or not texts[0].startswith(HEAD):
        return name
    is_same = json.dumps(str(path.resolve()), ensure_ascii=False) in "".join(texts)
    is_same |= (RANKERS / f"{name}.py").resolve() == path.resolve()
    is_here = listed.exists() and name in option(CONF, "experiment", experiment).systems
    return name if is_same or is_here else f"{name}_{folder}"


def _check_python(path: Path) -> None:
    """Raises SecateurError for a file that is no Python, before a link to it stands among the plug-ins."""
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:  # ValueError: NUL bytes
        raise SecateurError(
            f"--ranker {path}: line {getattr(error, 'lineno', None) or 1}: {error}. Fix: correct it"
        ) from error


def _check_free(path: Path, text: str | Path) -> None:
    """Raises SecateurError where another's option or plug-in has the name."""
    derived = path.stem in option_files.derived(CONF, path.parent.name)
    peer = path.parent.name == "system" and not path.exists() and path.stem in names(CONF, "system")
    is_other = derived or peer or path.exists() or path.is_symlink()
    if isinstance(text, Path):
        is_other &= path.resolve() != text
    elif path.exists():
        kept = path.read_text(encoding="utf-8")
        is_other = kept != text and not (kept.startswith(HEAD) and path.parent.name in ("dataset", "experiment"))
        if kept.startswith(HEAD) and path.parent.name == "dataset":
            is_other = _folder_line(kept) != _folder_line(text)
    if is_other:
        home = option_files.place(CONF, "peer" if peer else path.parent.name, path.stem)
        taken = f"{home}.yaml: {path.stem}" if derived or peer else path
        is_ours = path.is_symlink() or (path.is_file() and path.read_text(encoding="utf-8").startswith(HEAD))
        of = "an earlier call wrote it for another file" if is_ours else "`secateur evaluate` did not write it"
        fix = "--name OTHER" if path.parent.name in ("dataset", "experiment") else "NAME=FILE with another name"
        raise SecateurError(f"{taken} exists: {of}. Fix: {fix}{', or remove it' * is_ours}")


def _folder_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("folder:"))
