"""A crate's description: a Provenance Run Crate (https://w3id.org/ro/wfrun/provenance/0.5) over RO-Crate 1.1.

The experiment is a run of the workflow, each stage's record a run of its rule's script. What is in the crate is a file of it;
what is only named, an intermediate table or what was read, has an `@id` with `#`, its size and its sha256.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from secateur.crate.contents import README, SETTINGS
from secateur.crate.datasets import licence_of, read_by, registered
from secateur.crate.material import Material, Run
from secateur.datasets.registry import RegistryFile
from secateur.stage.ledger import started

__all__ = ["METADATA", "described"]

Entity = dict[str, Any]

METADATA = "ro-crate-metadata.json"
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
CRATE = "https://w3id.org/ro/crate/1.1"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
    WORKFLOW_CRATE: ("Workflow RO-Crate", "1.0"),
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
PYTHON = "https://w3id.org/workflowhub/workflow-ro-crate#python"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
DONE = "http://schema.org/CompletedActionStatus"
RUN, ENGINE, EXPERIMENT, PARAMETER = "#run", "#engine", "#experiment", "#parameter/experiment"
FORMATS = {
    "": "text/plain",
    ".html": "text/html",
    ".j2": "text/plain",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".smk": "text/plain",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}


@dataclass(frozen=True)
class _Crate:
    """What every entity is made from."""

    found: Material
    held: Mapping[str, bytes]
    registry: Mapping[str, RegistryFile]

    def at(self, path: str) -> str:
        """The `@id` of a file that records name."""
        return quote(path) if path in self.held else f"#{quote(path)}"

    def refs(self, paths: Any) -> list[Entity]:
        return [_ref(self.at(path)) for path in sorted(paths)]


def described(found: Material, held: Mapping[str, bytes], registry: Mapping[str, RegistryFile]) -> bytes:
    """The metadata of a crate that holds these files, as JSON-LD; the same bytes for the same experiment."""
    crate = _Crate(found, held, registry)
    entities = [
        *(_descriptor(), _root(crate), _workflow(crate), *_words(crate)),
        *(_whole_run(crate), _engine(crate)),
        *(entity for run in found.runs for entity in _of_run(crate, run)),
        *_steps(crate),
        *_values(crate),
        *_data(crate),
        *_files(crate),
    ]
    graph = [{name: _single(value) for name, value in entity.items()} for entity in entities]
    return (json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False) + "\n").encode()


def _single(value: Any) -> Any:
    """One value by itself and not as a list, as RO-Crate wants it."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _ref(name: str) -> Entity:
    return {"@id": name}


# --- the crate -------------------------------------------------------------------------------------


def _descriptor() -> Entity:
    conforms = [_ref(CRATE), _ref(WORKFLOW_CRATE)]
    return {"@id": METADATA, "@type": "CreativeWork", "about": _ref("./"), "conformsTo": conforms}


def _root(crate: _Crate) -> Entity:
    found = crate.found
    title = next(
        (r.record["config"].get("experiment.title") for r in found.runs if r.record["stage"] == "build_report"), None
    )
    actions = [_ref(name) for name in (RUN, ENGINE, *(_action(run) for run in found.runs))]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Secateur: {found.experiment}",
        "description": f"{title or found.experiment}: what was found, and the {len(found.runs)} stage runs that it comes from.",
        "datePublished": _ended(found),
        "license": _ref(LICENCE),
        "conformsTo": [_ref(profile) for profile in PROFILES],
        "mainEntity": _ref("Snakefile"),
        "about": [_ref(_data_set(name)) for name, _ in read_by(found)],
        "mentions": actions,
        "hasPart": [_ref(quote(path)) for path in sorted(crate.held)],
    }


def _words(crate: _Crate) -> list[Entity]:
    """What is referred to besides: profiles, the licence, languages, the parameter."""
    versions = crate.found.runs[0].record["versions"]
    said = "Of the code, the figures and the toy data. What is quoted of other data keeps the terms given with each data set."
    parameter = {"additionalType": "Text", "name": "experiment", "workExample": _ref(EXPERIMENT)}
    value = {"name": "experiment", "value": crate.found.experiment, "exampleOfWork": _ref(PARAMETER)}
    language = {"@type": "ComputerLanguage"}
    return [
        *(
            {"@id": at, "@type": "CreativeWork", "name": name, "version": version}
            for at, (name, version) in PROFILES.items()
        ),
        {"@id": LICENCE, "@type": "CreativeWork", "name": "Apache License 2.0", "description": said},
        {
            "@id": SNAKEMAKE,
            **language,
            "name": "Snakemake",
            "url": "https://snakemake.github.io",
            "version": versions["snakemake"],
        },
        {"@id": PYTHON, **language, "name": "Python", "url": "https://www.python.org", "version": versions["python"]},
        {"@id": "#snakemake", "@type": "SoftwareApplication", "name": "Snakemake", "url": "https://snakemake.github.io"}
        | {"softwareVersion": versions["snakemake"]},
        {"@id": PARAMETER, "@type": "FormalParameter", **parameter},
        {"@id": EXPERIMENT, "@type": "PropertyValue", **value},
    ]


def _workflow(crate: _Crate) -> Entity:
    rules = _rules(crate)
    return _file(crate, "Snakefile") | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": "Secateur",
        "conformsTo": _ref(BIOSCHEMAS),
        "programmingLanguage": _ref(SNAKEMAKE),
        "license": _ref(LICENCE),
        "version": _commits(crate.found),
        "input": [_ref(PARAMETER)],
        "hasPart": [_ref(_script(rule)) for rule in rules],
        "step": [_ref(_step(rule)) for rule in rules],
    }


def _commits(found: Material) -> str:
    """The commits that stages ran at, `+` behind one whose tree was changed."""
    return ", ".join(sorted({run.record["commit"] or "unknown" for run in found.runs}))


# --- what was run ----------------------------------------------------------------------------------


def _rules(crate: _Crate) -> list[str]:
    """The rules that ran, in the order in which they first began."""
    first = sorted((started(run.record), run.record["stage"]) for run in crate.found.runs)
    return list(dict.fromkeys(rule for _, rule in first))


def _script(rule: str) -> str:
    return f"scripts/{rule}.py"


def _step(rule: str) -> str:
    return f"#step/{rule}"


def _action(run: Run) -> str:
    return f"#run/{quote(run.place.removesuffix('/run.json'))}"


def _says(crate: _Crate, rule: str) -> str:
    """What a rule's script says that it does."""
    return ast.get_docstring(ast.parse(crate.held[_script(rule)])) or rule


def _steps(crate: _Crate) -> list[Entity]:
    return [
        {"@id": _step(rule), "@type": "HowToStep", "name": rule, "position": str(n), "workExample": _ref(_script(rule))}
        for n, rule in enumerate(_rules(crate), 1)
    ]


def _times(begun: str, ended: str) -> Entity:
    return {"startTime": begun, "endTime": ended, "actionStatus": DONE}


def _ended(found: Material) -> str:
    return max(run.record["finished"] for run in found.runs)


def _of_run(crate: _Crate, run: Run) -> list[Entity]:
    """A stage's run, and the step that it was."""
    record, rule = run.record, run.record["stage"]
    name = " ".join([rule, *(f"{axis}={option}" for axis, option in record["axes"].items())])
    entry = registered(next(iter(record["outputs"].values())), crate.registry)
    values = [_ref(at) for at, _, _ in _said(record)]
    made = {
        "@id": _action(run),
        "@type": "CreateAction",
        "name": name,
        "description": _says(crate, rule),
        "instrument": _ref(_script(rule)),
        "object": [*([_ref(_entry(entry))] if entry else []), *crate.refs(record["inputs"]), *values],
        "result": crate.refs(record["outputs"].values()),
        "subjectOf": _ref(quote(run.place)),
        **_times(started(record), record["finished"]),
    }
    control = {"@id": f"#control/{_action(run)[5:]}", "@type": "ControlAction", "name": f"step: {name}"}
    return [made, control | {"instrument": _ref(_step(rule)), "object": _ref(_action(run))}]


def _whole_run(crate: _Crate) -> Entity:
    found = crate.found
    read = {path for _, paths in read_by(found) for path in paths}
    results = [path for path in crate.held if path.startswith(f"{found.home}/") and not path.endswith("run.json")]
    return {
        "@id": RUN,
        "@type": "CreateAction",
        "name": f"the experiment {found.experiment}",
        "description": f"Run of the workflow for the experiment {found.experiment}, as its stages say.",
        "instrument": _ref("Snakefile"),
        "object": [_ref(EXPERIMENT), _ref(SETTINGS), *crate.refs(read)],
        "result": crate.refs(results),
        **_times(min(started(run.record) for run in found.runs), _ended(found)),
    }


def _engine(crate: _Crate) -> Entity:
    controls = [_ref(f"#control/{_action(run)[5:]}") for run in crate.found.runs]
    links = {"instrument": _ref("#snakemake"), "object": controls, "result": _ref(RUN)}
    return {"@id": ENGINE, "@type": "OrganizeAction", "name": "Snakemake runs the stages", **links}


# --- what a run was given --------------------------------------------------------------------------


def _said(record: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """(`@id`, name, value) of a run's wildcards, settings and code fingerprint; one that is said alike is one entity."""
    named = [("wildcard", name, value) for name, value in sorted(record["axes"].items())]
    named += [("setting", name, value) for name, value in sorted(record["config"].items())]
    named.append(("code", record["stage"], record["code"]))
    return [(f"#{kind}/{quote(name)}/{_short(value)}", name, value) for kind, name, value in named]


def _short(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def _values(crate: _Crate) -> list[Entity]:
    """Wildcards, settings and code fingerprints; a value that is no scalar as JSON."""
    told = {at: (name, value) for run in crate.found.runs for at, name, value in _said(run.record)}
    return [
        {"@id": at, "@type": "PropertyValue", "name": name, "value": _plain(value)}
        for at, (name, value) in sorted(told.items())
    ]


def _plain(value: Any) -> str | int | float | bool:
    return value if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


# --- data and files --------------------------------------------------------------------------------


def _data_set(name: str) -> str:
    return f"#dataset/{quote(name)}"


def _entry(entry: RegistryFile) -> str:
    return f"#registry/{quote(entry.name)}"


def _data(crate: _Crate) -> list[Entity]:
    """Data sets with the files that they were read from, and what the registry says of those that were fetched."""
    sets: list[Entity] = []
    entries: dict[str, RegistryFile] = {}
    for name, paths in read_by(crate.found):
        terms = sorted({licence_of(path, crate.registry) for path in paths})
        known = {entry.name: entry for path in paths if (entry := registered(path, crate.registry))}
        basis = {"isBasedOn": [_ref(_entry(entry)) for entry in known.values()]} if known else {}
        parts = {"hasPart": crate.refs(paths), "license": "; ".join(terms)}
        sets.append({"@id": _data_set(name), "@type": "Dataset", "name": name, **parts, **basis})
        entries |= known
    return sets + [_of_registry(entry) for _, entry in sorted(entries.items())]


def _of_registry(entry: RegistryFile) -> Entity:
    said = {"description": entry.note, "license": entry.licence, "identifier": entry.source, "url": entry.url}
    said |= {"sha256": entry.sha256, "contentSize": None if entry.bytes is None else str(entry.bytes)}
    return {"@id": _entry(entry), "@type": "Dataset", "name": entry.name} | {k: v for k, v in said.items() if v}


def _file(crate: _Crate, path: str) -> Entity:
    """A file of the crate, or one that is only named."""
    if path in crate.held:
        sha256, size = hashlib.sha256(crate.held[path]).hexdigest(), len(crate.held[path])
    else:
        sha256, size = crate.found.files[path].sha256, crate.found.files[path].bytes
    form = FORMATS.get(PurePath(path).suffix, "application/octet-stream")
    said = {"name": path, "sha256": sha256, "contentSize": str(size), "encodingFormat": form}
    return {"@id": crate.at(path), "@type": "File", **said}


def _files(crate: _Crate) -> list[Entity]:
    """Every file but the workflow's own, which stands first."""
    scripts = {_script(rule): rule for rule in _rules(crate)}
    read = {path for _, paths in read_by(crate.found) for path in paths}
    entities = []
    for path in sorted({*crate.held, *crate.found.files} - {"Snakefile"}):
        entity = _file(crate, path)
        if path in scripts:
            own = {"@type": ["File", "SoftwareSourceCode"], "name": scripts[path], "programmingLanguage": _ref(PYTHON)}
            entity |= own | {"description": _says(crate, scripts[path]), "version": _commits(crate.found)}
        if path == README:
            entity["about"] = _ref("./")
        if path in read:
            entity["license"] = licence_of(path, crate.registry)
        entities.append(entity)
    return entities
