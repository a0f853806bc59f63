"""The chat front end against a small server over a real socket."""

import json
from types import SimpleNamespace

import polars as pl
import pytest
from tests.support.answer_server import Log, Server
from tests.support.loopback import running

from secateur.config import code
from secateur.core.errors import SecateurError
from secateur.graph.triples import extraction as blocks
from secateur.graph.triples.extractors.llm import FrontEnd

KEY = "sk-secret-0123456789"


def completion(text, **changes) -> tuple[int, dict, str]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"} | changes
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return 200, {}, json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage})


def said(request: dict) -> list[str]:
    lines = request["messages"][-1]["content"].splitlines()
    return [line.partition(". ")[2] for line in lines if line[:1].isdigit()]


def echo(request: dict) -> tuple[int, dict, str]:
    return completion("\n".join(f"{n} | {text} | is said in | text" for n, text in enumerate(said(request), 1)))


class Extracting(Server):
    """Answers with `script`, one entry a request, then with `always`; a callable makes its reply of the request."""

    always = staticmethod(echo)

    def reply(self, path, request, headers) -> tuple[int, dict, str]:
        self.asked.append((path, request))
        self.headers.append(headers)
        answer = self.script.popleft() if self.script else self.always
        return answer(request) if callable(answer) else answer


@pytest.fixture
def server(bare):
    with running(Extracting(None)) as one:
        yield one


@pytest.fixture
def context(tmp_path):
    return SimpleNamespace(
        cache=tmp_path / "cache", code="c1", counts={}, log=Log(), progress=lambda rows, total, unit: rows
    )


def settings(server, **changes) -> SimpleNamespace:
    fixed = {"model": "m", "url": server.url, "max_tokens": 64, "timeout": 5.0}
    patience = {"delays": (0.0, 0.0), "max_wait": 10.0, "max_failed": 0.01}
    return SimpleNamespace(kind="llm", block=2, settings=fixed | patience | changes)


def passages(count: int = 4) -> pl.DataFrame:
    rows = [("d", "T", n, f"d:{n}", f"Sentence {n}") for n in range(count)]
    schema = {"doc_id": pl.String, "title": pl.String, "position": pl.Int32, "passage_id": pl.String, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def extracted(server, context, count: int = 4, **changes):
    return blocks.extract_cached(passages(count), settings(server, **changes), context)


def test_a_block_is_one_request_of_numbered_sentences_at_temperature_zero(server, context):
    rows, counts, silent = extracted(server, context, 3)
    assert [(row["passage_id"], row["head"]) for row in rows] == [(f"d:{n}", f"Sentence {n}") for n in range(3)]
    assert (dict(counts), silent) == ({"tokens_in": 14, "tokens_out": 6}, 0)
    path, request = server.asked[0]
    assert path == "/v1/chat/completions"
    assert (request["temperature"], request["model"], request["max_tokens"]) == (0, "m", 64)
    assert request["messages"][-1]["content"] == "Document: T\n\n1. Sentence 0\n2. Sentence 1"
    assert len(server.asked) == 2


def test_triples_pass_through_the_rules_all_front_ends_share(server, context):
    server.always = completion("1 | the Mill | Employs | 40 people\n1 | it | is | big\n1 | a mill | is | the mill")
    rows, counts, _ = extracted(server, context, 1)
    assert [(r["head"], r["relation"], r["tail"], r["head_original"]) for r in rows] == [
        ("Mill", "employs", "40 people", "the Mill")
    ]
    assert (counts["dropped_pronoun"], counts["dropped_self"]) == (1, 1)


def test_malformed_lines_are_counted_and_the_others_kept(server, context):
    bad = ["Here are the facts:", "3 | a | b | c", "0 | a | b | c", "1 | a | b", "1 | a | b | c | d", "1 |  | b | c"]
    server.always = completion("\n".join([*bad, "x | a | b | c", "", "2 | Basel | lies on | Rhine", "```"]))
    rows, counts, silent = extracted(server, context, 2)
    assert [row["passage_id"] for row in rows] == ["d:1"]
    assert (counts["malformed_lines"], silent) == (8, 1)


@pytest.mark.parametrize("word", ["NONE", " none.\n"])
def test_the_word_none_is_an_answer(server, context, word):
    server.always = completion(word)
    rows, counts, silent = extracted(server, context, 2)
    assert (rows, counts["failed_passages"], silent, len(server.asked)) == ([], 0, 2, 1)


def test_the_last_line_of_a_reply_that_was_cut_is_not_read(server, context):
    server.always = completion("1 | Basel | lies on | Rhine\n2 | Chur | lies on | Rhi", finish_reason="length")
    rows, counts, _ = extracted(server, context, 2)
    assert [row["head"] for row in rows] == ["Basel"]
    assert counts["truncated_replies"] == 1


# What else is no reply: tests/contract/test_bad_input_answers.py, over the same client.
@pytest.mark.parametrize("text", ["I am sorry, I cannot do that.", ""])
def test_an_unusable_answer_is_asked_for_again_and_never_kept(server, context, text):
    server.script.append(completion(text))
    rows, _, _ = extracted(server, context, 2)
    assert [row["head"] for row in rows] == ["Sentence 0", "Sentence 1"]
    assert (len(server.asked), len(context.log)) == (2, 1)
    assert len(list((context.cache / "replies").rglob("*.json"))) == 1


def test_an_endpoint_that_asks_for_too_long_a_wait_stops_the_stage(server, context):
    server.script.append((429, {"Retry-After": "3600"}, ""))
    with pytest.raises(SecateurError, match=r"wait 3600 s, more than extractor\.settings\.max_wait \(10 s\).*Fix: "):
        extracted(server, context)


@pytest.mark.parametrize("status", [301, 404])  # a redirect is not followed
def test_a_refusal_stops_at_once(server, context, status):
    server.always = (status, {"Location": "http://127.0.0.1:9/"}, '{"error": "no such model"}')
    with pytest.raises(SecateurError, match=rf"status {status}: .*no such model.*Fix: .*extractor\.settings\.url"):
        extracted(server, context)
    assert len(server.asked) == 1


def fails_for(*bad: str):
    return lambda request: (500, {}, "") if set(said(request)) & set(bad) else echo(request)


def test_failed_passages_up_to_the_share_are_counted(server, context):
    server.always = fails_for("Sentence 2")
    rows, counts, silent = extracted(server, context, 6, max_failed=2 / 6)
    assert [row["passage_id"] for row in rows] == ["d:0", "d:1", "d:4", "d:5"]
    assert (counts["failed_passages"], silent, len(server.asked)) == (2, 2, 5)


def test_failed_passages_above_the_share_stop_the_stage_as_soon_as_that_is_sure(server, context):
    server.always = fails_for("Sentence 0")
    with pytest.raises(SecateurError, match=r"failed for 2 of 6 passages.*max_failed \(0\.3\).*status 500.*Fix: "):
        extracted(server, context, 6, max_failed=0.3)
    assert len(server.asked) == 3


def test_a_stopped_shard_asks_only_for_what_it_does_not_have(server, context):
    server.always = fails_for("Sentence 4")
    with pytest.raises(SecateurError, match="failed for 2 of 6"):
        extracted(server, context, 6)
    server.always = echo
    server.asked.clear()
    assert len(extracted(server, context, 6)[0]) == 6
    assert [said(request) for _, request in server.asked] == [["Sentence 4", "Sentence 5"]]


@pytest.mark.parametrize("change", [{"model": "other"}, {"max_tokens": 32}])
def test_another_model_or_parameter_is_asked_anew(server, context, change):
    extracted(server, context)
    server.asked.clear()
    extracted(server, context, **change)
    assert len(server.asked) == 2


# That it goes nowhere else: tests/contract/test_bad_input_answers.py, over the same client.
def test_the_first_key_of_the_environment_is_sent_without_the_blanks_around_it(server, context, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-one")
    monkeypatch.setenv("SECATEUR_API_KEY", f" {KEY}\n")
    extracted(server, context)
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}


def test_neither_the_key_nor_the_code_is_part_of_what_replies_are_known_by(server, context, monkeypatch):
    first = extracted(server, context)
    assert not any("Authorization" in headers for headers in server.headers)
    server.asked.clear()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(code, "plugin_digest", lambda module: "c2")
    assert extracted(server, context) == first
    assert server.asked == []


@pytest.mark.parametrize("key", ["sk\nsecret", "sk-s\u00e9cret"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(server, context, monkeypatch, key):
    monkeypatch.setenv("SECATEUR_API_KEY", key)
    with pytest.raises(SecateurError, match="SECATEUR_API_KEY") as raised:
        FrontEnd(settings(server), context)
    assert key not in str(raised.value)
