"""Provenance of a result: digests of code, versions, commit, machine.

The code digest of a rule covers its script, the plug-ins that its options name, the modules that these import, directly
or not, the templates beside them, the declarations of its tables, and the rule's text. Comments and docstrings do not
count. (`config/code.py`)
"""

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

from secateur.config.code import contents, digest_of, imports, module_file, source_digest
from secateur.config.plugins import LIBRARY
from secateur.core.cache import RequestCache
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES

__all__ = ["changed_code", "code_digest", "device_used", "machine", "note_code", "versions"]

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


@cache
def _rules(folder: Path) -> dict[str, str]:
    """The text of each rule by name, without comments and blank lines."""
    rules = {}
    for path in sorted(folder.glob("*.smk")):
        for block in re.split(r"\n(?=rule |checkpoint )", "\n" + path.read_text(encoding="utf-8")):
            head = re.match(r"\n?(?:rule|checkpoint) (\w+):", block)
            if head:
                body = re.split(r"\n(?=\S)", block.lstrip("\n"))[0]
                rules[head.group(1)] = _strip_comments(body)
    return rules


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
    return digest_of([text for _, text in _parts(rule, root, plugins)])


@cache
def note_code(folder: Path, rule: str, root: Path, plugins: tuple[str, ...] = ()) -> None:
    """Store the digest of each part of a rule's code under the digest of the whole, for `changed_code`."""
    noted = RequestCache(folder / NOTED)
    whole = code_digest(rule, root, plugins)
    if noted.get(whole) is None:
        by_name: dict[str, list[str]] = {}
        for name, text in _parts(rule, root, plugins):
            by_name.setdefault(name, []).append(text)
        noted.put(whole, {name: digest_of(texts) for name, texts in by_name.items()})


def changed_code(folder: Path, before: str, now: str) -> list[str]:
    """Names of the parts in which two code digests differ; empty where one of them was not noted."""
    noted = RequestCache(folder / NOTED)
    old, new = noted.get(before), noted.get(now)
    if old is None or new is None:
        return []
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _parts(rule: str, root: Path, plugins: tuple[str, ...]) -> list[tuple[str, str]]:
    """(name, content) of all code that decides what a rule computes."""
    library, script = root / "workflow" / "secateur", root / "scripts" / f"{rule}.py"
    library = library if library.exists() else LIBRARY  # a workspace has none of its own
    text = _rules(root / "workflow" / "rules")[rule]
    missing = [name for name in plugins if module_file(library, name) is None]
    if missing:
        raise SecateurError(
            f"{', '.join(missing)}: no such module on the Python path. Fix: install it, or set PYTHONPATH."
        )
    parts = [(f"rule {rule}", text), (f"scripts/{rule}.py", source_digest(script))]
    parts += contents(library, imports(library, script, plugins))
    return parts + [(f"table {name}", f"{name}:{TABLES[name].digest}") for name in rule_tables(rule, text)]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide figures."""
    installed = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed[name] = "not installed"
    return installed


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
