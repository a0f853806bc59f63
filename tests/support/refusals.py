"""Refusals: of a call, in one message, and of a prompt as servers send them."""

import json

import pytest

from secateur.core.errors import SecateurError


def message(call, *args, **kwargs) -> str:
    """What the user reads; always one line that ends in a way out."""
    with pytest.raises(SecateurError) as caught:
        call(*args, **kwargs)
    assert "\n" not in str(caught.value)
    assert "Fix: " in str(caught.value)
    return str(caught.value)


def error(message: str, status: int = 400, **more) -> tuple[int, dict, str]:
    return status, {}, json.dumps({"error": {"message": message} | more})


FILTERED = error("The response was filtered due to the prompt.", code="content_filter", param="prompt")
REFUSED = {
    "azure's filter": FILTERED,
    "openai's context": error("This model's maximum context length is 8 tokens.", code="context_length_exceeded"),
    "vllm's context": (400, {}, json.dumps({"object": "error", "message": "The decoder prompt (length 50) is longer than "
                                             "the maximum model length of 8.", "code": 400})),
    "vllm's max_tokens": error("'max_tokens' is too large: 64. This model's maximum context length is 2048 tokens and your "
                               "request has 2030 input tokens", param="max_tokens"),
    "llama.cpp": error("the request exceeds the available context size", type="exceed_context_size_error"),
    "anthropic": error("prompt is too long: 208310 tokens > 200000 maximum"),
    "google": error("The input token count (9) exceeds the maximum number of tokens allowed (8)."),
    "tgi": (422, {}, json.dumps({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8"})),
    "nginx": (413, {"Content-Type": "text/html"}, "<html><title>413 Request Entity Too Large</title></html>"),
    "dashscope": error("Input data may contain inappropriate content.", code="data_inspection_failed"),
    "openrouter": error("Input was flagged", 403, metadata={"reasons": ["violence"]}),
    "status 200": (200, {}, json.dumps({"error": {"message": "Your input was flagged", "code": 403}})),
    "unknown 422": (422, {}, "Unprocessable"),
    "fastapi on the prompt": (422, {}, json.dumps({"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "bad"}]})),
}  # fmt: skip
