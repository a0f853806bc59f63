"""Generated pages: configuration, plug-ins, tables, experiments and kept figures for the site; quoted tables in `docs`."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from secateur.config import plugins
from secateur.config.compose import names, option
from secateur.config.groups import GROUPS
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import VECTOR
from secateur.report.kept import kept_experiments, kept_source
from secateur.report.results import complete, kept_picture, quoted
from secateur.report.table import Column, Row, Table, markdown

__all__ = ["pages", "site_pages"]

PICTURED, SHOWN = "second_look", ("secateur",)  # experiment and systems of the README's picture


def _page(title: str, *blocks: str) -> str:
    """A page of blocks of Markdown; empty ones are left out."""
    return "\n\n".join(block for block in (f"# {title}", *blocks) if block) + "\n"


def _table(heads: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table of texts; empty without rows. heads: separated by commas."""
    lines = [Row(row) for row in rows]
    return markdown(Table([Column(head, align="left") for head in heads.split(", ")], lines)) if lines else ""


def _quoted(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _settings(cls: type, head: str, prefix: str = "") -> str:
    """The table of a dataclass' fields: type, range, meaning."""
    hints = get_type_hints(cls)
    return _table(
        f"{head}, type, allowed, meaning",
        (
            (
                f"`{prefix}{f.name}`",
                _type(hints[f.name]),
                _range(f.metadata["low"], f.metadata["high"]),
                f.metadata["doc"],
            )
            for f in fields(cls)
        ),
    )


def _type(hint: object) -> str:
    if get_origin(hint) is Literal:
        return " \\| ".join(f"`{value}`" for value in get_args(hint))
    text = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return "`" + text.replace("typing.", "").replace("|", "\\|") + "`"


def _range(low: float | None, high: float | None) -> str:
    low, high = ("" if end is None else end for end in (low, high))
    return f"{low} … {high}".strip() if (low, high) != ("", "") else ""


def configuration(conf: Path) -> str:
    """The page of configuration keys: a table for each group of `conf`."""
    blocks = ["A group is a folder of `conf/`, an option a file or `derived` in one. Overrides: `group.key=value`."]
    for group, cls in GROUPS.items():
        options = f"Options: {_quoted(names(conf, group))}."
        blocks += [f"## {group}", cls.__doc__ or "", options, _settings(cls, "key", f"{group}.")]
    return _page("Configuration", *blocks)


def plug_ins() -> str:
    """The page of plug-ins: each with its settings, by family."""
    blocks = [
        "A plug-in is a file in its family's folder and has the file's name. A dotted name, `mypackage.ranker`, is a module "
        "of yours on `PYTHONPATH`. A plug-in defines a frozen dataclass `Settings`, each field declared with "
        "`secateur.core.fields.key`, and the functions that its family needs."
    ]
    for family, spec in plugins.FAMILIES.items():
        if modules := {name: plugins.load(family, name) for name in plugins.names(family)}:
            needs = _quoted(spec.needs)
            blocks += [f"## {family}", f"In `{spec.package}`; besides `Settings` a plug-in defines {needs}."]
            for name, module in modules.items():
                shown = _figure(module.FIGURE) if family == "metric" else ""
                blocks += [f"### {family} {name}", (module.__doc__ or "").strip(), shown]
                blocks.append(_settings(module.Settings, "setting"))
    return _page("Plug-ins", *blocks)


def _figure(figure: Any) -> str:
    """How a metric is shown."""
    ways = [f"{figure.digits} digits"] + ([f"{figure.better} is better"] if figure.better else [])
    ways += ["shown and tested in pairs"] * figure.headline + ["with a floor"] * figure.floor
    return f"*{figure.title}*: {', '.join(ways)}."


def tables() -> str:
    """The page of tables: key, checks and columns of each."""
    blocks = ["Parquet, zstd, sorted by key, checked at every write and read (`workflow/secateur/core/tables`)."]
    for table in TABLES.values():
        about = f"{table.doc} Version {table.version}; written by {table.writer}; key {_quoted(table.key) or 'none'}."
        checks = f"Checks: {'; '.join(table.checks)}." if table.checks else ""
        columns = (
            (f"`{n}`", "vector, packed" if c.type == VECTOR else str(c.type), "yes" if c.nullable else "", c.doc)
            for n, c in table.columns.items()
        )
        blocks += [f"## {table.name}", about, checks, _table("column, type, null, meaning", columns)]
    return _page("Tables", *blocks)


def experiments(conf: Path) -> str:
    """The page of experiments: title, data sets and systems of each."""
    specs = {name: option(conf, "experiment", name) for name in names(conf, "experiment")}
    rows = (
        (f"`{name}`", spec.title, _quoted(spec.datasets), _quoted((*spec.systems, *spec.studies)))
        for name, spec in specs.items()
    )
    about = (
        "`make run EXPERIMENT=NAME` runs one. `secateur plan NAME` prints its number of jobs and its duration first."
    )
    return _page("Experiments", about, _table("name, title, data sets, systems and studies", rows))


def kept(docs: Path) -> Mapping[str, str]:
    """A page of all kept figures for each experiment, and the page that lists them."""
    listed = kept_experiments(docs)
    links = "\n".join(f"- [{name}]({name}.md): `{kept_source(docs, name)['command']}`" for name in listed)
    about = (
        "Every kept figure with its interval, and every paired difference, by experiment. [Results](../results.md) has "
    )
    index = _page("All figures", about + "what follows from them.", links)
    return {"figures/index": index} | {f"figures/{name}": complete(docs, name) for name in listed}


def site_pages(root: Path = Path()) -> dict[str, str]:
    """Name and text of each page that is made for the site alone."""
    conf = root / "conf"
    reference = {"experiments": experiments(conf), "configuration": configuration(conf)}
    return reference | {"plug_ins": plug_ins(), "tables": tables(), **kept(root / "docs")}


def pages(root: Path = Path()) -> dict[Path, str]:
    """Path and text of each file of `docs` that is written from declarations or kept figures."""
    docs = root / "docs"
    return {
        docs / "results.md": quoted((docs / "results.md").read_text(encoding="utf-8"), docs),
        docs / "images" / f"{PICTURED}.svg": kept_picture(root / "conf", docs, PICTURED, SHOWN),
    }
