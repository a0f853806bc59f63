"""What a result was made with: digests of code, versions, commit, machine.

The code digest of a rule covers its script, the library modules that script uses transitively, the
templates beside them, the declarations of its tables and the rule's own text; comments and docstrings
do not count. It leaves out the modules and packages named in `GLUE`: configuration values are params of their own,
and table declarations enter by their own digests.
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

from secateur.pipeline.tables.catalog import TABLES

__all__ = ["GLUE", "code_digest", "imports", "is_glue", "machine", "versions"]

GLUE = tuple(
    f"pipeline.{name}" for name in ("config", "tables", "contract", "provenance", "plan", "artifacts", "errors")
)
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
    """Whether a module is one of `GLUE`, or stands below one."""
    return any(f"{module}.".startswith(f"{name}.") for name in GLUE)


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
def _imported(source: str) -> frozenset[str]:
    """Names of secateur modules that a source imports, at any depth of nesting."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name.removeprefix("secateur.") for name in found if name.startswith("secateur."))


def _module(library: Path, name: str) -> Path | None:
    path = library / f"{name.replace('.', '/')}.py"
    return path if path.exists() else None


@cache
def imports(library: Path, script: Path) -> tuple[str, ...]:
    """The library modules a script uses, directly or not, without the glue; sorted."""
    seen: set[str] = set()
    queue = [script]
    while queue:
        for name in _imported(queue.pop().read_text(encoding="utf-8")):
            path = _module(library, name)
            if path is not None and name not in seen and not is_glue(name):
                seen.add(name)
                queue.append(path)
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
def code_digest(rule: str, root: Path) -> str:
    """Digest of everything in the repository that decides what a rule computes."""
    library, script = root / "workflow" / "secateur", root / "scripts" / f"{rule}.py"
    text = _rules(root / "workflow" / "rules")[rule]
    parts = [text, _without_docs(script.read_text(encoding="utf-8"))]
    for name in imports(library, script):
        module = _module(library, name)
        parts.append(f"{name}:{_without_docs(module.read_text(encoding='utf-8'))}")
        parts += [path.read_text(encoding="utf-8") for path in sorted(module.parent.glob(f"{module.stem}.*.j2"))]
    parts += [f"{name}:{TABLES[name].digest}" for name in rule_tables(rule, text)]
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
