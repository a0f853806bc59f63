"""What a crate says of data that were fetched, of odd names, of settings that differ, and what it takes out of a text."""

import json
import socket
from pathlib import Path

import pytest
import yaml

from secateur.core.errors import SecateurError
from secateur.crate.contents import SETTINGS, contents
from secateur.crate.datasets import licence_of
from secateur.crate.entities import described
from secateur.crate.material import FINAL, File, Material, Run, kinds_of
from secateur.crate.pack import pack
from secateur.crate.portable import checked, portable, without_machine
from secateur.datasets.registry import RegistryFile

ROOT = Path(__file__).parents[2]
URL = "https://data.example/a%20b/file.json"
ENTRY = RegistryFile(
    name="file.json",
    source="owner/repo@0123456:file.json",
    url=URL,
    sha256="a" * 64,
    bytes=12,
    licence="CC BY-NC 4.0",
    registered_in=Path("data/registry/x.yaml"),
    note="Invented.",
)
RAW, PASSAGES = "results/raw/file.json/file.json", "results/a b/passages/passages.parquet"


def run(place: str, stage: str, inputs: list[str], outputs: list[str], **changes) -> Run:
    record = {
        "stage": stage,
        "axes": {"corpus": "a b"},
        "config": {},
        "inputs": dict.fromkeys(inputs, "b" * 64),
        "outputs": {Path(path).stem: path for path in outputs},
        "code": "0123456789abcdef",
        "finished": "2026-01-01T00:01:00+00:00",
        "wall_seconds": 2.0,
        "versions": {"python": "3.11.7", "snakemake": "9.20.0"},
        "commit": None,
        "warnings": [],
    }
    return Run(place, record | changes)


def found(*extra: Run) -> Material:
    runs = (
        run("results/raw/file.json/run.json", "fetch_dataset", [], [RAW], axes={"file": "file.json"}),
        run("results/a b/passages/run.json", "prepare_corpus", [RAW, "/home/ann/my data/more.jsonl"], [PASSAGES]),
        *extra,
    )
    paths = {path for one in runs for path in (*one.record["inputs"], *one.record["outputs"].values())}
    return Material("none", runs, {path: File(path, "b" * 64, 3) for path in paths})


def entities(material: Material) -> dict[str, dict]:
    scripts = {f"scripts/{one.record['stage']}.py": b'"""Does it."""\n' for one in material.runs}
    held = {"Snakefile": b"", SETTINGS: b"{}", **scripts, **{one.place: b"{}" for one in material.runs}}
    graph = json.loads(described(material, held, {"file.json": ENTRY}))["@graph"]
    return {one["@id"]: one for one in graph}


def test_a_fetched_file_has_its_address_its_licence_and_its_checksum():
    told = entities(without_machine(found(), Path("/clone"), frozenset([URL])))
    entry = told["#registry/file.json"]
    assert (entry["url"], entry["sha256"], entry["contentSize"]) == (URL, "a" * 64, "12")
    assert (entry["license"], entry["identifier"]) == ("CC BY-NC 4.0", "owner/repo@0123456:file.json")
    fetched = told["#run/results/raw/file.json"]
    assert {"@id": "#registry/file.json"} in fetched["object"]
    assert fetched["result"] == {"@id": f"#{RAW}"}
    assert told["#dataset/a%20b"]["isBasedOn"] == {"@id": "#registry/file.json"}
    assert told["#dataset/a%20b"]["license"] == "CC BY-NC 4.0; not stated: a file of whoever ran the experiment"


def test_a_file_outside_the_clone_is_called_by_its_content_and_a_blank_is_written_as_identifiers_want_it():
    told = entities(without_machine(found(), Path("/clone"), frozenset()))
    assert "#elsewhere/bbbbbbbbbbbbbbbb/more.jsonl" in told
    assert "#results/a%20b/passages/passages.parquet" in told
    assert "ann" not in json.dumps(told)


def test_an_option_that_two_rules_read_differently_is_told_by_rule(tmp_path):
    one = run("results/x/run.json", "rank_passages", [], [], axes={"embedder": "minilm"}, config={"embedder.dim": 384})
    two = run("results/y/run.json", "describe_dataset", [], [], axes={"embedder": "minilm"}, config={"embedder.dim": 2})
    three = run("results/z/run.json", "build_report", [], [], axes={}, config={"embedder.dim": 3, "extra.a": 1})
    for name in ("scripts", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    material = Material("quickstart", (one, two, three), {})
    for name in FINAL:
        place = tmp_path / material.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    settings = json.loads(contents(material, tmp_path)[SETTINGS])
    assert settings == {
        "embedder": {"minilm": {"dim": 384}, "rule build_report": {"dim": 3}, "rule describe_dataset": {"dim": 2}}
    }


def test_the_kinds_that_settings_name_are_those_of_the_code_digest():
    config = {"rankers.scorers": {"a": {"kind": "bm25"}, "b": {"kind": "zsum", "lexical": {"kind": "bm25"}}}}
    config |= {"rankers.keep": 64, "reranker.kind": "none", "extra.scorers": {"c": {"kind": "nobody"}}}
    assert kinds_of(config) == ("secateur.ranking.scorers.bm25", "secateur.ranking.scorers.zsum")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/clone/results/a.parquet", "results/a.parquet"),
        ("read /home/ann/x/y.jsonl: 3 rows", "read elsewhere/y.jsonl: 3 rows"),
        ("/home/ann lee/my data", "elsewhere/my data"),
        (f"{Path.home()}/a.jsonl: no such file", "elsewhere/a.jsonl: no such file"),
        ("http://node7.cluster:8000/v1: status 503", "http://host/v1: status 503"),
        (f"from {URL}", f"from {URL}"),
        ("https://me:secret@node7/v1", "https://host/v1"),
        ("a share of 1/2, and and/or", "a share of 1/2, and and/or"),
        ("~/models/x", "~/models/x"),
    ],
)
def test_a_text_is_told_without_its_machine(text, told):
    assert portable({"key": [text]}, Path("/clone"), frozenset([URL])) == {"key": [told]}


def test_a_file_that_names_the_clone_or_holds_a_key_is_refused_by_name(monkeypatch, tmp_path):
    with pytest.raises(SecateurError, match=r"report\.html: names .*, which is of this machine.*Fix: "):
        checked("report.html", f"see {tmp_path}/a".encode(), tmp_path)
    monkeypatch.setattr(socket, "gethostname", lambda: "node-7")
    with pytest.raises(SecateurError, match="names node-7"):
        checked("report.html", b"ran on node-7.", tmp_path)
    assert checked("report.html", b"subnode-77", tmp_path) == b"subnode-77"
    monkeypatch.setenv("SECATEUR_API_KEY", "sk-0123456789")
    with pytest.raises(SecateurError, match="holds the value of a secret") as raised:
        checked("report.html", b"sk-0123456789", tmp_path)
    assert "sk-0123" not in str(raised.value)


def test_a_crate_that_cannot_be_written_leaves_nothing(tmp_path):
    for out in ("a.zip", "a"):
        with pytest.raises(TypeError):
            pack({"one": b"1", "two": None}, tmp_path / out)
    assert list(tmp_path.iterdir()) == []


def test_the_terms_of_all_data_that_are_shipped_are_stated():
    folders = {path.parts[1] for path in map(Path, _shipped())}
    assert {"toy", "red_herrings", "red_herrings_hard"} <= folders
    assert {licence_of(path, {}) for path in _shipped()} == {"Apache-2.0"}
    assert licence_of("data/mine.jsonl", {}).startswith("not stated")


def _shipped() -> list[str]:
    """The files in data/ that options name."""
    named = []
    for path in sorted([*ROOT.glob("conf/corpus/*.yaml"), *ROOT.glob("conf/dataset/*.yaml")]):
        option = yaml.safe_load(path.read_text(encoding="utf-8"))
        named += [*option.get("files", []), f"{option.get('folder')}/questions.jsonl"]
    return [one for one in named if one.startswith("data/")]
