"""A crate of a finished run: what it says is so, all that it names is there, and nothing in it is of this machine."""

import hashlib
import json
import re
import shutil
import socket
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

HOME = "results/experiments/custom"
METADATA = "ro-crate-metadata.json"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def held(served) -> dict[str, bytes]:
    """The files of the crate."""
    with zipfile.ZipFile(served.crate) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def entities(held) -> dict[str, dict]:
    """What its metadata describes, by `@id`."""
    graph = json.loads(held[METADATA])["@graph"]
    found = {entity["@id"]: entity for entity in graph}
    assert len(found) == len(graph)
    return found


def references(value) -> list[str]:
    if isinstance(value, dict):
        return [value["@id"]] if set(value) == {"@id"} else [one for own in value.values() for one in references(own)]
    return [one for own in value for one in references(own)] if isinstance(value, list) else []


def of_type(entities: dict, kind: str) -> list[dict]:
    return [
        one
        for one in entities.values()
        if kind in (one["@type"], *([*one["@type"]] if isinstance(one["@type"], list) else []))
    ]


def listed(value) -> list:
    return value if isinstance(value, list) else [value]


@pytest.fixture
def again(served, copy_of, tmp_path):
    """A copy of the run with its crate taken away, to damage."""
    project = copy_of(served.project, tmp_path / "again")
    (project.root / HOME / "crate.zip").unlink()
    mine = served.project.root.parent / "mine"  # records name it by its whole path
    assert mine.is_dir()
    return project


def test_every_file_is_described_and_is_what_its_description_says(held, entities):
    files = {unquote(one["@id"]): one for one in of_type(entities, "File") if not one["@id"].startswith("#")}
    assert set(files) == set(held) - {METADATA}
    assert {name for name in files if files[name]["sha256"] != sha256(held[name])} == set()
    assert {name for name in files if files[name]["contentSize"] != str(len(held[name]))} == set()
    assert {unquote(one["@id"]) for one in entities["./"]["hasPart"]} == set(files)


def test_what_is_only_named_is_on_the_disk_as_it_is_said(served, entities):
    named = [one for one in of_type(entities, "File") if one["@id"].startswith("#")]
    assert len(named) > 5
    for one in named:
        path = unquote(one["@id"][1:])
        place = served.project.root / path
        if path.startswith("elsewhere/"):
            place = served.project.root.parent / "mine" / Path(path).name
        assert (one["sha256"], one["contentSize"]) == (sha256(place.read_bytes()), str(place.stat().st_size))


def test_every_reference_leads_somewhere(entities):
    wanted = {
        one
        for entity in entities.values()
        for key, value in entity.items()
        if key != "@id"
        for one in references(value)
    }
    specifications = {one for one in wanted if re.match(r"https://(w3id\.org/ro/crate|bioschemas\.org/profiles)/", one)}
    assert wanted - specifications - set(entities) == set()


def test_every_stage_is_an_action_with_all_that_its_record_holds(served, held, entities):
    records = {name: json.loads(content) for name, content in held.items() if name.endswith("/run.json")}
    actions = {one["subjectOf"]["@id"]: one for one in of_type(entities, "CreateAction") if "subjectOf" in one}
    assert {unquote(name) for name in actions} == set(records)
    assert {record["stage"] for record in records.values()} >= {"prepare_corpus", "answer_questions", "build_report"}
    for name, action in actions.items():
        record = records[unquote(name)]
        given = [entities[one["@id"]] for one in listed(action["object"])]
        files = {unquote(one["@id"]).lstrip("#"): one["sha256"] for one in given if "sha256" in one}
        values = {one["name"]: one["value"] for one in given if one["@type"] == "PropertyValue"}
        made = {unquote(one["@id"]).lstrip("#"): entities[one["@id"]]["sha256"] for one in listed(action["result"])}
        assert (files, made) == (record["inputs"], record["written"])
        assert values.items() >= record["axes"].items()
        assert values[record["stage"]] == record["code"]
        assert set(record["config"]) <= set(values)
        assert action["endTime"] == record["finished"] > action["startTime"]
        assert entities[action["instrument"]["@id"]]["name"] == record["stage"]


def test_the_results_are_those_of_the_experiment(served, held):
    for name in ("metrics.parquet", "comparisons.parquet", "report.html"):
        assert held[f"{HOME}/{name}"] == (served.project.root / HOME / name).read_bytes()
    settings = json.loads(held["configuration.json"])
    assert settings["answer"]["endpoint"]["delays"] == [0.1]  # an override
    assert {"Snakefile", "requirements/lock.txt", "workflow/rules/answers.smk", "scripts/answer_questions.py"} <= set(
        held
    )
    assert {"workflow/secateur/models/http.py", "workflow/secateur/ranking/scorers/zsum.py"} <= set(held)


def test_nothing_is_of_this_machine(served, held):
    address = re.search(r"url=(http://[\d.]+:\d+)", served.said)[1]
    private = [str(served.project.root.parent), str(Path.home()) + "/", address, address.removeprefix("http://")]
    private += [socket.gethostname()] if re.search(r"[\d.-]", socket.gethostname()) else []
    assert [(name, one) for name, content in held.items() for one in private if one.encode() in content] == []
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', held[METADATA].decode())
    assert [text for text in strings if re.match(r"/|~|[A-Z]:\\|file:", text)] == []


def test_the_same_run_gives_the_same_bytes_as_a_file_and_as_a_folder(served, held, tmp_path):
    for out in ("other.zip", "folder"):
        said = served.project.secateur("crate", "custom", "--out", str(tmp_path / out))
        assert said.returncode == 0, said.stderr
    assert (tmp_path / "other.zip").read_bytes() == served.crate.read_bytes()
    files = {
        str(p.relative_to(tmp_path / "folder")): p.read_bytes() for p in (tmp_path / "folder").rglob("*") if p.is_file()
    }
    assert files == held
    said = served.project.secateur("crate", "custom", "--out", str(tmp_path / "folder"))
    assert (said.returncode, said.stdout) == (2, "")
    assert "is there already. Fix: " in said.stderr


def refused(project, *parts: str) -> None:
    said = project.secateur("crate", "custom")
    assert (said.returncode, said.stdout) == (2, ""), said.stdout + said.stderr
    assert len(said.stderr.splitlines()) == 1, said.stderr
    for part in parts:
        assert part in said.stderr, said.stderr
    assert not list((project.root / HOME).glob("*crate*"))


def test_a_file_that_is_not_what_its_stage_wrote_is_refused_with_both_digests(again):
    path = next(again.root.glob("results/**/rankings.parquet"))
    before = sha256(path.read_bytes())
    path.write_bytes(path.read_bytes() + b"\n")
    after = sha256(path.read_bytes())
    refused(
        again,
        str(path.relative_to(again.root)),
        f"found sha256 {after}",
        f"expected {before}",
        "Fix: remove it, then make",
    )


@pytest.mark.parametrize("lost", ["report.html", "metrics.parquet"])
def test_of_a_half_finished_experiment_it_is_said_what_is_missing(again, lost):
    (again.root / HOME / lost).unlink()
    refused(again, "custom is not finished here", f"missing: {HOME}/{lost}", "Fix: make run EXPERIMENT=custom")


def test_a_record_that_is_gone_is_named_by_what_it_was_of(again):
    record = next(again.root.glob("results/custom/passages/run.json"))
    record.unlink()
    refused(again, "missing: results/custom/passages/passages.parquet (the record of its stage)")


def test_results_of_other_code_are_refused(again):
    again.edit("workflow/secateur/models/http.py", "SHOWN = 200", "SHOWN = 100")
    refused(again, "results/custom/custom/answer", "run.json: was made by other code than stands here", "Fix: make run")


def test_what_has_not_been_run_is_named(project):
    refused(project, "custom is not finished here", "Fix: make run EXPERIMENT=custom")


def test_the_public_validator_finds_a_provenance_run_crate(served):
    validator = shutil.which("rocrate-validator")
    if validator is None:
        pytest.skip("rocrate-validator is not installed: pip install roc-validator, in an environment of its own")
    profile = ("-p", "provenance-run-crate-0.5", "-l", "required")
    command = [validator, "-y", "--disable-color", "validate", "--no-paging", "-v", *profile, str(served.crate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if re.search(r"Unable to retrieve the JSON-LD|Name or\s+service not known|<urlopen error", said):
        pytest.skip("the JSON-LD contexts of RO-Crate (https://w3id.org) are not to be had from here")
    assert done.returncode == 0, said
    assert "is a valid provenance-run-crate-0.5" in said
