"""`secateur serve`: the endpoint by itself, over a real socket."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table

pytestmark = pytest.mark.usefixtures("bare")  # a proxy of the machine does not serve its own servers

ROOT = Path(__file__).parents[2]
SAID = "Ann Lee was born in Ghent."


@pytest.fixture
def folder(tmp_path):
    """A project of one passage and one triple."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    home = {"doc_id": "d", "passage_id": "p", "position": 0}
    said = {"head": "Ann Lee", "relation": "born in", "tail": "Ghent"}
    triple = home | said | {f"{part}_original": text for part, text in said.items()} | {"n": 0, "resolved": False}
    rows = {
        "passages/passages": ("passages", [home | {"group_id": "g", "text": SAID}]),
        "triples/openie/0of2/triples": ("triples", [triple]),
        "triples/openie/1of2/triples": ("triples", []),
    }
    for path, (name, own) in rows.items():
        target = tmp_path / "results/toy" / f"{path}.parquet"
        target.parent.mkdir(parents=True)
        write_table(TABLES[name], TABLES[name].frame(own), target)
    return tmp_path


def served(folder: Path, *args: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "secateur.cli", "serve", *args]
    env = os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "SECATEUR_CACHE": str(folder / "cache")}
    return subprocess.Popen(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_system_elsewhere_is_answered_and_counted(folder):
    process = served(folder, "toy", "--adapter", "hipporag2")
    try:
        url = process.stdout.readline().split()[0]
        asked = {"system": "construct an RDF graph", "user": f"Paragraph:\n{SAID}"}
        body = {"model": "any", "messages": [{"role": role, "content": text} for role, text in asked.items()]}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)
        reply = json.loads(urllib.request.urlopen(request, timeout=60).read())["choices"][0]["message"]["content"]
        assert json.loads(reply) == {"triples": [["Ann Lee", "born in", "Ghent"]]}
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        assert said.startswith("calls 1, tokens_in ")
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nowhere", "--adapter", "hipporag2"), "nowhere has no triples of openie here. Fix: snakemake"),
        (("toy", "--adapter", "nobody"), "nobody"),
        (("toy", "--adapter", "hipporag2", "--extractor", "nobody"), "nobody"),
    ],
)
def test_what_cannot_be_served_says_why(folder, args, said):
    process = served(folder, *args)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said in error
    assert "Traceback" not in error
