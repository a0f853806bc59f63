"""The code that a result depends on: a module or plug-in, and all that it imports, without comments and docstrings.

Modules in `GLUE` are left out: configuration values are params, and table declarations have digests of their own.
"""

import ast
import atexit
import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from secateur.config.plugins import LIBRARY, source_of
from secateur.core.artifacts import write_text

__all__ = ["GLUE", "contents", "digest_of", "imports", "is_glue", "module_file", "plugin_digest", "remembered"]
__all__ += ["source_digest", "without_docs"]

GLUE = (  # modules that carry a stage and compute nothing
    "config",
    "core.artifacts",
    "core.errors",
    "core.events",
    "core.fields",
    "core.layout",
    "core.tables",
    "core.threads",
    "planning.plan",
    "stage.contract",
    "stage.provenance",
)
COMPUTING = ("core.tables.vectors",)  # modules in packages of GLUE that decide figures
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
KNOWN: dict[str, list] = {}  # by digest of a source: what `_read` tells of it
USED: set[str] = set()  # digests of the sources that this process reads
Import = tuple[int, str, tuple[str, ...]]  # leading dots, module or the empty string, names of a `from` import


def is_glue(module: str) -> bool:
    """Whether a module, named without `secateur.`, is in `GLUE` or in a package of it, and computes nothing."""
    return module not in COMPUTING and any(module == name or module.startswith(f"{name}.") for name in GLUE)


def remembered(folder: Path) -> None:
    """Know what earlier processes have parsed, and write at the end of this one what it parsed: a dry run reads all modules."""
    path = folder / f"parsed-{sys.version_info.major}.{sys.version_info.minor}.json"
    with suppress(OSError, ValueError):
        seal, _, text = path.read_text(encoding="utf-8").partition("\n")
        KNOWN.update(json.loads(text) if seal == _digest(text) else {})
    before = set(KNOWN)

    def keep() -> None:
        text = json.dumps({key: value for key, value in KNOWN.items() if key in USED})
        with suppress(OSError):  # it costs a second the next time
            write_text(path, f"{_digest(text)}\n{text}")

    atexit.register(lambda: keep() if set(KNOWN) - before else None)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _read(source: str) -> tuple[str, list[Import]]:
    """The digest of a source without comments and docstrings, and what it imports, inside functions too."""
    key = _digest(source)
    USED.add(key)
    if key not in KNOWN:
        text, imported = _parsed(source)
        KNOWN[key] = [_digest(text), imported]
    return KNOWN[key][0], KNOWN[key][1]


def _parsed(source: str) -> tuple[str, list[Import]]:
    """The syntax tree as text, without comments and docstrings, and what it imports: both come from one walk."""
    tree, imported = ast.parse(source), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return _dumped(tree), imported


def _dumped(node: Any) -> str:
    """As `ast.dump`, without fields that are empty: versions of Python add some and leave out others."""
    if isinstance(node, ast.AST):
        fields = [
            f"{name}={_dumped(value)}" for name, value in ast.iter_fields(node) if value is not None and value != []
        ]
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(_dumped, node))}]" if isinstance(node, list) else repr(node)


def without_docs(source: str) -> str:
    """A source's syntax tree as text, without comments and docstrings."""
    return _parsed(source)[0]


def source_digest(path: Path) -> str:
    """Digest of a file of Python without comments and docstrings."""
    return _read(path.read_text(encoding="utf-8"))[0]


@cache
def _imported(source: str, package: str) -> frozenset[str]:
    """Full names of the modules that a source imports. package: the source's package."""
    modules = set()
    for level, module, names in _read(source)[1]:
        above = package.split(".")[: len(package.split(".")) + 1 - level] if level else []
        base = ".".join([*above, *filter(None, [module])])
        modules |= {base, *(f"{base}.{name}" for name in names)}
    return frozenset(modules)


def module_file(library: Path, name: str) -> Path | None:
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
        path = module_file(library, name) if counts else None
        if path is not None:
            seen.add(name)
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            queue += [*_parents(name), *_imported(path.read_text(encoding="utf-8"), package)]
    return tuple(sorted(seen))


@cache
def plugin_digest(module: str, library: Path = LIBRARY) -> str:
    """Digest of the code of one plug-in and of what it imports: part of the key of a cache of its results."""
    return digest_of([text for _, text in contents(library, _reached(library, (module,), (module,)))])


def contents(library: Path, modules: tuple[str, ...]) -> list[tuple[str, str]]:
    """(module, code without docstrings) of each module, and (module, text) of each template beside it."""
    texts = []
    for name in modules:
        module = module_file(library, name)
        texts.append((name, f"{name}:{source_digest(module)}"))
        templates = sorted(module.parent.glob(f"{module.stem}.*.j2"))
        texts += [(name, path.read_text(encoding="utf-8")) for path in templates]
    return texts


def digest_of(parts: list[str]) -> str:
    """Digest of some texts in their order."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
