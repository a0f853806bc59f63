"""The files that a crate has in it: results, records, the code that was run, settings, locks. All else is only named."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from secateur.config.groups import GROUPS
from secateur.config.limits import unlimited
from secateur.core import layout
from secateur.crate.material import FINAL, Material, kinds_of
from secateur.stage.provenance import imports

__all__ = ["README", "SETTINGS", "code", "contents"]

SETTINGS = "configuration.json"
README = "README.md"
SAID = """# Secateur: {experiment}

An [RO-Crate](https://www.researchobject.org/workflow-run-crate/) of one experiment: what was found (`{home}`), the record
of each stage (`run.json` below `results`), the settings as they were composed (`configuration.json`), the rules, scripts
and modules that were run, and the locked versions. `ro-crate-metadata.json` says how they belong together, and names by
size and sha256 what is not in it: intermediate tables and the data that were read.
"""
ALWAYS = ("Snakefile", "LICENSE", "pyproject.toml", "requirements/*.txt", "workflow/rules/**/*.smk")


def contents(found: Material, root: Path) -> dict[str, bytes]:
    """Path in the crate, which is that in the clone, to bytes; records and settings as `found` tells them."""
    experiment = f"conf/experiment/{unlimited(found.experiment)[0]}.yaml"
    paths = [path for pattern in (*ALWAYS, experiment) for path in root.glob(pattern)]
    paths += [root / found.home / name for name in FINAL] + code(found, root)
    held = {str(path.relative_to(root)): path.read_bytes() for path in paths}
    held |= {run.place: _json(run.record) for run in found.runs}
    said = SAID.format(experiment=found.experiment, home=found.home).encode()
    return held | {README: said, SETTINGS: _json(_settings(found))}


def code(found: Material, root: Path) -> list[Path]:
    """The scripts of the rules that ran, and the modules and templates of the library that decide what these compute."""
    library, paths = root / "workflow" / "secateur", set()
    for rule, kinds in {(run.record["stage"], kinds_of(run.record["config"])) for run in found.runs}:
        script = root / "scripts" / f"{rule}.py"
        modules = [library.joinpath(*name.split(".")[1:]) for name in imports(library, script, kinds)]
        paths |= {script, *_sources(modules)}
    return sorted(paths)


def _sources(modules: Iterable[Path]) -> list[Path]:
    """The files of modules of the library, with the templates beside them; packages hold no code."""
    files = [module.with_suffix(".py") for module in modules]
    own = [file for file in files if file.is_file()]
    return own + [path for file in own for path in file.parent.glob(f"{file.stem}.*.j2")]


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _settings(found: Material) -> dict[str, dict[str, dict[str, Any]]]:
    """The configuration as it was composed, overrides applied: group, option, key. Of each option those keys that a stage
    depends on; where no path of a stage names the option, its rule does."""
    settings: dict[str, dict[str, dict[str, Any]]] = {}
    for run in found.runs:
        options = layout.options_of(run.record["axes"])
        for path, value in run.record["config"].items():
            group, _, key = path.partition(".")
            if group in GROUPS:
                own, rule = settings.setdefault(group, {}), f"rule {run.record['stage']}"
                option = options.get(group, rule)
                told = own.setdefault(option, {}).setdefault(key, value)
                if told != value:  # the rule has it from another option than its path names
                    own.setdefault(rule, {})[key] = value
    return {group: dict(sorted(options.items())) for group, options in sorted(settings.items())}
