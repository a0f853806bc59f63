"""A run over an endpoint that wants a key, with secrets planted wherever a run gets one: for tests that look for them."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.support.answer_server import Server
from tests.support.loopback import running

KEY, WRONG, PASSWORD = "sk-Planted+Right/0123456789", "sk-Planted+Wrong/9876543210", "Pl4nted.p-ssword"
LOGIN = f"planted-user:{PASSWORD}@127.0.0.1:9"  # nobody listens there
OVERRIDES = ("experiment.systems=[rag_zsum]", "system.answer=endpoint", "dataset.answered=2", "answer.delays=[0.1]")


class Guarded(Server):
    """Answers to those who have the key, and tells all others what they came with."""

    def reply(self, path: str, request: dict, headers: dict) -> tuple[int, dict, str]:
        given = headers.get("Authorization")
        if given != f"Bearer {KEY}":
            return 401, {}, json.dumps({"error": f"Incorrect API key provided: {given}"})
        return super().reply(path, request, headers)


@dataclass(frozen=True)
class Served:
    """A project in which an experiment has run over the endpoint, at its second attempt; the commands' words."""

    project: object
    said: str


def run_served(project, folder: Path) -> str:
    """Run an experiment on a folder in a project over such an endpoint, with all else that follows a run; the commands' words."""
    said = []
    mine = shutil.copytree(project.root / "data/toy/documents_smoke", folder / "mine")
    env = {"MLFLOW_TRACKING_URI": f"http://{LOGIN}", "HTTPS_PROXY": f"http://{LOGIN}", "no_proxy": "127.0.0.1"}
    env |= {"HOME": str(project.root), "XDG_CACHE_HOME": str(project.root / ".home"), "TMPDIR": str(folder)}

    def command(*args: str, key: str = KEY, **changes: str) -> int:
        done = project.secateur(*args, **env | {"SECATEUR_API_KEY": key} | changes)
        said.append(done.stdout + done.stderr)
        return done.returncode

    with running(Guarded(None)) as server:
        changed = [part for one in (f"answer.url={server.url}", *OVERRIDES) for part in ("--set", one)]
        run = ("evaluate", str(mine), "--name", "planted", *changed)
        codes = [command(*run, "--set", f"answer.url=http://{LOGIN}/v1"), command(*run, key=WRONG), command(*run)]
    codes.append(command("track", MLFLOW_TRACKING_URI="sqlite:///mlflow.db"))
    assert codes == [2, 2, 0, 0], "\n".join(said)
    return "\n".join(said)
