"""The process of a peer: reads one JSON object a line, writes one reply a line, in the peer's environment.

Started by `worker.py`. Standard output goes to the log; replies have a channel of their own.
"""

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from secateur.peers.wire import Document


def _obey(peer: Any, message: dict[str, Any]) -> Any:
    """The peer after a message: created by the first, then indexing documents or answering a question."""
    if peer is None:
        module = import_module(message["module"])
        return module.Peer(module.Settings(**message["settings"]), Path(message["folder"]), message["url"])
    if "index" in message:
        peer.index([Document(**document) for document in message["index"]])
    if "ask" in message:
        peer.ask(message["ask"])
    return peer


def main() -> None:
    """Create the peer that the first line describes, then obey each further line."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no reply
    peer = None
    for line in sys.stdin:
        try:
            peer = _obey(peer, json.loads(line))
            reply = {"done": True}
        except Exception as error:  # a peer may raise anything; the reply names its type
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
