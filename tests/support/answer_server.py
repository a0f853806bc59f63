"""An OpenAI-compatible endpoint in little, over a real socket: it answers chats and completions, and may die."""

import json
import threading
from collections import deque

from tests.support.loopback import Loopback, Replying, running


class Server(Loopback):
    """Answers every question with its own words. An entry of `script`, one a request, comes in place of a reply: (status,
    headers, body), or changes to the choice. After `lives` replies it has died: each further request gets a 503."""

    base = "/v1"

    def __init__(self, lives: int | None) -> None:
        self.script, self.lives, self.asked, self.headers = deque(), lives, [], []
        self._one = threading.Lock()
        super().__init__(Handler)

    def reply(self, path: str, request: dict, headers: dict) -> tuple[int, dict, str]:
        with self._one:
            self.asked.append((path, request))
            self.headers.append(headers)
            if self.lives is not None:
                self.lives -= 1
                if self.lives < 0:
                    return 503, {}, "gone"
            entry = self.script.popleft() if self.script else {}
        return entry if isinstance(entry, tuple) else self._completion(path, request, entry)

    def _completion(self, path: str, request: dict, changes: dict) -> tuple[int, dict, str]:
        chat = path == "/v1/chat/completions"
        if not chat and path != "/v1/completions":
            return 404, {}, "Not Found"
        prompt = request["messages"][-1]["content"] if chat else request["prompt"]
        text = prompt.rpartition("Question: ")[2].removesuffix("\nAnswer:")
        said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        choice = {"index": 0, "finish_reason": "stop"} | said | changes
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        return 200, {}, json.dumps({"model": request["model"], "choices": [choice], "usage": usage})


class Handler(Replying):
    def do_POST(self) -> None:
        self.answer(*self.server.reply(self.path, self.asked(), dict(self.headers)))


def answering(lives: int | None = None):
    return running(Server(lives))


class Log(list):
    def warning(self, form, *values) -> None:
        self.append(form % values)

    info = warning


class Endless(Loopback):
    """Begins a reply and never ends it: a byte every `pause` seconds, or as many as there is room for where it is 0."""

    base = "/v1"

    def __init__(self, pause: float) -> None:
        self.pause, self.released = pause, threading.Event()
        super().__init__(Trickle)


class Trickle(Replying):
    def do_POST(self) -> None:
        self.asked()
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.released.wait(self.server.pause):
                self.wfile.write(b" " * (1 if self.server.pause else 1 << 20))
        except (BrokenPipeError, ConnectionResetError):
            return  # it was given up, as it should


def endless(pause: float):
    return running(Endless(pause))
