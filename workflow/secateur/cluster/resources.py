"""What a rule asks of the cluster: one figure of one rule replaced, without replacing the profile's whole list."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from secateur.core.errors import SecateurError, nearest

__all__ = ["PLACEHOLDER", "account_missing", "asked", "override", "rules_of"]

PLACEHOLDER = "CHANGE_ME"  # of profiles/slurm/config.yaml


def rules_of(folder: Path) -> tuple[str, ...]:
    """The names of all rules in a folder of rule files."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.smk")))
    return tuple(name for text in texts for name in re.findall(r"^rule (\w+):", text, re.M))


def asked(texts: Iterable[str], rules: Iterable[str]) -> dict[str, dict[str, str]]:
    """`RULE.NAME=VALUE` strings as {rule: {name: expression}}. Raises SecateurError for any other form or rule."""
    found: dict[str, dict[str, str]] = {}
    known = tuple(rules)
    for text in texts:
        match = re.fullmatch(r"(\w+)\.(\w+)=(.+)", text)
        if match is None:
            raise SecateurError(
                f"resources: {text!r} is none. Allowed: RULE.NAME=VALUE. Fix: --config 'resources=[rank_passages.mem_mb=16000]'"
            )
        rule, name, value = match.groups()
        if rule not in known:
            raise SecateurError(f"resources: {text!r}: there is no rule {rule!r}{nearest(rule, known)}")
        found.setdefault(rule, {})[name] = value
    return found


def override(workflow: Any, given: Mapping[str, Mapping[str, str]]) -> None:
    """Replace single resources of single rules, before the rules are read; all others stay as the profile has them."""
    from snakemake.resources import Resource, Resources

    profile = workflow.resource_settings._parsed_overwrite_resources
    for rule, own in given.items():
        new = Resources({name: Resource.from_cli_expression(name, value) for name, value in own.items()})
        profile[rule] = Resources({**profile.get(rule, {}), **new})


def account_missing(workflow: Any) -> bool:
    """Whether the profile's account was left as it was shipped."""
    defaults = workflow.resource_settings._parsed_default_resources
    return "slurm_account" in defaults and str(defaults["slurm_account"].raw).strip("'\"") == PLACEHOLDER
