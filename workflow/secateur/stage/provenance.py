"""What a result was made with: digests of code, versions, commit, machine.

The code digest of a rule covers its script, the kinds that its options name, the modules these use
transitively, the templates beside them, the declarations of its tables and the rule's own text; comments
and docstrings do not count. It leaves out the modules named in `GLUE`: configuration values are params of
their own, table declarations enter by their own digests, and where files stand is said by their paths.
"""

import ast
import hashlib
import io
import os
import platform
import re
import subprocess
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
    "imports",
    "is_glue",
    "kind_digest",
    "machine",
    "note_code",
    "versions",
]

GLUE = (  # settings are params, tables have digests of their own; the rest carries a stage and computes nothing
    "config",
    "core.artifacts",
    "core.errors",
    "core.fields",
    "core.layout",
    "core.tables",
    "planning.plan",
    "stage.contract",
    "stage.provenance",
)
NOTED = "code"  # the folder of a cache that knows the parts of each code digest
PACKAGES = (
    "numpy",
    "polars",
    "pyarrow",
    "rouge-score",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "snakemake",
    "spacy",
    "torch",
)


def is_glue(module: str) -> bool:
    """Whether a module of the library, named without `secateur.`, is glue or stands below it."""
    return any(module == name or module.startswith(f"{name}.") for name in GLUE)


@cache
def _without_docs(source: str) -> str:
    """The syntax tree as text, without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = body[1:]
    return ast.dump(tree)


@cache
def _imported(source: str, package: str) -> frozenset[str]:
    """Full names of the modules that a source imports, at any depth of nesting; `package` is its own."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _module(library: Path, name: str) -> Path | None:
    """The file of a module; package files of the library hold no code."""
    path = source_of(name, library)
    return None if path is None or (name.split(".")[0] == "secateur" and path.stem == "__init__") else path


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


@cache
def imports(library: Path, script: Path, kinds: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The kinds, and the modules that they and a script use, directly or not, without the glue; sorted.

    Of a kind outside the library the modules of its own package are among them.
    """
    return _reached(library, kinds, (*kinds, *_imported(script.read_text(encoding="utf-8"), "scripts")))


def _reached(library: Path, kinds: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    """The modules that some use, these included."""
    roots = {"secateur", *(kind.partition(".")[0] for kind in kinds)}
    seen: set[str] = set()
    queue = list(first)
    while queue:
        name = queue.pop()
        own = name.partition(".")[0] in roots and name not in seen and not is_glue(name.removeprefix("secateur."))
        path = _module(library, name) if own else None
        if path is not None:
            seen.add(name)
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            queue += [*_parents(name), *_imported(path.read_text(encoding="utf-8"), package)]
    return tuple(sorted(seen))


@cache
def _rules(folder: Path) -> dict[str, str]:
    """Each rule's text by name, comments and blank lines stripped."""
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
def code_digest(rule: str, root: Path, kinds: tuple[str, ...] = ()) -> str:
    """Digest of all code that decides what a rule computes; `kinds` are the dotted modules that its options name.

    Raises SecateurError for a kind whose source is not found.
    """
    return _digest([text for _, text in _parts(rule, root, kinds)])


@cache
def note_code(folder: Path, rule: str, root: Path, kinds: tuple[str, ...] = ()) -> None:
    """Keep the digest of each part of a rule's code under the digest of the whole, so that it can be said which one changed."""
    known, whole = RequestCache(folder / NOTED), code_digest(rule, root, kinds)
    if known.get(whole) is None:
        by_name: dict[str, list[str]] = {}
        for name, text in _parts(rule, root, kinds):
            by_name.setdefault(name, []).append(text)
        known.put(whole, {name: _digest(texts) for name, texts in by_name.items()})


def changed_code(folder: Path, before: str, now: str) -> list[str]:
    """The parts in which two codes differ, by their digests; none where one of them was not noted."""
    known = RequestCache(folder / NOTED)
    old, new = known.get(before), known.get(now)
    if old is None or new is None:
        return []
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _parts(rule: str, root: Path, kinds: tuple[str, ...]) -> list[tuple[str, str]]:
    """(name, what it says) of all code that decides what a rule computes."""
    library, script = root / "workflow" / "secateur", root / "scripts" / f"{rule}.py"
    text = _rules(root / "workflow" / "rules")[rule]
    lost = [name for name in kinds if _module(library, name) is None]
    if lost:
        raise SecateurError(
            f"{', '.join(lost)}: no such module on the Python path. Fix: install it, or set PYTHONPATH."
        )
    parts = [(f"rule {rule}", text), (f"scripts/{rule}.py", _without_docs(script.read_text(encoding="utf-8")))]
    parts += _said(library, imports(library, script, kinds))
    return parts + [(f"table {name}", f"{name}:{TABLES[name].digest}") for name in rule_tables(rule, text)]


@cache
def kind_digest(module: str, library: Path = LIBRARY) -> str:
    """Digest of the code of one kind, and of what it uses: what a cache of that kind's answers depends on."""
    return _digest([text for _, text in _said(library, _reached(library, (module,), (module,)))])


def _said(library: Path, modules: tuple[str, ...]) -> list[tuple[str, str]]:
    """(module, what it says without its docs), and the same of the templates beside it."""
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
    """Versions of Python and of the packages that decide numbers."""
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


def machine() -> dict[str, str | int | None]:
    """Machine type: what identity of artifacts is promised on."""
    return {"machine": platform.machine(), "system": platform.system(), "cores": os.cpu_count()}
