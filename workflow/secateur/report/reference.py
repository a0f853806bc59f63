"""Generated pages: configuration, plug-ins, tables, experiments and kept figures for the site; quoted tables in `docs`."""

import typing
from dataclasses import fields
from pathlib import Path
from typing import Literal, get_args, get_origin

from secateur.config import plugins
from secateur.config.compose import names, option
from secateur.config.groups import GROUPS
from secateur.config.plugins import FAMILIES, load
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import VECTOR
from secateur.report.kept import kept_experiments, kept_source
from secateur.report.results import complete, kept_picture, quoted

__all__ = ["pages", "site_pages"]

PICTURED, SHOWN = "multihop", ("beam", "secateur")  # the picture of the README, and what is in it


def _type(hint: object) -> str:
    if get_origin(hint) is Literal:
        return " \\| ".join(f"`{a}`" for a in get_args(hint))
    text = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return "`" + text.replace("typing.", "").replace("|", "\\|") + "`"


def _range(low: float | None, high: float | None) -> str:
    return (
        "" if low is None and high is None else f"{'' if low is None else low} … {'' if high is None else high}".strip()
    )


def configuration(conf: Path) -> str:
    """The page of configuration keys: a table for each group of `conf`."""
    lines = [
        "# Configuration",
        "",
        "Each group is a folder of `conf/`; an option is a file in it. Overrides: `group.key=value`.",
        "",
    ]
    for group, cls in GROUPS.items():
        hints = typing.get_type_hints(cls)
        lines += [
            f"## {group}",
            "",
            cls.__doc__ or "",
            "",
            f"Options: {', '.join(f'`{n}`' for n in names(conf, group))}.",
            "",
        ]
        lines += ["| key | type | allowed | what |", "|---|---|---|---|"]
        for f in fields(cls):
            allowed = _range(f.metadata["low"], f.metadata["high"])
            lines.append(f"| `{group}.{f.name}` | {_type(hints[f.name])} | {allowed} | {f.metadata['doc']} |")
        lines.append("")
    return "\n".join(lines)


def plug_ins() -> str:
    """The page of plug-ins: each with its settings, by family."""
    lines = [
        "# Plug-ins",
        "",
        "A plug-in is a file in its family's folder and has the file's name. A dotted name, `mypackage.ranker`, is a module "
        "of yours on `PYTHONPATH`. A plug-in defines a frozen dataclass `Settings`, each field declared with "
        "`secateur.core.fields.key`, and the functions that its family needs.",
        "",
    ]
    for family, spec in FAMILIES.items():
        if known := plugins.names(family):
            needs = ", ".join(f"`{name}`" for name in spec.needs)
            lines += [f"## {family}", "", f"In `{spec.package}`; besides `Settings` a plug-in defines {needs}.", ""]
            lines += [line for name in known for line in _plug_in(family, name)]
    return "\n".join(lines)


def _plug_in(family: str, name: str) -> list[str]:
    """Docstring and settings of a plug-in."""
    module = load(family, name)
    lines = [f"### {family} {name}", "", (module.__doc__ or "").strip(), ""]
    if family == "metric":
        lines += [_shown(module.FIGURE), ""]
    own, hints = fields(module.Settings), typing.get_type_hints(module.Settings)
    if own:
        lines += ["| setting | type | allowed | what |", "|---|---|---|---|"]
    for f in own:
        allowed = _range(f.metadata["low"], f.metadata["high"])
        lines.append(f"| `{f.name}` | {_type(hints[f.name])} | {allowed} | {f.metadata['doc']} |")
    return [*lines, *[""] * bool(own)]


def _shown(figure) -> str:
    """How a metric is shown."""
    ways = [f"{figure.better} is better"] if figure.better else []
    ways += ["shown and tested in pairs"] if figure.headline else []
    return f"*{figure.title}*: {', '.join([f'{figure.digits} digits', *ways, *(['with a floor'] if figure.floor else [])])}."


def tables() -> str:
    """The page of tables: key, checks and columns of each."""
    lines = [
        "# Tables",
        "",
        "Parquet, zstd, sorted by key, checked at every write and read (`workflow/secateur/core/tables.py`).",
        "",
    ]
    for table in TABLES.values():
        key = ", ".join(f"`{k}`" for k in table.key) or "none"
        lines += [
            f"## {table.name}",
            "",
            f"{table.doc} Version {table.version}; written by {table.writer}; key {key}.",
            "",
        ]
        if table.checks:
            lines += [f"Checks: {'; '.join(table.checks)}.", ""]
        lines += ["| column | type | null | what |", "|---|---|---|---|"]
        for name, c in table.columns.items():
            kind = "vector, packed" if c.type == VECTOR else str(c.type)
            lines.append(f"| `{name}` | {kind} | {'yes' if c.nullable else ''} | {c.doc} |")
        lines.append("")
    return "\n".join(lines)


def experiments(conf: Path) -> str:
    """The page of experiments: title, data sets and systems of each."""
    lines = [
        "# Experiments",
        "",
        "`make run EXPERIMENT=NAME` runs one; `secateur plan NAME` says first how many jobs that are and how long they take.",
        "",
        "| name | title | data sets | systems and studies |",
        "|---|---|---|---|",
    ]
    for name in names(conf, "experiment"):
        spec = option(conf, "experiment", name)
        systems = ", ".join(f"`{system}`" for system in (*spec.systems, *spec.studies))
        lines.append(f"| `{name}` | {spec.title} | {', '.join(f'`{d}`' for d in spec.datasets)} | {systems} |")
    return "\n".join([*lines, ""])


def kept(docs: Path) -> dict[str, str]:
    """A page of all kept figures for each experiment, and the page that lists them."""
    listed = kept_experiments(docs)
    lines = [
        "# All figures",
        "",
        "Every kept figure with its interval, and every paired difference, by experiment. [Results](../results.md) has what "
        "follows from them.",
        "",
        *(f"- [{name}]({name}.md): `{kept_source(docs, name)['command']}`" for name in listed),
        "",
    ]
    return {"figures/index": "\n".join(lines)} | {f"figures/{name}": complete(docs, name) for name in listed}


def site_pages(root: Path = Path()) -> dict[str, str]:
    """Name and text of each page that is made for the site alone."""
    conf = root / "conf"
    reference = {
        "experiments": experiments(conf),
        "configuration": configuration(conf),
        "plug_ins": plug_ins(),
        "tables": tables(),
    }
    return reference | kept(root / "docs")


def pages(root: Path = Path()) -> dict[Path, str]:
    """Path and text of each file of `docs` that is written from declarations or kept figures."""
    docs = root / "docs"
    return {
        docs / "results.md": quoted((docs / "results.md").read_text(encoding="utf-8"), docs),
        docs / "images" / f"{PICTURED}.svg": kept_picture(root / "conf", docs, PICTURED, SHOWN),
    }
