"""The registry and the fetching of its files."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from tests.support.loaded import lines
from tests.support.loopback import Loopback, Replying, running

from secateur.core.errors import SecateurError
from secateur.datasets.fetch import fetch
from secateur.datasets.registry import RegistryFile, load_registry

pytestmark = pytest.mark.usefixtures("bare")  # a proxy of the machine does not serve its own servers

REGISTRY = Path(__file__).parents[2] / "data" / "registry"
CONTENT = b'[{"text": "The bear sleeps."}]' * 100
ADDRESSES = {"hotpot_dev_distractor_v1.json": "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json"}
RECORDS = [{"score": 1.5, "id": "q1", "text": "Bärlauch \U0001f43b"}]
RECORDS += [{"id": "q2"}, {"id": "q3", "text": "", "more": []}]
PART = '[{"text": "Bärlauch \U0001f43b", "id": "q1"}, {"text": "", "id": "q3"}]'.encode()


def entry(content=CONTENT, **changes) -> RegistryFile:
    keys = {"name": "bears.json", "source": "owner/repo@" + "0" * 40 + ":bears.json"}
    keys |= {"url": None, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    keys |= {"licence": "MIT", "registered_in": Path("data/registry/bears.yaml")}
    return RegistryFile(**keys | changes)


BODIES = {"bears.json": CONTENT, "other.json": b"x" * len(CONTENT), "cut.json": CONTENT[:500], "text": b"bears"}
BODIES |= {"list": json.dumps(RECORDS, indent=4).encode(), "lines": lines(RECORDS).encode()}
BODIES |= {"object": b'{"a": NaN, "docs": [1]}'}


class Files(Replying):
    def do_GET(self) -> None:
        _, *moved, name = self.path.split("/")
        found = BODIES.get(name, b"")
        length = len(CONTENT) if name == "cut.json" else len(found)  # it claims more than it sends
        self.send_response(int(moved[-1]) if moved else 200 if found else 404)
        self.send_header("Location", f"/{name}")  # as a hub sends to where it stores: /moved/STATUS/NAME
        self.send_header("Content-Length", str(0 if moved else length))
        self.end_headers()
        self.wfile.write(b"" if moved else found)


@pytest.fixture
def server():
    with running(Loopback(Files)) as server:
        yield server.url


def test_every_address_is_the_raw_form_of_its_source():
    for file in load_registry(REGISTRY).values():
        repository, _, rest = file.source.partition("@")
        commit, _, path = rest.partition(":")
        hub = f"https://huggingface.co/datasets/{repository}/resolve/{commit}/{path}"
        raw = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
        assert file.url in (None, raw, hub, ADDRESSES.get(file.name))
        assert file.licence and file.note
        assert file.url or file.instead


@pytest.mark.parametrize(
    ("form", "keeps", "part"),
    [("list", ("text", "id"), PART), ("lines", ("text", "id"), PART), ("object", ("docs",), b'{"docs": [1]}')],
)
def test_the_registered_keys_stay_and_the_checksum_is_of_these(tmp_path, server, form, keeps, part):
    kept = entry(part, url=f"{server}/{form}", keeps=keeps)
    found = fetch(kept, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == part
    assert (found.bytes, found.sha256) == (len(part), hashlib.sha256(part).hexdigest())
    (tmp_path / "bears.json").write_bytes(part)
    fetch(kept, tmp_path / "b", tmp_path)  # a mirror has the part
    assert (tmp_path / "b").read_bytes() == part


@pytest.mark.parametrize(("path", "said"), [("list", "wrong checksum"), ("text", "neither JSON nor JSON lines")])
def test_another_part_is_refused(tmp_path, server, path, said):
    with pytest.raises(SecateurError, match=said):
        fetch(entry(PART, url=f"{server}/{path}", keeps=("id",)), tmp_path / "raw" / "a")
    assert not list((tmp_path / "raw").iterdir())


def test_the_mirrors_plain_copy_comes_before_its_gzipped_one_and_both_before_the_address(tmp_path, server):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    fetch(entry(url=f"{server}/bears.json"), tmp_path / "a", mirror)
    (mirror / "bears.json.gz").write_bytes(gzip.compress(CONTENT))
    zipped = fetch(entry(url="http://127.0.0.1:1/"), tmp_path / "b", mirror)
    (mirror / "bears.json").write_bytes(CONTENT)
    plain = fetch(entry(url="http://127.0.0.1:1/"), tmp_path / "c", mirror)
    assert [(tmp_path / name).read_bytes() for name in "abc"] == [CONTENT] * 3
    assert (zipped.source, plain.source) == (str(mirror / "bears.json.gz"), str(mirror / "bears.json"))
    assert (zipped.bytes, zipped.sha256) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.mark.parametrize("moved", ["", "/moved/302", "/moved/307", "/moved/308"])
def test_a_download_is_followed_where_it_was_sent_verified_and_put_in_place_alone(tmp_path, server, moved):
    folder, url = tmp_path / "raw", f"{server}{moved}/bears.json"
    folder.mkdir()
    (folder / ".bears.json.part").write_bytes(b"half")  # of a fetch that was killed
    found = fetch(entry(url=url), folder / "bears.json")
    assert (found.source, found.bytes) == (url, len(CONTENT))
    assert (folder / "bears.json").read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == ["bears.json"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nothing", "404"),
        ("/other.json", "wrong checksum"),
        ("/cut.json", "truncated"),
        ("http://127.0.0.1:1/x", r"http://127\.0\.0\.1:1/x "),
    ],
)
@pytest.mark.parametrize("before", [None, CONTENT])
def test_a_failed_download_says_why_names_the_mirror_setting_and_leaves_what_there_was(
    tmp_path, server, path, said, before
):
    place = tmp_path / "raw" / "bears.json"
    place.parent.mkdir()
    if before is not None:
        place.write_bytes(before)
    with pytest.raises(SecateurError, match=said) as caught:
        fetch(entry(url=path if path.startswith("http") else server + path), place)
    assert "bears.json" in str(caught.value)
    assert "MIRROR=DIR" in str(caught.value)
    assert [file.read_bytes() for file in place.parent.iterdir()] == ([] if before is None else [before])
