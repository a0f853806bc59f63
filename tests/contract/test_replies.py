"""Replies as servers and models really send them: thoughts, parts, parameters; over a real socket."""

import json
from types import SimpleNamespace

import pytest
from test_bad_input_answers import CONF, PROMPTS, remote, replied
from tests.support.answer_server import Log, Server, answering
from tests.support.loopback import running
from tests.support.refusals import FILTERED, REFUSED, error

from secateur.config import compose
from secateur.config.answers import answer_problems, judge_problems
from secateur.core.cache import RequestCache
from secateur.core.errors import SecateurError
from secateur.graph.triples.extractors.llm import FrontEnd, Settings, parse
from secateur.models.thoughts import begun_in, spoken
from secateur.peers.replies import Unanswered, released

pytestmark = pytest.mark.usefixtures("bare")
THOUGHT = "The mill.\n\nWho runs it? 1 | Ann | maybe | Carl\n[1]"


@pytest.mark.parametrize(
    "form",
    [
        "<think>{}</think>\n\n{}",
        "<think>\n{}\n</think>{}",
        "{}</think>\n\n{}",  # the template opened the thought
        "<thinking>{}</thinking>\n{}",
        "<THINK type='long'>{}</THINK>{}",
        "<reasoning>{}</reasoning>{}",
        "[THINK]{}[/THINK]{}",
        "<seed:think>{}</seed:think>{}",
        "◁think▷{}◁/think▷{}",
        "<|START_THINKING|>{}<|END_THINKING|>{}",
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
        "analysis{}assistantfinal{}",
        "<think>a tag </think> is said {}</think>{}",
        "<thinking>{} <reflection>b</reflection></thinking>{}",
    ],
)
def test_a_thought_is_no_part_of_an_answer(tmp_path, form):
    text = form.format(THOUGHT, "Rowan Pike.")
    assert spoken(text).strip() == "Rowan Pike."
    (answer,) = replied(tmp_path, {"message": {"content": text}})
    assert (answer.text, answer.stopped) == ("Rowan Pike.", "end")
    assert spoken(text[: len(text) // 2]) is None or "</think>" in form  # cut in its thought


@pytest.mark.parametrize(
    "text",
    [
        *("Rowan Pike.", "a < b and <b>c</b>", "I think <thin> ice.", "An analysis of it."),
        "The <thought> tag",
        "Well. <thinking> a <reflection>b</reflection> c",
        "Its </think> tag ends it.",
        "Close it with `</think>`.",
        "Write why</think>, then reply.",
        "Write <think>why</think> first.",
        "Qwen3 has '<think>' and \"</think>\", Magistral [THINK] and [/THINK].",
        "The token <|channel|> of gpt-oss",
        "Reason between these:\n<think>\nwhy\n</think>\nand then reply.",
    ],
)
def test_a_text_without_a_thought_and_a_mark_that_it_mentions_are_unchanged(tmp_path, text):
    assert spoken(text) == text
    assert spoken(f"<think>{THOUGHT}</think>{text}") == text
    (answer,) = replied(tmp_path, {"message": {"content": text}})
    assert (answer.text, answer.stopped) == (text, "end")


def test_an_empty_text_has_no_thought_and_a_prompt_may_open_one():
    assert spoken("") == ""
    assert begun_in("<|assistant|>\n<think>\n") == "<think>"
    for closed in ("<|assistant|>\n<think>\n\n</think>\n\n", "What is <think> for?", ""):
        assert begun_in(closed) == ""


REASONED = {"prompt_tokens": 4, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}
REASONED_ALONE = {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}], "usage": REASONED}


@pytest.mark.parametrize(
    "reply",
    [
        {"message": {"content": "<think>\nThe mill."}, "finish_reason": "length"},
        {"message": {"content": "<think>a</think><think>b"}, "finish_reason": "length"},
        {"message": {"content": "<thinking> a <reflection>b</reflection> c"}},
        {"message": {"content": "<|channel|>analysis<|message|>We need"}, "finish_reason": "length"},
        {"message": {"content": None, "reasoning_content": "It is Rowan Pike."}, "finish_reason": "length"},
        {"message": {"content": "", "reasoning": "hmm"}},
        {"message": {"reasoning_content": "hmm"}},
        {"message": {"content": None}, "finish_reason": "length"},
        {"message": {"content": ""}, "finish_reason": "length"},
        {"message": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}},
        (200, {}, json.dumps(REASONED_ALONE)),
    ],
)
def test_a_thought_without_an_answer_is_an_empty_answer_and_not_asked_again(tmp_path, reply):
    (answer,) = replied(tmp_path, reply)
    assert (answer.text, answer.stopped) == ("", "thought")
    assert isinstance(reply, dict) or answer.completion_tokens == 9


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Rowan Pike."}],
        [{"type": "text", "text": "Rowan "}, {"type": "text", "text": "Pike."}],
        ["Rowan ", "Pike."],
        [{"type": "output_text", "text": "Rowan Pike."}],
        [{"text": "hm", "thought": True}, {"text": "Rowan Pike."}],
        [{"type": "text", "text": {"value": "Rowan Pike.", "annotations": []}}],
    ],
)
def test_parts_are_joined(tmp_path, content):
    assert replied(tmp_path, {"message": {"content": content}})[0].text == "Rowan Pike."


@pytest.mark.parametrize(
    ("before", "now", "asked"),
    [
        ({"text": "<think>The mill.\n\nSo</think>Rowan Pike."}, "Rowan Pike.", 1),
        ({"text": "", "stopped": "filtered"}, "What is 0?", 2),
    ],
)
def test_replies_of_earlier_versions_are_read_anew_and_filtered_ones_asked_again(tmp_path, before, now, asked):
    """Raw texts are cached, so what was once taken for an answer is not."""
    with answering() as server:
        model = remote(server, tmp_path)
        model(PROMPTS[:1])
        (path,) = tmp_path.rglob("*.json")
        model._replies.put(path.stem, json.loads(path.read_text().partition("\n")[2]) | before)
        assert model(PROMPTS[:1])[0].text == now
        assert len(server.asked) == asked


class Gpt5(Server):
    """Takes neither max_tokens nor a temperature."""

    def _completion(self, path, request, changes):
        for name in ("max_tokens", "temperature"):
            if name in request:
                return error(f"Unsupported parameter: '{name}'", param=name, code="unsupported_parameter")
        return super()._completion(path, request, changes)


def test_parameters_are_sent_and_null_leaves_one_out(tmp_path):
    with running(Gpt5(None)) as server:
        with pytest.raises(SecateurError, match=r"Fix: .*answer\.parameters=\{max_completion_tokens"):
            remote(server, tmp_path)(PROMPTS[:1])
        parameters = {"max_completion_tokens": 256, "temperature": None, "reasoning": {"effort": "low"}}
        (answer,) = remote(server, tmp_path, parameters=parameters)(PROMPTS[:1])
        assert answer.text == "What is 0?"
        sent = server.asked[-1][1]
        assert {"max_tokens", "temperature"} & set(sent) == set()
        assert (sent["max_completion_tokens"], sent["reasoning"]) == (256, {"effort": "low"})
        remote(server, tmp_path, parameters=parameters | {"seed": 1})(PROMPTS[:1])
        remote(server, tmp_path, parameters=parameters, template={"enable_thinking": False})(PROMPTS[:1])
        assert server.asked[-1][1]["chat_template_kwargs"] == {"enable_thinking": False}
        assert len(server.asked) == 4  # none of them from the cache of another


def test_parameters_reach_the_extraction(tmp_path):
    more = {"parameters": {"max_completion_tokens": 9, "temperature": None}, "template": {"enable_thinking": False}}
    with answering() as server:
        server.script.append({"message": {"content": "1 | Ann | met | Bob"}})
        front = extractor(server, tmp_path, **more)
        front(["Ann met Bob."], None)
        sent = server.asked[-1][1]
    assert (sent["max_completion_tokens"], sent["chat_template_kwargs"]) == (9, {"enable_thinking": False})
    assert front.identity != extractor(server, tmp_path).identity


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (("parameters={messages: []}",), "answer.parameters may not set messages"),
        (("parameters={stream: true}",), "answer.parameters may not set stream"),
        (("backend=completions", "template={a: 1}"), "answer.template does not belong to backend completions"),
    ],
)
def test_parameters_that_change_what_is_asked_are_refused(overrides, problem):
    answer = compose.option(CONF, "answer", "endpoint", tuple(f"answer.{text}" for text in overrides))
    assert problem in "; ".join(answer_problems(answer, compose.option(CONF, "lm", "smollm2")))
    judge = compose.option(CONF, "judge", "smollm2", ("judge.parameters={seed: 1}",))
    assert "judge.parameters does not belong to backend lm" in judge_problems(judge)


def extractor(server, cache, **more) -> FrontEnd:
    limits = {"max_tokens": 64, "timeout": 5.0, "delays": (0.0,), "max_wait": 5.0, "max_failed": 0.5}
    return FrontEnd(Settings(url=server.url, model="m", **limits | more), SimpleNamespace(log=Log(), cache=cache))


def extracted(cache, entry):
    """A block of two passages, of a reply that is asked for once."""
    with answering() as server:
        server.script.append(entry)
        block = extractor(server, cache)(["Ann met Bob.", "Ann met Cy."], None)
        assert len(server.asked) == 1
    return block


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\n{THOUGHT}\n</think>\n1 | Ann | met | Bob\n2 | Ann | met | Cy",
        "| 1 | Ann | met | Bob |\n| 2 | Ann | met | Cy |",
        "1. | Ann | met | Bob\n2) | Ann | met | Cy",
        "- 1 | Ann | met | Bob |\n* 2 | Ann | met | Cy",
        "1｜Ann｜met｜Bob\n2｜Ann｜met｜Cy",
        f"{THOUGHT}</think>\n|1|Ann|met|Bob|\n|2|Ann|met|Cy|",
    ],
)
def test_triples_are_read_in_every_form_of_a_line_and_in_no_thought(tmp_path, text):
    block = extracted(tmp_path, {"message": {"content": text}})
    assert [[triple.tail for triple in triples] for triples in block.triples] == [["Bob"], ["Cy"]]
    assert (block.problem, block.counts["malformed_lines"]) == ("", 0)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (FILTERED, "refused the prompt with status 400"),
        (REFUSED["nginx"], "status 413"),
        ({"message": {"content": f"<think>{THOUGHT}"}, "finish_reason": "length"}, "a thought and no facts"),
        ({"message": {"content": None, "reasoning": THOUGHT}}, "a thought and no facts"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "the reply was filtered"),
    ],
)
def test_a_block_without_facts_fails_alone_and_is_not_asked_again(tmp_path, entry, problem):
    block = extracted(tmp_path, entry)
    assert problem in block.problem
    assert block.counts["failed_passages"] == 2
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("reply", "tails"),
    [
        ("1 | Ann | uses | the <thinking> tag\n2 | Bob | likes | tea", ["the <thinking> tag", "tea"]),
        ("1 | Ann | likes | tea\n2 | Bob | closes | </think> tags", ["tea", "</think> tags"]),
        ("1 | Ann | opens | <think>\n2 | Bob | closes | </think>", ["<think>", "</think>"]),
        ("1 | Ann | closes | </thinking>\n2 | Bob | writes | [/THINK]", ["</thinking>", "[/THINK]"]),
    ],
)
def test_a_fact_about_a_mark_is_a_fact(reply, tails):
    facts, malformed = parse(reply, 2)
    assert [tail for ((_, _, tail),) in facts] == tails
    assert malformed == 0


def peer(server, cache, **more):
    """A function that sends a peer's request and gives the text of the reply."""
    service = SimpleNamespace(url=server.url, model="m", timeout=5.0, delays=(), max_wait=0, **more)
    return released(service, cache, Log())


def body(text: str) -> dict:
    return {"messages": [{"role": "user", "content": text}]}


def test_a_peer_gets_replies_without_thoughts_and_none_of_a_refused_prompt(tmp_path):
    with answering() as server:
        reply = peer(server, tmp_path, parameters={"seed": 1})
        server.script.extend([{"message": {"content": f"<think>{THOUGHT}</think>\nAnn."}}, FILTERED])
        server.script.append({"message": {"content": "<think>hm"}, "finish_reason": "length"})
        assert reply(None, body("0")).strip() == reply(None, body("0")).strip() == "Ann."
        assert server.asked[0][1]["seed"] == 1
        with pytest.raises(Unanswered, match="refused the prompt"):
            reply(None, body("1"))
        with pytest.raises(Unanswered, match="a thought without an answer"):
            reply(None, body("2"))
        server.script.append((401, {}, "wrong key"))
        with pytest.raises(SecateurError, match=r"correct service\.url"):
            reply(None, {"messages": []})


@pytest.mark.parametrize("filtered", [None, " ", f"<think>{THOUGHT}</think>"])
def test_a_peers_filtered_reply_is_no_empty_text_and_is_not_stored(tmp_path, filtered):
    with answering() as server:
        reply, asked = peer(server, tmp_path), body("What is 0?")
        why = "safety" if filtered else "content_filter"
        server.script.append({"message": {"content": filtered}, "finish_reason": why})
        with pytest.raises(Unanswered, match="the reply was filtered"):
            reply(None, asked)
        assert not list(tmp_path.rglob("*.json"))
        assert reply(None, asked) == "What is 0?"
        (path,) = tmp_path.rglob("*.json")
        RequestCache(tmp_path / "peer_replies").put(path.stem, "")  # as earlier versions stored it
        assert reply(None, asked) == "What is 0?"
