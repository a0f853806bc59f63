"""The endpoint that a peer calls: an OpenAI-compatible server on this machine that replies, counts and captures.

Replies come from an extraction or from a real model. In both modes it counts tokens by phase and captures the context
in the answering prompt. Embeddings are always those of conf/embedder.
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

from secateur.core.errors import SecateurError
from secateur.models.word_pieces import Counter as TokenCounter
from secateur.peers.replies import Body, Reply, Unanswered
from secateur.peers.wire import Prompt
from secateur.peers.worker import PeerFailed

__all__ = ["Endpoint"]


@dataclass
class Phase:
    """Calls of one phase or one question: counts, the captured context, messages of unanswered calls.

    error: what is wrong with the service, and no result of the peer.
    """

    counts: Counter = field(default_factory=Counter)
    context: list[str] | None = None
    unanswered: list[str] = field(default_factory=list)
    error: SecateurError | None = None


class Endpoint:
    """All calls of one peer. adapter: the peer's module; reply: text for a prompt; embed: texts to unit vectors."""

    def __init__(self, adapter: ModuleType, reply: Reply, embed: Callable, count: TokenCounter) -> None:
        self._adapter, self._reply, self._embed, self._count = adapter, reply, embed, count
        self._lock, self.phase = Lock(), Phase()

    @contextmanager
    def counting(self) -> Iterator[Phase]:
        """The calls of the `with` block.

        Raises PeerFailed for an unanswered call, even if the peer ignores it, and SecateurError where the service refuses
        every call.
        """
        self.phase = phase = Phase()
        try:
            yield phase
        except PeerFailed as error:
            if phase.error:
                raise phase.error from None
            raise PeerFailed("; ".join([str(error), *phase.unanswered[:1]])) from error
        if phase.error:
            raise phase.error
        if phase.unanswered:
            raise PeerFailed(phase.unanswered[0])

    def chat(self, body: Body) -> dict[str, Any]:
        """A chat completion. Raises Unanswered."""
        prompt = _prompt(body)
        context = self._adapter.context(prompt)
        text = self._reply(prompt, body)
        schema = json.dumps(body.get("tools")) if body.get("tools") else ""
        with self._lock:
            tokens_in, tokens_out = map(int, self._count([prompt.text + schema, text]))
            self.phase.counts.update(calls=1, tokens_in=tokens_in, tokens_out=tokens_out)
            if context is not None:
                self.phase.context = context
                self.phase.counts.update(answering=tokens_in)
        return _completion(body, text, tokens_in, tokens_out)

    def embeddings(self, body: Body) -> dict[str, Any]:
        """Embeddings of strings. Raises Unanswered for token ids."""
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        if not all(isinstance(text, str) for text in texts):
            raise Unanswered("embeddings of token ids: only strings are embedded here")
        with self._lock:
            vectors = self._embed(texts)
            tokens = int(self._count(texts).sum())
            self.phase.counts.update(embedded=len(texts), embedded_tokens=tokens)
        packed = body.get("encoding_format") == "base64"
        data = [{"object": "embedding", "index": n, "embedding": _encoded(v, packed)} for n, v in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": body.get("model"), "data": data, "usage": usage}

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[str]:
        """Serve on this machine during the `with` block; yields the address. port 0: any free port."""
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()


def _prompt(body: Body) -> Prompt:
    return Prompt(tuple((message.get("role", "user"), _text(message.get("content"))) for message in body["messages"]))


def _text(content: Any) -> str:
    """A message's text, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return content or ""


def _encoded(vector: NDArray[np.float32], packed: bool) -> str | list[float]:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if packed else vector.tolist()


def _completion(body: Body, text: str, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    """A completion with the text as content, or as arguments of the first tool."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": text}
        message |= {"content": None, "tool_calls": [{"id": "0", "type": "function", "function": function}]}
    return {
        "id": "0",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    """The request handler of one endpoint."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            """Log nothing: calls are counted."""

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "served", "object": "model"}]})

        def do_POST(self) -> None:
            body = self._body()
            try:
                reply = endpoint.embeddings(body) if self.path.endswith("/embeddings") else endpoint.chat(body)
            except (SecateurError, Unanswered) as error:
                endpoint.phase.unanswered.append(str(error))
                endpoint.phase.error = endpoint.phase.error or (error if isinstance(error, SecateurError) else None)
                self._send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
                return
            self._send(200, reply)

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
