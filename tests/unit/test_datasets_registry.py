"""The registry and the fetching of its files."""

import gzip
import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.support.loaded import lines
from tests.support.loopback import running

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


def answer(request, paths):
    """One reply of the loopback server; `paths` maps a path to (body, length claimed)."""
    if request.path.startswith("/moved/"):  # as a hub sends to where it stores: /moved/STATUS/NAME
        _, _, status, name = request.path.split("/")
        request.send_response(int(status))
        request.send_header("Location", f"/{name}")
        request.send_header("Content-Length", "0")
        return request.end_headers()
    if request.path not in paths:
        return request.send_error(404)
    body, length = paths[request.path]
    request.send_response(200)
    request.send_header("Content-Length", str(length))
    request.end_headers()
    request.wfile.write(body)


@pytest.fixture
def server():
    paths = {"/bears.json": (CONTENT, len(CONTENT)), "/other.json": (b"x" * len(CONTENT), len(CONTENT))}
    paths |= {"/cut.json": (CONTENT[:500], len(CONTENT))}
    forms = {"list": json.dumps(RECORDS, indent=4), "lines": lines(RECORDS)}
    forms |= {"object": '{"a": NaN, "docs": [1]}', "text": "bears"}
    paths |= {f"/{name}": (text.encode(), len(text.encode())) for name, text in forms.items()}
    methods = {"do_GET": lambda self: answer(self, paths), "log_message": lambda *_: None}
    with running(ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (BaseHTTPRequestHandler,), methods))) as httpd:
        yield f"http://127.0.0.1:{httpd.server_port}"


def test_every_address_is_the_raw_form_of_its_source():
    registry = load_registry(REGISTRY)
    assert len(registry) == 29
    for file in registry.values():
        repository, _, rest = file.source.partition("@")
        commit, _, path = rest.partition(":")
        hub = f"https://huggingface.co/datasets/{repository}/resolve/{commit}/{path}"
        raw = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
        assert file.url in (None, raw, hub, ADDRESSES.get(file.name))
        assert file.licence and file.note
    unchecked = {file.name for file in registry.values() if not file.sha256}
    assert unchecked == {"longmemeval_s_cleaned.json", "longmemeval_s.json"}
    (without,) = (file for file in registry.values() if file.url is None)
    assert "stem_old" in without.instead[0]  # what to use instead
    assert "dataset stem)" in without.instead[1]


@pytest.mark.parametrize("form", ["list", "lines"])
def test_of_records_the_registered_keys_stay_and_the_checksum_is_of_these(tmp_path, server, form):
    part = entry(PART, url=f"{server}/{form}", keeps=("text", "id"))
    found = fetch(part, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == PART
    assert (found.bytes, found.sha256) == (len(PART), hashlib.sha256(PART).hexdigest())
    (tmp_path / "bears.json").write_bytes(PART)
    fetch(part, tmp_path / "b", tmp_path)  # a mirror has the part
    assert (tmp_path / "b").read_bytes() == PART


def test_of_one_object_the_registered_keys_stay(tmp_path, server):
    fetch(entry(b'{"docs": [1]}', url=f"{server}/object", keeps=("docs",)), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b'{"docs": [1]}'


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
