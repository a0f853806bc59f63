"""Provenance of a result: digests of code, versions, commit, machine.

The code digest of a rule covers its script, the plug-ins that its options name, the modules that these import, directly
or not, the templates beside them, the declarations of its tables, and the rule's text. Comments and docstrings do not
count. Modules in `GLUE` are left out: configuration values are params, and table declarations have digests of their own.
"""

import ast
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tokenize
from functools import cache
from importlib import metadata
from pathlib import Path

from secateur.config.plugins import LIBRARY, source_of
from secateur.core.cache import RequestCache
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES

__all__ = [
    "GLUE",
    "changed_code",
    "code_digest",
    "device_used",
    "imports",
    "is_glue",
    "machine",
    "note_code",
    "plugin_digest",
    "versions",
]

GLUE = (  # modules that carry a stage and compute nothing
    "config",
    "core.artifacts",
    "core.errors",
    "core.fields",
    "core.layout",
    "core.tables",
    "planning.plan",
    "stage.contract",
    "stage.provenance",
    "stage.threads",
)
COMPUTING = ("core.tables.vectors",)  # modules in packages of GLUE that decide figures
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
Import = tuple[int, str, tuple[str, ...]]  # leading dots, module or the empty string, names of a `from` import
NOTED = "code"  # the cache folder that keeps the parts of each code digest
PACKAGES = (
    "numpy",
    "polars",
    "pyarrow",
    "regex",
    "rouge-score",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "snakemake",
    "spacy",
    "torch",
)


def is_glue(module: str) -> bool:
    """Whether a module, named without `secateur.`, is in `GLUE` or in a package of it, and computes nothing."""
    return module not in COMPUTING and any(module == name or module.startswith(f"{name}.") for name in GLUE)


@cache
def _parsed(source: str) -> tuple[str, tuple[Import, ...]]:
    """The syntax tree as text, without comments and docstrings, and what it imports, inside functions too.

    Both come from one walk, since a dry run parses every module.
    """
    tree, found = ast.parse(source), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree), tuple(found)


def _without_docs(source: str) -> str:
    return _parsed(source)[0]


@cache
def _imported(source: str, package: str) -> frozenset[str]:
    """Full names of the modules that a source imports. package: the source's package."""
    found = set()
    for level, module, names in _parsed(source)[1]:
        above = package.split(".")[: len(package.split(".")) + 1 - level] if level else []
        base = ".".join([*above, *filter(None, [module])])
        found |= {base, *(f"{base}.{name}" for name in names)}
    return frozenset(found)


def _module(library: Path, name: str) -> Path | None:
    """The file of a module; None for package files of the library, which hold no code."""
    path = source_of(name, library)
    return None if path is None or (name.split(".")[0] == "secateur" and path.stem == "__init__") else path


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


@cache
def imports(library: Path, script: Path, plugins: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The plug-ins, and the modules that they and a script import, directly or not; sorted, without `GLUE`.

    For a plug-in outside the library, modules of its own package count too.
    """
    return _reached(library, plugins, (*plugins, *_imported(script.read_text(encoding="utf-8"), "scripts")))


def _reached(library: Path, plugins: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    """The modules `first`, and all that they import, directly or not."""
    roots = {"secateur", *(plugin.partition(".")[0] for plugin in plugins)}
    seen: set[str] = set()
    queue = list(first)
    while queue:
        name = queue.pop()
        counts = name.partition(".")[0] in roots and name not in seen and not is_glue(name.removeprefix("secateur."))
        path = _module(library, name) if counts else None
        if path is not None:
            seen.add(name)
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            queue += [*_parents(name), *_imported(path.read_text(encoding="utf-8"), package)]
    return tuple(sorted(seen))


@cache
def _rules(folder: Path) -> dict[str, str]:
    """The text of each rule by name, without comments and blank lines."""
    found = {}
    for path in sorted(folder.glob("*.smk")):
        for block in re.split(r"\n(?=rule |checkpoint )", "\n" + path.read_text(encoding="utf-8")):
            head = re.match(r"\n?(?:rule|checkpoint) (\w+):", block)
            if head:
                body = re.split(r"\n(?=\S)", block.lstrip("\n"))[0]
                found[head.group(1)] = _strip_comments(body)
    return found


def _strip_comments(text: str) -> str:
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return " ".join(t.string for t in tokens if t.type not in (tokenize.COMMENT, tokenize.NL) and t.string.strip())
    except tokenize.TokenError:
        return text


def rule_tables(rule: str, text: str) -> list[str]:
    """The tables a rule's text names as inputs or outputs."""
    return [name for name in TABLES if re.search(rf"\b{name}\s*=", text)]


@cache
def code_digest(rule: str, root: Path, plugins: tuple[str, ...] = ()) -> str:
    """Digest of all code that decides what a rule computes. plugins: dotted modules that its options name.

    Raises SecateurError for a plug-in whose source is not found.
    """
    return _digest([text for _, text in _parts(rule, root, plugins)])


@cache
def note_code(folder: Path, rule: str, root: Path, plugins: tuple[str, ...] = ()) -> None:
    """Store the digest of each part of a rule's code under the digest of the whole, for `changed_code`."""
    known, whole = RequestCache(folder / NOTED), code_digest(rule, root, plugins)
    if known.get(whole) is None:
        by_name: dict[str, list[str]] = {}
        for name, text in _parts(rule, root, plugins):
            by_name.setdefault(name, []).append(text)
        known.put(whole, {name: _digest(texts) for name, texts in by_name.items()})


def changed_code(folder: Path, before: str, now: str) -> list[str]:
    """Names of the parts in which two code digests differ; empty where one of them was not noted."""
    known = RequestCache(folder / NOTED)
    old, new = known.get(before), known.get(now)
    if old is None or new is None:
        return []
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _parts(rule: str, root: Path, plugins: tuple[str, ...]) -> list[tuple[str, str]]:
    """(name, content) of all code that decides what a rule computes."""
    library, script = root / "workflow" / "secateur", root / "scripts" / f"{rule}.py"
    text = _rules(root / "workflow" / "rules")[rule]
    missing = [name for name in plugins if _module(library, name) is None]
    if missing:
        raise SecateurError(
            f"{', '.join(missing)}: no such module on the Python path. Fix: install it, or set PYTHONPATH."
        )
    parts = [(f"rule {rule}", text), (f"scripts/{rule}.py", _without_docs(script.read_text(encoding="utf-8")))]
    parts += _contents(library, imports(library, script, plugins))
    return parts + [(f"table {name}", f"{name}:{TABLES[name].digest}") for name in rule_tables(rule, text)]


@cache
def plugin_digest(module: str, library: Path = LIBRARY) -> str:
    """Digest of the code of one plug-in and of what it imports: part of the key of a cache of its results."""
    return _digest([text for _, text in _contents(library, _reached(library, (module,), (module,)))])


def _contents(library: Path, modules: tuple[str, ...]) -> list[tuple[str, str]]:
    """(module, code without docstrings) of each module, and (module, text) of each template beside it."""
    found = []
    for name in modules:
        module = _module(library, name)
        found.append((name, f"{name}:{_without_docs(module.read_text(encoding='utf-8'))}"))
        templates = sorted(module.parent.glob(f"{module.stem}.*.j2"))
        found += [(name, path.read_text(encoding="utf-8")) for path in templates]
    return found


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide figures."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def commit(root: Path) -> str | None:
    """The git commit, with `+` where the tree is changed; None outside a repository."""
    try:
        head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        dirty = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain"], capture_output=True, text=True, check=True
        )
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def device_used() -> str:
    """`cuda` where PyTorch has put anything on a GPU in this process, else `cpu`. Does not import torch.

    A driver alone does not count: PyTorch may be a build for CPUs, or the stage may read no model. FAISS on a GPU is not seen.
    """
    torch = sys.modules.get("torch")
    return "cuda" if torch is not None and torch.cuda.is_initialized() else "cpu"


def machine() -> dict[str, str | int | None]:
    """Machine type; artifacts are byte-identical on machines of one type."""
    return {"machine": platform.machine(), "system": platform.system(), "cores": os.cpu_count()}
