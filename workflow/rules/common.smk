# Shared by all rules: the experiment, its variants, and the params of a rule. Paths are defined in secateur.core.layout.

import json
import os
import re
import sys
from dataclasses import fields
from pathlib import Path

from secateur.config import code, compose, plugins, slices
from secateur.config.groups import GROUPS
from secateur.config.leaves import leaf
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.events import tell
from secateur.core.workspace import own_code
from secateur.planning import earlier, plan, sources
from secateur.stage import provenance

ROOT = Path(workflow.basedir)
CONF = ROOT / "conf"


def stop(error):
    """End the run with a message and no traceback."""
    tell(f"\n{error}\n")
    sys.exit(2)


def or_stop(function):
    """The function; a SecateurError that it raises ends the run with its message."""

    def call(*arguments):
        try:
            return function(*arguments)
        except SecateurError as error:
            stop(error)

    return call


EXPERIMENT = str(config.get("experiment", "quickstart"))
OVERRIDES = compose.separated(config.get("overrides"))
# For records, not params; and Polars reads its threads once, at import: sums depend on them.
os.environ.update(SECATEUR_EXPERIMENT=EXPERIMENT, SECATEUR_OVERRIDES=json.dumps(OVERRIDES), POLARS_MAX_THREADS="1")

own_code()
for name, value in vars(or_stop(compose.local)(CONF)).items():
    if value is not None:  # environment variables win over conf/local
        os.environ.setdefault(f"SECATEUR_{name.upper()}", str(value))
VARIANTS = or_stop(plan.variants)(CONF, EXPERIMENT, OVERRIDES)
CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))  # after conf/local is read
code.remembered(CACHE / "code")
if any(re.fullmatch("--dry-?run|-[a-zA-Z]*n[a-zA-Z]*", flag) for flag in sys.argv):
    if changes := earlier.changes(VARIANTS, Path(f"results/experiments/{EXPERIMENT}/run.json")):
        print(f"\n{EXPERIMENT} {changes}\n", file=sys.stderr)


wildcard_constraints:
    **{group: compose.pattern(CONF, group) for group in GROUPS},
    file=r"[A-Za-z0-9_.]+",
    shard=r"\d+of\d+",
    ranking=rf"({'|'.join(sorted({*layout.FAMILIES} - {layout.IMPORTED}))})/[^/]+",
    pick=r"[^/]+",
    book=r"[^/]+",
    imported=r"[^/]+",
    judged_too=r"[A-Za-z0-9_]+",
    length=r"(\.[^/.]+)?",
    part=r"(/\d+of\d+)?",
    source=layout.SOURCE,


def option(group, name):
    """An option of a group, with the overrides applied."""
    return compose.option(CONF, group, name, OVERRIDES, EXPERIMENT)


def named(group, wildcards):
    """The option of a group that a job's wildcards name."""
    return option(group, layout.options_of(wildcards)[group])


def leaf_params(rule, *keys, **extra):
    """Params of a rule: a `key=value` text for each leaf of its config slice, and the digest of its code.

    A key is `group`, `group.key`, or `group=option` where no wildcard names the option. The digest covers the plug-ins
    that the leaves name: a stage loads no others. extra: functions of the wildcards.
    """
    families, models = [], []  # (group, key, option, family) of leaves that name plug-ins; those that name models

    def chosen(group, fixed, wildcards):
        return option(group, fixed) if fixed else named(group, wildcards)

    def value_of(group, key, fixed):
        return lambda wildcards: f"{group}.{key}={leaf(chosen(group, fixed, wildcards), key)}"

    def extra_of(name, function):
        return lambda wildcards: (
            f"extra.{name}={json.dumps(function(wildcards), sort_keys=True, separators=(',', ':'))}"
        )

    def code(wildcards):
        modules = set()
        for group, key, fixed, family in families:
            spec = getattr(chosen(group, fixed, wildcards), key)
            modules |= {plugins.module_of(family, kind) for kind in plugins.names_in(spec) if kind != layout.NONE}
        parts = (rule, ROOT, tuple(sorted(modules)))
        provenance.note_code(CACHE, *parts)
        return f"code={provenance.code_digest(*parts)}"

    def content(wildcards):
        return sources.content_of_models((getattr(chosen(g, o, wildcards), k) for g, k, o in models), CACHE)

    params = {}
    for text in keys:
        path, _, fixed = text.partition("=")
        group, _, key = path.partition(".")
        for field in fields(GROUPS[group]):
            if key in ("", field.name):
                params[f"{group}_{field.name}"] = value_of(group, field.name, fixed)
                if f"{group}.{field.name}" in sources.MODELS:
                    models.append((group, field.name, fixed))
                if field.metadata["family"]:
                    families.append((group, field.name, fixed, field.metadata["family"]))
    extra |= {"models": content} if models else {}
    return params | {name: extra_of(name, function) for name, function in extra.items()} | {"code": code}


def order_of(wildcards):
    """`blind` or `aware`: whether the rows of a source depend on the order of the text."""
    return layout.order_of(layout.options_of(wildcards))


def of_options(function):
    """An input function of a job's options."""
    return lambda wildcards: function(layout.options_of(wildcards))


GRAPH, UTILITY = layout.pattern(layout.GRAPH), layout.pattern(layout.FAMILIES["utility"])
PASSAGES = "results/{corpus}/passages/passages.parquet"
QUESTIONS = "results/{corpus}/{dataset}/questions/questions.parquet"
EVIDENCE = "results/{corpus}/{dataset}/questions/evidence.parquet"
CONTEXTS = "results/{corpus}/{dataset}/{source}/contexts.parquet"
LEARNT = layout.pattern(layout.LEARNT)


include: "functions/shards.smk"
