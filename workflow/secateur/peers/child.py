"""The process that a peer runs in: one JSON object a line in, one out, in the peer's own environment.

Started by `worker.py`. What libraries print goes to the log; the protocol has a channel of its own.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from secateur.peers.wire import Document


def _answered(peer, message: dict[str, Any]) -> dict[str, Any]:
    if "index" in message:
        peer.index([Document(**one) for one in message["index"]])
    if "ask" in message:
        peer.ask(message["ask"])
    return {"done": True}


def main() -> None:
    """Make the peer of a module, settings, folder and endpoint, which the first line names; then do as each line says."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever is printed is no reply
    peer = None
    for line in sys.stdin:
        message = json.loads(line)
        try:
            if peer is None:
                module = import_module(message["module"])
                peer = module.Peer(module.Settings(**message["settings"]), Path(message["folder"]), message["url"])
                reply = {"done": True}
            else:
                reply = _answered(peer, message)
        except Exception as error:  # whatever a peer raises is told, with its kind
            import traceback

            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
