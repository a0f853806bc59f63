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


@pytest.mark.parametrize("status", [302, 307, 308])
def test_an_address_that_sends_elsewhere_is_followed(server, tmp_path, status):
    found = fetch(entry(url=f"{server}/moved/{status}/bears.json"), tmp_path / "bears.json")
    assert (tmp_path / "bears.json").read_bytes() == CONTENT
    assert found.bytes == len(CONTENT)


def test_every_address_is_the_raw_form_of_its_source():
    registry = load_registry(REGISTRY)
    assert len(registry) == 28
    for file in registry.values():
        repository, _, rest = file.source.partition("@")
        commit, _, path = rest.partition(":")
        if file.url is not None:
            hub = f"https://huggingface.co/datasets/{repository}/resolve/{commit}/{path}"
            raw = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
            assert file.url in (raw, hub, ADDRESSES.get(file.name))
        assert file.licence and file.note


def test_only_longmemeval_has_no_checksum_yet():
    registry = load_registry(REGISTRY).values()
    assert {file.name for file in registry if not file.sha256} == {"longmemeval_s_cleaned.json", "longmemeval_s.json"}


def test_what_is_without_an_address_names_what_to_use_instead():
    without = [file for file in load_registry(REGISTRY).values() if file.url is None]
    by_name = {file.name: file for file in without}
    assert "stem_question_dev.json" in by_name
    assert len(by_name) == 1
    assert "stem_old" in by_name["stem_question_dev.json"].instead[0]
    assert "dataset stem)" in by_name["stem_question_dev.json"].instead[1]
    assert all(file.instead for file in without)


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


def test_a_download_is_verified_and_put_in_place_alone(tmp_path, server):
    result = fetch(entry(url=f"{server}/bears.json"), tmp_path / "raw" / "bears.json")
    assert result.source == f"{server}/bears.json"
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["bears.json"]


@pytest.mark.parametrize(
    ("path", "said"), [("/nothing", "404"), ("/other.json", "wrong checksum"), ("/cut.json", "truncated")]
)
def test_a_failed_download_says_why_names_the_mirror_setting_and_leaves_nothing(tmp_path, server, path, said):
    with pytest.raises(SecateurError, match=said) as caught:
        fetch(entry(url=server + path), tmp_path / "raw" / "bears.json")
    assert "bears.json" in str(caught.value)
    assert "MIRROR=DIR" in str(caught.value)
    assert not list((tmp_path / "raw").iterdir())


def test_an_unreachable_address_is_named(tmp_path):
    with pytest.raises(SecateurError, match=r"http://127\.0\.0\.1:1/x .*MIRROR=DIR"):
        fetch(entry(url="http://127.0.0.1:1/x"), tmp_path / "bears.json")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_fetch_left_behind_is_overwritten(tmp_path, server):
    (tmp_path / ".bears.json.part").write_bytes(b"half")
    fetch(entry(url=f"{server}/bears.json"), tmp_path / "bears.json")
    assert [path.name for path in tmp_path.iterdir()] == ["bears.json"]


def test_a_failed_fetch_leaves_an_earlier_good_file_alone(tmp_path, server):
    (tmp_path / "bears.json").write_bytes(CONTENT)
    with pytest.raises(SecateurError):
        fetch(entry(url=f"{server}/other.json"), tmp_path / "bears.json")
    assert (tmp_path / "bears.json").read_bytes() == CONTENT
