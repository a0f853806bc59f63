"""A hub of models in little, over a real socket: it lists files and sends them, whole, from an offset, or cut."""

import hashlib
import json
import re
from pathlib import Path

from tests.support.loopback import Loopback, Replying, running

__all__ = ["Hub", "hub"]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAMED = r"/(?:api/models/)?(?P<name>[\w-]+/[\w.-]+)"


class Hub(Loopback):
    """Models by name, each with the files of a folder.

    refusal: (status, headers) in place of every reply; cut: bytes after which a file's transfer breaks off; claimed: the
    size stated for weights; asked: the paths of all requests, with their ranges.
    """

    def __init__(self, models: dict[str, Path]) -> None:
        self.models = models
        self.refusal: tuple[int, dict] | None = None
        self.cut: int | None = None
        self.claimed: int | None = None
        self.asked: list[str] = []
        super().__init__(Handler)

    def files(self, name: str) -> list[dict]:
        """Path, size and digest of each file of a model, as the hub lists them."""
        listed, folder = [], self.models[name]
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                claimed = self.claimed if path.suffix == ".safetensors" else None
                size, digest = claimed or path.stat().st_size, hashlib.sha1(path.read_bytes()).hexdigest()
                listed.append({"path": path.relative_to(folder).as_posix(), "size": size, "oid": digest})
        return listed


class Handler(Replying):
    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub, path = self.server, self.path.partition("?")[0]
        hub.asked.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
        match = re.match(NAMED, path)
        if hub.refusal:
            status, headers = hub.refusal
            self.answer(status, headers, "")
        elif not match or match["name"] not in hub.models:
            self.answer(404, {"X-Error-Code": "RepoNotFound"}, "")
        elif path.startswith("/api/"):
            self._api(match["name"], "/tree/" in path)
        else:
            self._file(match["name"], re.split(r"/resolve/[^/]+/", path, maxsplit=1)[1])

    def _api(self, name: str, tree: bool) -> None:
        files = self.server.files(name)
        if tree:
            body = [file | {"type": "file"} for file in files]
        else:
            siblings = [{"rfilename": f["path"], "size": f["size"], "blobId": f["oid"]} for f in files]
            body = {"id": name, "sha": COMMIT, "siblings": siblings, "private": False, "downloads": 0, "tags": []}
        self.answer(200, {"Content-Type": "application/json"}, json.dumps(body))

    def _file(self, model: str, name: str) -> None:
        stated = {file["path"]: file for file in self.server.files(model)}
        if name not in stated:
            self.answer(404, {"X-Error-Code": "EntryNotFound"}, "")
            return
        content, start = (self.server.models[model] / name).read_bytes(), 0
        if asked := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            start = int(asked[1])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{stated[name]["oid"]}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(stated[name]["size"] - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{stated[name]['size']}")
        self.end_headers()
        if self.command == "GET":
            end = min(len(content), start + self.server.cut) if self.server.cut is not None else len(content)
            self.wfile.write(content[start:end])


def hub(models: dict[str, Path]):
    return running(Hub(models))
