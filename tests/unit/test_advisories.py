"""Advisories on the locked versions, from a server that answers as OSV does, over a real socket."""

import json
import re
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from loopback import Replying, running

from secateur.commands import advisories as command
from secateur.core.errors import SecateurError
from secateur.report.advisories import Advisory, Unreached, asked, keep, kept, locked, of_these

ROOT = Path(__file__).parents[2]
KNOWN = {
    "PYSEC-1": {
        "id": "PYSEC-1",
        "summary": "Reads a file\n  it should not.",
        "aliases": ["CVE-2026-1", "GHSA-a"],
        "affected": [
            {
                "package": {"name": "Odd_Name", "ecosystem": "PyPI"},
                "ranges": [
                    {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "abcdef"}]},
                    {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.2.1"}, {"fixed": "1.3"}]},
                ],
            },
            {"package": {"name": "other"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "9"}]}]},
        ],
    },
    "GHSA-b": {"id": "GHSA-b", "details": "No summary."},
}
ODD = Advisory("odd-name", "1.2", "PYSEC-1", ("CVE-2026-1", "GHSA-a"), ("1.2.1", "1.3"), "Reads a file it should not.")
SECOND = Advisory("odd-name", "1.2", "GHSA-b", (), (), "No summary.")


class Osv(ThreadingHTTPServer):
    """/v1/querybatch with a page for each advisory of a version, and /v1/vulns/ID."""

    daemon_threads = True

    def __init__(self, affected: dict[tuple[str, str], list[str]]) -> None:
        self.affected, self.asked = affected, []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def result(self, query: dict) -> dict:
        assert query["package"]["ecosystem"] == "PyPI"
        ids = self.affected.get((query["package"]["name"], query["version"]), [])
        page = int(query.get("page_token", 0))
        more = {"next_page_token": str(page + 1)} if page + 1 < len(ids) else {}
        return {"vulns": [{"id": ids[page], "modified": "2026-01-01T00:00:00Z"}]} | more if ids else {}


class Handler(Replying):
    def do_POST(self) -> None:
        queries = self.asked()["queries"]
        self.server.asked.append(len(queries))
        if self.path != "/v1/querybatch" or len(queries) > 1000:
            return self.answer(400, {}, json.dumps({"code": 3, "message": "Too many queries."}))
        self.answer(200, {}, json.dumps({"results": [self.server.result(query) for query in queries]}))

    def do_GET(self) -> None:
        found = KNOWN.get(self.path.removeprefix("/v1/vulns/"))
        self.answer(*((200, {}, json.dumps(found)) if found else (404, {}, '{"code": 5, "message": "Bug not found."}')))


@pytest.fixture
def server():
    with running(Osv({("odd-name", "1.2"): ["PYSEC-1", "GHSA-b"]})) as one:
        yield one


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with locked versions of its own, and nothing known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name, text in {
        "requirements/lock.txt": "# why\nOdd_Name==1.2\nplain==3.0 ; python_version > '3'\n",
        "envs/peers/some.txt": "odd.name==1.2 --hash=sha256:00\nfree>=1\n",
        "data/advisories.yaml": (ROOT / "data/advisories.yaml").read_text(),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_locked_version_is_found_once_under_its_own_name(clone):
    assert locked(clone) == {
        ("odd-name", "1.2"): ["envs/peers/some.txt", "requirements/lock.txt"],
        ("plain", "3.0"): ["requirements/lock.txt"],
    }


def test_each_version_of_this_clone_is_pinned_in_a_form_that_is_read():
    lines = [line for path in ROOT.glob("requirements/*.txt") for line in path.read_text().splitlines()]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-").replace(".", "-")
        for line in lines
        if re.match(r"[\w.-]+==", line)
    }
    assert pinned <= {name for name, _ in locked(ROOT)}
    assert {"snakemake", "torch"} <= pinned


def test_all_pages_of_an_answer_are_read(clone, server):
    assert asked(server.url, locked(clone)) == [SECOND, ODD]
    assert server.asked == [2, 1]


def test_more_versions_than_a_request_may_hold_are_asked_in_several(server):
    versions = [(f"p{n}", "1") for n in range(1001)]
    assert asked(server.url, [*versions, ("odd-name", "1.2")]) == [SECOND, ODD]
    assert server.asked[:2] == [1000, 2]


def test_what_is_found_ends_with_exit_code_1_and_says_what_mends_it(clone, server, capsys):
    with pytest.raises(SystemExit, match="1"):
        command.advisories(service=server.url, write=True)
    said = capsys.readouterr().out
    assert f"{server.url}: 2 advisories on 2 locked versions" in said
    assert "PYSEC-1 CVE-2026-1 GHSA-a" in said and "1.2.1, 1.3" in said and "envs/peers/some.txt" in said
    last = kept(clone / "data/advisories.yaml")
    assert last.found == (SECOND, ODD)
    assert of_these(last, locked(clone)) == ([SECOND, ODD], True)


def test_nothing_found_is_said_with_the_number_of_versions(clone, server, capsys):
    server.affected.clear()
    command.advisories(service=server.url)
    assert capsys.readouterr().out == f"{server.url}: 0 advisories on 2 locked versions\n"


def test_a_service_that_is_away_is_no_all_clear(clone):
    with pytest.raises(SecateurError) as raised:
        command.advisories(service="http://127.0.0.1:9")
    said = str(raised.value)
    assert "http://127.0.0.1:9: not reached (ConnectError" in said
    assert "nothing is known, which is not to say that there is nothing" in said
    assert "Fix: " in said


def test_without_the_service_the_last_answer_is_shown_with_its_day(clone, capsys):
    keep(clone / "data/advisories.yaml", "2026-05-04", locked(clone), [ODD])
    with pytest.raises(SecateurError, match="said on 2026-05-04, of these versions: 1 advisories"):
        command.advisories(service="http://127.0.0.1:9")
    assert "PYSEC-1" in capsys.readouterr().out
    (clone / "requirements/lock.txt").write_text("plain==3.0\n")
    (clone / "envs/peers/some.txt").unlink()
    with pytest.raises(
        SecateurError, match="before some versions changed; of those that are locked still: 0 advisories"
    ):
        command.advisories(service="http://127.0.0.1:9")


@pytest.mark.parametrize("body", ["[]", "{}", "not JSON", '{"results": []}', '{"results": [{"vulns": [{}]}, {}]}'])
def test_an_answer_that_is_none_is_not_taken_for_one(clone, body):
    class Other(Replying):
        def do_POST(self) -> None:
            self.asked()
            self.answer(200, {}, body)

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Other)) as other, pytest.raises(Unreached, match="not OSV's"):
        asked(f"http://127.0.0.1:{other.server_address[1]}", locked(clone))


def test_a_damaged_list_is_named(clone):
    (clone / "data/advisories.yaml").write_text("found: 3\n")
    with pytest.raises(SecateurError, match=r"advisories\.yaml: is no list of advisories.*Fix: git checkout"):
        command.advisories(service="http://127.0.0.1:9")
