"""The endpoint that a peer asks: an OpenAI-compatible server on this machine that answers, counts and catches.

It answers from an extraction (controlled), or passes the call on to a real model (released). Whatever it answers, it
counts tokens by phase and catches the context that the answering prompt holds. Embeddings are always the option's.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.models.word_pieces import Counter as TokenCounter
from secateur.peers.wire import Prompt
from secateur.peers.worker import PeerFailed

__all__ = ["Endpoint", "Unanswered", "controlled"]

Body = Mapping[str, Any]
Answer = Callable[[Prompt, Body], str]
SHOWN = 200  # characters of a prompt that is shown where nobody knows an answer


class Unanswered(Exception):
    """A call that nobody here has an answer to."""


@dataclass
class Phase:
    """What was asked in one phase, or for one question."""

    counts: Counter = field(default_factory=Counter)
    context: list[str] | None = None
    unanswered: list[str] = field(default_factory=list)


class Endpoint:
    """What all calls of one peer come to. adapter: the peer's module; answer: who replies; embed: texts to unit vectors."""

    def __init__(self, adapter: ModuleType, answer: Answer, embed: Callable, count: TokenCounter) -> None:
        self._adapter, self._answer, self._embed, self._count = adapter, answer, embed, count
        self._lock, self.phase = Lock(), Phase()

    @contextmanager
    def counting(self) -> Iterator[Phase]:
        """What is asked meanwhile. Raises PeerFailed for a call without an answer, whatever the peer makes of that."""
        self.phase = phase = Phase()
        try:
            yield phase
        except PeerFailed as error:
            raise PeerFailed("; ".join([str(error), *phase.unanswered[:1]])) from error
        if phase.unanswered:
            raise PeerFailed(phase.unanswered[0])

    def chat(self, body: Body) -> dict[str, Any]:
        """A chat completion. Raises Unanswered."""
        prompt = _prompt(body)
        held = self._adapter.context(prompt)
        said = self._answer(prompt, body)
        schema = json.dumps(body.get("tools")) if body.get("tools") else ""
        with self._lock:
            tokens = self._count([prompt.text + schema, said])
            self.phase.counts.update(calls=1, tokens_in=int(tokens[0]), tokens_out=int(tokens[1]))
            if held is not None:
                self.phase.context = held
                self.phase.counts.update(answering=int(tokens[0]))
        return _completion(body, said, *map(int, tokens))

    def embeddings(self, body: Body) -> dict[str, Any]:
        """Embeddings of strings."""
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        if not all(isinstance(text, str) for text in texts):
            raise Unanswered("embeddings of token ids: only strings are embedded here")
        with self._lock:
            vectors = self._embed(texts)
            tokens = int(self._count(texts).sum())
            self.phase.counts.update(embedded=len(texts), embedded_tokens=tokens)
        packed = body.get("encoding_format") == "base64"
        data = [{"object": "embedding", "index": n, "embedding": _vector(v, packed)} for n, v in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": body.get("model"), "data": data, "usage": usage}

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[str]:
        """The address of this endpoint on this machine, as long as it is served; at any free port where none is given."""
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()


def controlled(adapter: ModuleType, extraction) -> Answer:
    """Every call answered from an extraction, in the peer's own format."""

    def answer(prompt: Prompt, _: Body) -> str:
        said = adapter.reply(prompt, extraction)
        if said is None:
            shown = " ".join(prompt.last.split())[:SHOWN]
            raise Unanswered(f"{adapter.__name__} has no reply to a prompt that ends with {shown!r}")
        return said

    return answer


def _prompt(body: Body) -> Prompt:
    messages = tuple((one.get("role", "user"), _text(one.get("content"))) for one in body["messages"])
    return Prompt(messages, bool(body.get("tools") or body.get("response_format")))


def _text(content: Any) -> str:
    """A message's text, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return content or ""


def _vector(vector: NDArray[np.float32], packed: bool) -> str | list[float]:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if packed else vector.tolist()


def _completion(body: Body, said: str, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": said}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "0", "type": "function", "function": function}],
        }
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    own = {"id": "0", "object": "chat.completion", "created": 0, "model": body.get("model")}
    return own | {"choices": [choice], "usage": usage}


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    """The requests of one endpoint."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            """Nothing: calls are counted."""

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "served", "object": "model"}]})

        def do_POST(self) -> None:
            body = self._body()
            try:
                made = endpoint.embeddings(body) if self.path.endswith("/embeddings") else endpoint.chat(body)
            except Unanswered as error:
                endpoint.phase.unanswered.append(str(error))
                self._send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
                return
            self._send(200, made)

        def _body(self) -> Body:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                return json.loads(b"".join(self._chunks()))
            return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _chunks(self) -> Iterator[bytes]:
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()

        def _send(self, status: int, value: Body) -> None:
            raw = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler
