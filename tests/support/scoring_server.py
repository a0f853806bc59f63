"""vLLM and SGLang in little: the parts of their HTTP interfaces that give log-probabilities, over a real socket.

A model in process computes them, so a client's figures can be compared with those of the model itself.
"""

import json
import threading
from collections import deque
from contextlib import contextmanager

from secateur.models.causal import NOTHING
from tests.support.loopback import Loopback, Replying, running

MAX_LOGPROBS = 20  # vLLM's --max-logprobs, where nothing is said


class Refused(Exception):
    """A request with a status and a reason."""


def distributions(lm, ids):
    """(tokens, vocabulary) log-distributions after each token, rounded as in process."""
    logits = lm.logits([ids], [NOTHING], range(len(ids)))
    return logits - logits.logsumexp(-1, keepdim=True)


class Api:
    """What both servers have: the model they state, and its length."""

    def __init__(self, lm, name: str, root: str, length: int, max_logprobs: int = MAX_LOGPROBS) -> None:
        self.lm, self.name, self.root, self.length, self.max_logprobs = lm, name, root, length, max_logprobs
        self._one = threading.Lock()

    def models(self) -> dict:
        card = {"id": self.name, "object": "model", "created": 1, "root": self.root, "parent": None}
        return {"object": "list", "data": [card | {"max_model_len": self.length}]}

    def after(self, ids):
        if not (isinstance(ids, list) and ids and all(type(n) is int for n in ids)):
            raise Refused(400, "token ids are needed")
        with self._one:
            return distributions(self.lm, ids)


class Vllm(Api):
    path = "/v1/completions"

    def reply(self, request: dict) -> dict:
        ids, count, named = request["prompt"], request.get("logprobs"), request.get("logprob_token_ids")
        if request["model"] != self.name:
            raise Refused(404, f"The model `{request['model']}` does not exist.")
        if not named and (count or 0) > self.max_logprobs:
            raise Refused(
                400, f"Requested sample logprobs of {count}, which is greater than max allowed: {self.max_logprobs}"
            )
        if len(ids) + request["max_tokens"] > self.length:
            raise Refused(400, f"This model's maximum context length is {self.length} tokens.")
        said = self.after(ids)
        sampled = int(said[-1].argmin())  # the sampled token comes beside the most probable ones
        choice = {"index": 0, "text": "?", "finish_reason": "length", "stop_reason": None, "logprobs": None}
        if count is not None:
            assert request["return_tokens_as_token_ids"]
            wanted = [sampled, *(named or said[-1].topk(count).indices.tolist())]
            top = {f"token_id:{n}": float(said[-1, n]) for n in wanted}
            own = {"tokens": [f"token_id:{sampled}"], "token_logprobs": [float(said[-1, sampled])]}
            choice["logprobs"] = own | {"top_logprobs": [top], "text_offset": [0]}
        wanted, choice["prompt_logprobs"] = request.get("prompt_logprobs"), None
        if wanted is not None:
            assert wanted == 0
            entries = [{str(n): {"logprob": float(said[k, n]), "rank": 1}} for k, n in enumerate(ids[1:])]
            choice["prompt_logprobs"] = [None, *entries]
        return {"id": "cmpl-1", "object": "text_completion", "model": self.name, "choices": [choice]}


class Sglang(Api):
    path = "/generate"

    def reply(self, request: dict) -> dict:
        ids, start = request["input_ids"], request["logprob_start_len"]
        said, last = self.after(ids), len(ids) - 1
        assert request["return_logprob"]
        first = start if start >= 0 else len(ids)
        own = [[float(said[n - 1, ids[n]]) if n > first else None, ids[n], None] for n in range(first, len(ids))]
        sampled, meta = int(said[-1].argmin()), {"prompt_tokens": len(ids), "finish_reason": {"type": "length"}}
        meta |= {"input_token_logprobs": own, "output_token_logprobs": [[float(said[last, sampled]), sampled, None]]}
        if count := request.get("top_logprobs_num"):
            top = said[last].topk(count)
            entries = zip(top.values.tolist(), top.indices.tolist(), strict=True)
            meta["output_top_logprobs"] = [[[value, n, None] for value, n in entries]]
        if named := request.get("token_ids_logprob"):
            meta["output_token_ids_logprobs"] = [[[float(said[last, n]), n, None] for n in named]]
        return {"text": "?", "output_ids": [sampled], "meta_info": meta}


APIS = {"vllm": Vllm, "sglang": Sglang}


class Server(Loopback):
    """Answers with `script`, one entry a scoring request, then as its API does; keeps what it was asked.

    An entry is (status, headers, body), "silence", or a function that changes the reply.
    """

    def __init__(self, api: Api) -> None:
        self.api, self.script, self.always, self.asked, self.headers = api, deque(), None, [], []
        self.released, self.under_way, self.most, self._counting = threading.Event(), 0, 0, threading.Lock()
        super().__init__(Handler)

    @contextmanager
    def counted(self):
        with self._counting:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            yield
        finally:
            with self._counting:
                self.under_way -= 1


class Handler(Replying):
    def do_GET(self) -> None:
        assert self.path == "/v1/models"
        self.answer(200, {}, json.dumps(self.server.api.models()))

    def do_POST(self) -> None:
        request = self.asked()
        self.server.asked.append(request)
        self.server.headers.append(dict(self.headers))
        with self.server.counted():  # over before the reply is sent: then the client may send the next
            entry = self.server.script.popleft() if self.server.script else self.server.always
            if entry == "silence":
                self.server.released.wait(30)
                return
            reply = entry if isinstance(entry, tuple) else self.computed(request, entry)
        self.answer(*reply)

    def computed(self, request: dict, change) -> tuple[int, dict, str]:
        if self.path != self.server.api.path:
            return 404, {}, "Not Found"
        try:
            reply = self.server.api.reply(request)
        except Refused as refused:
            status, why = refused.args
            return status, {}, json.dumps({"object": "error", "message": why, "code": status})
        if change:
            change(reply)
        return 200, {}, json.dumps(reply)


def serving(api: Api):
    return running(Server(api))
