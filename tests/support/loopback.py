"""What the little servers of the tests share: JSON in, a reply out, over a real socket on a free port."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Loopback", "Replying", "running"]


class Loopback(ThreadingHTTPServer):
    """A server on a port of this machine, a free one by default."""

    base = ""

    def __init__(self, handler: type, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{self.base}"


class Replying(BaseHTTPRequestHandler):
    """Reads a JSON request and sends (status, headers, body)."""

    def asked(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status: int, headers: dict, body: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_) -> None:
        pass


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[ThreadingHTTPServer]:
    """The server in a thread of its own, until the block ends; `released`, where it has one, ends its silence."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        if hasattr(server, "released"):
            server.released.set()
        server.shutdown()
        server.server_close()
