# Helpers of the rules: the experiment, its variants, each rule's parameters. Paths stand in secateur.core.layout.

import json
import os
import re
import sys
from dataclasses import fields
from pathlib import Path

from secateur.config import plugins
from secateur.core import layout
from secateur.planning import plan
from secateur.stage import provenance
from secateur.config import slices
from secateur.config import compose
from secateur.config.groups import GROUPS
from secateur.config.leaves import leaf
from secateur.config.limits import unlimited
from secateur.core.errors import SecateurError
from secateur.core.redaction import redacted

ROOT = Path(workflow.basedir)
CONF = ROOT / "conf"


def _stop(error):
    """End with the one message, without a traceback."""
    print(redacted(f"\n{error}\n"), file=sys.stderr)
    sys.exit(2)


def _listed(value):
    return tuple(value.split()) if isinstance(value, str) else tuple(str(v) for v in value or ())


EXPERIMENT = str(config.get("experiment", "quickstart"))
os.environ.update(SECATEUR_EXPERIMENT=EXPERIMENT)  # goes into the records, not into params
os.environ.update(POLARS_MAX_THREADS="1")  # read once, when a script imports it: sums depend on it
FOLDER = config.get("data")
OVERRIDES = _listed(config.get("overrides")) + plan.of_folder(FOLDER)

if FOLDER and unlimited(EXPERIMENT)[0] not in ("custom", "custom_dialogue", "custom_beir"):
    _stop(
        f"DATA is {FOLDER}, but experiment {EXPERIMENT!r} has its own data. Fix: make run EXPERIMENT=custom DATA={FOLDER}"
    )

try:
    for name, value in vars(compose.local(CONF)).items():
        if value is not None:  # the environment wins over the file
            os.environ.setdefault(f"SECATEUR_{name.upper()}", str(value))
    VARIANTS = plan.variants(CONF, EXPERIMENT, OVERRIDES)
except SecateurError as error:
    _stop(error)

CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))  # once a machine's own settings are known

if any(re.fullmatch("--dry-?run|-[a-zA-Z]*n[a-zA-Z]*", flag) for flag in sys.argv):
    changed = plan.changes(VARIANTS, Path(f"results/experiments/{EXPERIMENT}/run.json"))
    if changed:
        print(f"\n{EXPERIMENT} {changed}\n", file=sys.stderr)


wildcard_constraints:
    **{group: compose.pattern(CONF, group) for group in GROUPS},
    file=r"[A-Za-z0-9_.]+",
    shard=r"\d+of\d+",
    ranking=rf"({'|'.join(layout.FAMILIES)})/[^/]+",
    pick=r"[^/]+",
    book=r"[^/]+",
    imported=r"[^/]+",
    judged_too=r"[A-Za-z0-9_]+",
    source=layout.SOURCE,


def option(group, name):
    """One option of one group, overrides applied."""
    return compose.option(CONF, group, name, OVERRIDES, EXPERIMENT)


def named(group, wildcards):
    """The option of a group that a job's wildcards name, inside a path or by themselves."""
    return option(group, layout.options_of(wildcards)[group])


def leaf_params(rule, *keys, **extra):
    """A rule's params: one `key=value` string per leaf of its config slice, and its code digest.

    A slice is `group`, `group.key`, or `group=option` where no wildcard names the option. The digest follows the kinds
    that the leaves name: the stage can load no others.
    """
    families = []  # (group, key, option, family) of the leaves that name kinds

    def chosen(group, fixed, wildcards):
        return option(group, fixed) if fixed else named(group, wildcards)

    def value_of(group, key, fixed):
        return lambda wildcards: f"{group}.{key}={leaf(chosen(group, fixed, wildcards), key)}"

    def code(wildcards):
        modules = set()
        for group, key, fixed, family in families:
            spec = getattr(chosen(group, fixed, wildcards), key)
            modules |= {plugins.module_of(family, kind) for kind in plugins.named(spec) if kind != layout.NONE}
        own = (rule, ROOT, tuple(sorted(modules)))
        provenance.note_code(CACHE, *own)
        return f"code={provenance.code_digest(*own)}"

    found = {}
    for text in keys:
        path, _, fixed = text.partition("=")
        group, _, key = path.partition(".")
        for field in fields(GROUPS[group]):
            if key in ("", field.name):
                found[f"{group}_{field.name}"] = value_of(group, field.name, fixed)
                if field.metadata["family"]:
                    families.append((group, field.name, fixed, field.metadata["family"]))
    for name, function in extra.items():
        found[name] = _extra(name, function)
    return found | {"code": code}


def _extra(name, function):
    return lambda wildcards: f"extra.{name}={json.dumps(function(wildcards), sort_keys=True, separators=(',', ':'))}"


def order_of(wildcards):
    """What the rows of a source may know of the order of the text."""
    return layout.order_of(layout.options_of(wildcards))


def of_options(function):
    """An input function of a job's options."""
    return lambda wildcards: function(layout.options_of(wildcards))


def made_elsewhere(path, fix):
    """A file that no rule makes."""
    if path is None or not Path(path).is_file():
        _stop(f"{path}: no such file. Fix: {fix}.")
    return path


def unique(values):
    return list(dict.fromkeys(values))


GRAPH, UTILITY = layout.pattern(layout.GRAPH), layout.pattern(layout.FAMILIES["utility"])
CONTEXTS = "results/{corpus}/{dataset}/{source}/contexts.parquet"
LEARNT = layout.pattern(layout.LEARNT)
