"""Overrides single resources of single rules; Snakemake itself can only replace the profile's whole list."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from secateur.core.errors import SecateurError, nearest

__all__ = ["PLACEHOLDER", "account_missing", "override", "parse", "rules_of"]

PLACEHOLDER = "CHANGE_ME"  # account in the shipped profiles/slurm/config.yaml


def rules_of(folder: Path) -> tuple[str, ...]:
    """The names of all rules in a folder of rule files."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.smk")))
    return tuple(name for text in texts for name in re.findall(r"^rule (\w+):", text, re.M))


def parse(texts: Iterable[str], rules: Iterable[str]) -> dict[str, dict[str, str]]:
    """{rule: {name: expression}} of `RULE.NAME=VALUE` texts. Raises SecateurError for another form or an unknown rule."""
    resources: dict[str, dict[str, str]] = {}
    names = tuple(rules)
    for text in texts:
        match = re.fullmatch(r"(\w+)\.(\w+)=(.+)", text)
        if match is None:
            raise SecateurError(
                f"resources: {text!r} is invalid. Allowed: RULE.NAME=VALUE. "
                "Fix: --config 'resources=[rank_passages.mem_mb=16000]'"
            )
        rule, name, value = match.groups()
        if rule not in names:
            raise SecateurError(f"resources: {text!r}: no rule {rule!r}{nearest(rule, names)}")
        resources.setdefault(rule, {})[name] = value
    return resources


def override(workflow: Any, resources: Mapping[str, Mapping[str, str]]) -> None:
    """Override resources of rules in the profile, before Snakemake reads the rules."""
    from snakemake.resources import Resource, Resources

    profile = workflow.resource_settings._parsed_overwrite_resources
    for rule, values in resources.items():
        new = Resources({name: Resource.from_cli_expression(name, value) for name, value in values.items()})
        profile[rule] = Resources({**profile.get(rule, {}), **new})


def account_missing(workflow: Any) -> bool:
    """Whether the profile still has the placeholder as account."""
    defaults = workflow.resource_settings._parsed_default_resources
    return "slurm_account" in defaults and str(defaults["slurm_account"].raw).strip("'\"") == PLACEHOLDER
