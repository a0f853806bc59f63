"""Replies as servers and models really send them: thoughts, parts, refusals of a prompt, waits; over a real socket."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from scripts import answer_questions, evaluate_answers, judge_answers
from test_bad_input_answers import CONF, PROMPTS, Log, job_of, remote
from test_bad_input_judges import Judging, figures
from test_bad_input_judges import job_of as judging_job
from tests.support.answer_server import Server, answering
from tests.support.loopback import running
from tests.support.rule_judge import ruled

from secateur.config import compose
from secateur.config.answers import answer_problems, judge_problems
from secateur.config.leaves import leaves
from secateur.core.cache import RequestCache
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table
from secateur.datasets.fetch import fetch
from secateur.datasets.registry import RegistryFile
from secateur.graph.triples.extractors.llm import FrontEnd, Settings, parse
from secateur.models.http import KEYS, retry_after
from secateur.models.network import through
from secateur.models.refusals import refusal
from secateur.models.thoughts import begun_in, spoken
from secateur.peers.replies import Unanswered, released
from secateur.stage.contract import run_stage

THOUGHT = "The mill.\n\nWho runs it? 1 | Ann | maybe | Carl\n[1]"
VARIABLES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    for name in (*KEYS, *VARIABLES, *map(str.lower, VARIABLES)):
        monkeypatch.delenv(name, raising=False)


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
ENDING = {
    "max_tokens": (
        error("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
              param="max_tokens", code="unsupported_parameter"),
        r"answer\.parameters=\{max_completion_tokens",
    ),
    "temperature": (
        error("Unsupported value: 'temperature' does not support 0 with this model.", param="temperature",
              code="unsupported_value"),
        r"answer\.parameters=\{temperature: null\}",
    ),
    "fastapi's extra": (
        (422, {}, json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not "
                                          "permitted", "input": {"messages": "too long content filter"}}]})),
        r"answer\.parameters=\{seed: null\}",
    ),
    "without param": (error("Unrecognized request argument supplied: top_k"), r"answer\.parameters=\{top_k: null\}"),
    "template": (error("Unknown parameter: 'chat_template_kwargs'."), r"Fix: answer\.template=\{\}"),
    "key": (error("Incorrect API key provided", 401), r"answer\.url and answer\.model, and set the key in SECATEUR_API"),
    "key as 400": (error("API key not valid. Please pass a valid API key."), r"set the key in SECATEUR_API_KEY"),
    "forbidden": (error("no access to this model", 403), r"answer\.model, and set the key"),
    "not found": (error("The model `m` does not exist", 404), r"correct answer\.url and answer\.model"),
    "redirect": ((302, {"Location": "/x"}, ""), r"correct answer\.url"),
}  # fmt: skip


# --- thoughts ------------------------------------------------------------------------------------


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
    with answering() as server:
        server.script.append({"message": {"content": text}})
        (answer,) = remote(server, tmp_path)(PROMPTS[:1])
    assert (answer.text, answer.stopped) == ("Rowan Pike.", "end")
    assert spoken(text[: len(text) // 2]) is None or "</think>" in form  # cut in its thought


@pytest.mark.parametrize("text", ["Rowan Pike.", "", "a < b and <b>c</b>", "I think <thin> ice.", "An analysis of it."])
def test_a_text_without_a_thought_is_unchanged(text):
    assert spoken(text) == text


@pytest.mark.parametrize(
    "text",
    [
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
def test_a_mark_that_a_text_mentions_is_part_of_it(tmp_path, text):
    assert spoken(text) == text
    assert spoken(f"<think>{THOUGHT}</think>{text}") == text
    with answering() as server:
        server.script.append({"message": {"content": text}})
        (answer,) = remote(server, tmp_path)(PROMPTS[:1])
    assert (answer.text, answer.stopped) == (text, "end")


@pytest.mark.parametrize(
    "changes",
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
    ],
)
def test_a_thought_without_an_answer_is_an_empty_answer_and_not_asked_again(tmp_path, changes):
    with answering() as server:
        server.script.append(changes)
        (answer,) = remote(server, tmp_path)(PROMPTS[:1])
        assert (answer.text, answer.stopped, len(server.asked)) == ("", "thought", 1)


def test_tokens_of_reasoning_alone_are_a_thought(tmp_path):
    usage = {"prompt_tokens": 4, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}
    choice = {"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}
    with answering() as server:
        server.script.append((200, {}, json.dumps({"choices": [choice], "usage": usage})))
        (answer,) = remote(server, tmp_path)(PROMPTS[:1])
    assert (answer.stopped, answer.completion_tokens) == ("thought", 9)


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
    with answering() as server:
        server.script.append({"message": {"content": content}})
        assert remote(server, tmp_path)(PROMPTS[:1])[0].text == "Rowan Pike."


def test_replies_of_earlier_versions_are_read_anew(tmp_path):
    """Raw texts are cached, so what was once taken for an answer is not."""
    with answering() as server:
        server.script.append({"message": {"content": "The mill.\n\nSo"}})
        model = remote(server, tmp_path)
        model(PROMPTS[:1])
        (path,) = tmp_path.rglob("*.json")
        kept = json.loads(path.read_text().partition("\n")[2])
        path.unlink()
        model._replies.put(path.stem, kept | {"text": "<think>The mill.\n\nSo</think>Rowan Pike."})
        assert model(PROMPTS[:1])[0].text == "Rowan Pike."
        assert len(server.asked) == 1


def test_a_prompt_may_open_the_thought():
    assert begun_in("<|assistant|>\n<think>\n") == "<think>"
    assert begun_in("<|assistant|>\n<think>\n\n</think>\n\n") == begun_in("What is <think> for?") == begun_in("") == ""


# --- parameters ----------------------------------------------------------------------------------


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
    with running(Gpt5(None)) as server:
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


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_prompt_is_that_prompts_failure(tmp_path, kind):
    with answering() as server:
        server.script.extend([{}, REFUSED[kind]])
        answers = remote(server, tmp_path)(PROMPTS[:3])
        assert len(server.asked) == 3
    assert [answer.text for answer in answers] == ["What is 0?", "", "What is 2?"]
    assert [answer.stopped for answer in answers] == ["end", "failed", "end"]
    assert "refused the prompt" in answers[1].problem
    assert len(list(tmp_path.rglob("*.json"))) == 2


@pytest.mark.parametrize("kind", ENDING)
def test_a_refused_request_ends_the_stage_and_says_what_to_correct(tmp_path, kind):
    reply, fix = ENDING[kind]
    with answering() as server:
        server.script.append(reply)
        with pytest.raises(SecateurError, match=rf"refused the request with status {reply[0]}.*Fix: .*") as caught:
            remote(server, tmp_path)(PROMPTS[:1])
        assert len(server.asked) == 1
    caught.match(fix)


def test_a_refusal_is_judged_by_its_reason_and_not_by_what_it_repeats():
    echo = {"error": {"message": "Unknown parameter: 'top_k'", "param": "top_k"}, "body": "content filter, too long"}
    assert refusal(400, json.dumps(echo)) == (False, "top_k")
    assert refusal(400, "[" * 100_000) == (False, None)
    assert refusal(401, json.dumps({"error": "content_filter"})) == (False, None)


def test_the_stage_counts_refused_prompts_and_their_scores_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    with answering() as server:
        thought = {"message": {"content": "<think>hm"}, "finish_reason": "length"}
        job = job_of(tmp_path, server.url, **{"answer.max_failed": "0.2"})
        server.script.extend([FILTERED, thought])
        run_stage(answer_questions.run, job)
        answers = read_table(TABLES["answers"], job.outputs["answers"])
        assert sorted(answers["stopped"]) == ["end", "end", "end", "failed", "thought"]
        record = json.loads(job.record.read_text())
        assert (record["counts"]["refused_prompts"], record["counts"]["thoughts_without_answer"]) == (1, 1)
        assert "enable_thinking" in " ".join(record["warnings"])
        assert record["counts"]["replies_cut"] == 0
        server.script.extend([FILTERED])
        strict = job_of(tmp_path, server.url, **{"answer.max_failed": "0.1"})
        with pytest.raises(SecateurError, match=r"1 of 5 prompts were refused.*max_failed \(0\.1\).*status 400.*Fix: "):
            run_stage(answer_questions.run, strict)


@pytest.mark.parametrize(
    "changes",
    [
        {"message": {"content": None}, "finish_reason": "content_filter"},
        {"message": {"content": ""}, "finish_reason": "SAFETY"},
        {"message": {"content": f"<think>{THOUGHT}</think>\n"}, "finish_reason": "refusal"},
        {"message": {"content": f"<think>{THOUGHT}"}, "finish_reason": "sensitive"},
    ],
)
def test_a_filtered_reply_fails_its_prompt(tmp_path, changes):
    with answering() as server:
        server.script.extend([changes, {"message": {"content": "It was"}, "finish_reason": "content_filter"}])
        answers = remote(server, tmp_path)(PROMPTS[:2])
        assert len(server.asked) == 2
    assert [(answer.text, answer.stopped) for answer in answers] == [("", "failed"), ("It was", "filtered")]
    assert answers[0].problem == "the reply was filtered"


def test_the_stage_counts_filtered_replies_as_refused_prompts(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    filtered = {"message": {"content": None}, "finish_reason": "content_filter"}
    with answering() as server:
        server.script.append(filtered)
        job = job_of(tmp_path, server.url, **{"answer.max_failed": "0.2"})
        run_stage(answer_questions.run, job)
        assert json.loads(job.record.read_text())["counts"]["refused_prompts"] == 1
        server.script.append(filtered)
        strict = job_of(tmp_path, server.url, **{"answer.max_failed": "0.1"})
        with pytest.raises(SecateurError, match=r"1 of 5 prompts were refused.*one: the reply was filtered\. Fix: "):
            run_stage(answer_questions.run, strict)


def test_a_filtered_reply_of_an_earlier_version_is_asked_again(tmp_path):
    with answering() as server:
        model = remote(server, tmp_path)
        model(PROMPTS[:1])
        (path,) = tmp_path.rglob("*.json")
        kept = json.loads(path.read_text().partition("\n")[2])
        model._replies.put(path.stem, kept | {"text": "", "stopped": "filtered"})
        assert model(PROMPTS[:1])[0].text == "What is 0?"
        assert len(server.asked) == 2


@pytest.mark.parametrize("backend", ["chat", "completions"])
def test_an_endless_thought_is_advised_what_its_backend_allows(tmp_path, monkeypatch, backend):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    thought = "<think>hm"
    with answering() as server:
        server.script.append({"message": {"content": thought}, "text": thought, "finish_reason": "length"})
        job = job_of(tmp_path, server.url, **{"answer.backend": f'"{backend}"'})
        run_stage(answer_questions.run, job)
    (said,) = [text for text in json.loads(job.record.read_text())["warnings"] if "answers are empty" in text]
    assert ("answer.template" in said) == (backend == "chat")


def test_the_scores_of_a_refused_prompt_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    job = job_of(tmp_path, "http://127.0.0.1:9/v1")
    endings = ("failed", "thought", "end", "end", "end")
    rows = [(f"q{n}", "g", n, 0, 9, 1, "" if n < 2 else f"{n}", False, end) for n, end in enumerate(endings)]
    tables = {"answers": rows, "contexts": []}
    inputs = dict(job.inputs)
    for name, own in tables.items():
        inputs[name] = [tmp_path / f"{name}.parquet"]
        write_table(TABLES[name], TABLES[name].frame(own), inputs[name][0])
    flat = dict(job.leaves) | leaves("eval", compose.option(CONF, "eval", "default")) | {"extra.order": '"blind"'}
    flat |= leaves("ecs", compose.option(CONF, "ecs", "default"))
    outputs = {"question_metrics": tmp_path / "out/question_metrics.parquet"}
    job = replace(job, rule="evaluate_answers", inputs=inputs, outputs=outputs, leaves=flat)
    run_stage(evaluate_answers.run, job)
    values = read_table(TABLES["question_metrics"], outputs["question_metrics"])
    by_question = {
        q: dict(zip(m, v, strict=True)) for q, m, v in values.group_by("question_id").agg("metric", "value").iter_rows()
    }
    assert "token_f1" not in by_question["q0"]
    assert by_question["q0"]["read_tokens"] == 9
    assert (by_question["q1"]["token_f1"], by_question["q2"]["token_f1"]) == (0, 1)


@pytest.mark.slow
def test_a_verdict_in_a_thought_does_not_count(tmp_path, monkeypatch):
    rules = {
        "plain": ruled,
        "thinking": lambda prompt: f"<think>{THOUGHT} 0</think>{ruled(prompt)}",
        "endless": lambda prompt: f"<think>{ruled(prompt)}",
    }
    judged = {}
    for name, rule in rules.items():
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv("SECATEUR_CACHE", str(folder / "cache"))
        with running(Judging(rule)) as server:
            job = judging_job(folder, server.url)
            run_stage(judge_answers.run, job)
        judged[name] = figures(job)
    assert judged["thinking"] == judged["plain"]
    assert set(judged["endless"]["judged_unread"].values()) == {1}
    assert json.loads(job.record.read_text())["counts"]["thoughts_without_answer"] > 0


def test_a_judges_refused_prompts_are_missing_up_to_a_share(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    with running(Judging(ruled)) as server:
        job = judging_job(tmp_path, server.url)
        server.script.extend([FILTERED, {"message": {"content": None}, "finish_reason": "content_filter"}])
        run_stage(judge_answers.run, job)
        counts = json.loads(job.record.read_text())["counts"]
        assert (counts["refused_prompts"], counts["too_long"]) == (2, 0)
        server.script.append((401, {}, "wrong key"))
        job.leaves["judge.model"] = '"other"'
        with pytest.raises(SecateurError, match=r"correct judge\.url and judge\.model"):
            run_stage(judge_answers.run, job)


# --- extraction ----------------------------------------------------------------------------------


def extractor(server, cache, **more) -> FrontEnd:
    limits = {"max_tokens": 64, "timeout": 5.0, "delays": (0.0,), "max_wait": 5.0, "max_failed": 0.5}
    return FrontEnd(Settings(url=server.url, model="m", **limits | more), SimpleNamespace(log=Log(), cache=cache))


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
    with answering() as server:
        server.script.append({"message": {"content": text}})
        block = extractor(server, tmp_path)(["Ann met Bob.", "Ann met Cy."], None)
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
    with answering() as server:
        server.script.append(entry)
        block = extractor(server, tmp_path)(["Ann met Bob.", "Ann met Cy."], None)
        assert len(server.asked) == 1
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


# --- peers ---------------------------------------------------------------------------------------


def test_a_peer_gets_replies_without_thoughts_and_none_of_a_refused_prompt(tmp_path):
    with answering() as server:
        service = SimpleNamespace(url=server.url, model="m", timeout=5.0, delays=(), max_wait=0, parameters={"seed": 1})
        reply = released(service, tmp_path, Log())
        bodies = [{"messages": [{"role": "user", "content": f"{n}"}], "temperature": 0} for n in range(3)]
        server.script.extend([{"message": {"content": f"<think>{THOUGHT}</think>\nAnn."}}, FILTERED])
        server.script.append({"message": {"content": "<think>hm"}, "finish_reason": "length"})
        assert reply(None, bodies[0]).strip() == reply(None, bodies[0]).strip() == "Ann."
        assert server.asked[0][1]["seed"] == 1
        with pytest.raises(Unanswered, match="refused the prompt"):
            reply(None, bodies[1])
        with pytest.raises(Unanswered, match="a thought without an answer"):
            reply(None, bodies[2])
        server.script.append((401, {}, "wrong key"))
        with pytest.raises(SecateurError, match=r"correct service\.url"):
            reply(None, {"messages": []})


@pytest.mark.parametrize(
    "changes",
    [
        {"message": {"content": None}, "finish_reason": "content_filter"},
        {"message": {"content": " "}, "finish_reason": "safety"},
        {"message": {"content": f"<think>{THOUGHT}</think>"}, "finish_reason": "content_filter"},
    ],
)
def test_a_peers_filtered_reply_is_no_empty_text_and_is_not_stored(tmp_path, changes):
    with answering() as server:
        service = SimpleNamespace(url=server.url, model="m", timeout=5.0, delays=(), max_wait=0)
        reply, body = released(service, tmp_path, Log()), {"messages": [{"role": "user", "content": "What is 0?"}]}
        server.script.append(changes)
        with pytest.raises(Unanswered, match="the reply was filtered"):
            reply(None, body)
        assert not list(tmp_path.rglob("*.json"))
        assert reply(None, body) == "What is 0?"
        (path,) = tmp_path.rglob("*.json")
        RequestCache(tmp_path / "peer_replies").put(path.stem, "")  # as earlier versions stored it
        assert reply(None, body) == "What is 0?"


# --- waits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503, 529])
def test_a_busy_endpoint_is_asked_again(tmp_path, status):
    with answering() as server:
        server.script.append((status, {}, "{}"))
        assert remote(server, tmp_path)(PROMPTS[:1])[0].text == "What is 0?"
        assert len(server.asked) == 2


@pytest.mark.parametrize("value", ["0.4", ".3", "4e-1"])
def test_a_fraction_of_a_second_is_waited(tmp_path, value, monkeypatch):
    waits = []
    monkeypatch.setattr("secateur.models.http.time.sleep", waits.append)
    with answering() as server:
        server.script.append((429, {"Retry-After": value}, "{}"))
        remote(server, tmp_path)(PROMPTS[:1])
    assert waits == [float(value)]


@pytest.mark.parametrize(
    "value", ["soon", "-1", "nan", "inf", "1e999", "0.4s", "400ms", "Wed, 21 Oct 2015 07:28:00 -0000"]
)
def test_what_is_no_wait_is_none(value):
    assert retry_after(value) == 0


def test_a_date_is_waited_for():
    later = datetime.now(UTC) + timedelta(seconds=30)
    assert 27 < retry_after(format_datetime(later, usegmt=True)) <= 30
    assert 27 < retry_after(later.strftime("%a, %d %b %Y %H:%M:%S -0000")) <= 30  # a date without a zone is in UTC


# --- the machine around it -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks://127.0.0.1:9"),
        ("all_proxy", "socks4://user:secret@127.0.0.1:9"),
        ("HTTP_PROXY", "ftp://127.0.0.1:9"),
        ("HTTPS_PROXY", "http://127.0.0.1:no"),
        ("NO_PROXY", "localhost,[::1]"),
        ("no_proxy", "127.0.0.1,::1/128"),
        ("SSL_CERT_FILE", "/nonexistent/ca.pem"),
        ("SSL_CERT_FILE", __file__),
        ("SSL_CERT_FILE", "/"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(tmp_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with answering() as server, pytest.raises(SecateurError, match=rf"^{name}: cannot be used.*Fix: ") as caught:
        remote(server, tmp_path)(PROMPTS[:1])
    assert "secret" not in str(caught.value)


def test_a_socks_proxy_is_used_or_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with answering() as server, pytest.raises(SecateurError, match="ALL_PROXY"):
        remote(server, tmp_path)(PROMPTS[:1])


def test_a_dead_proxy_is_named_where_it_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with answering() as server:
        with pytest.raises(SecateurError, match=r"ConnectError.*through the proxy in HTTP_PROXY"):
            remote(server, tmp_path)(PROMPTS[:1])
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1,::1")
        assert remote(server, tmp_path)(PROMPTS[:1])[0].text == "What is 0?"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, ""),
        ({"HTTPS_PROXY": "http://127.0.0.1:9"}, ", through the proxy in HTTPS_PROXY"),
        ({"https_proxy": "no authority"}, ", through the proxy in https_proxy"),
        ({"ALL_PROXY": "http://127.0.0.1:9"}, ", through the proxy in ALL_PROXY"),
        ({"HTTP_PROXY": "http://127.0.0.1:9"}, ""),
        ({"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ".invalid"}, ""),
        ({"SSL_CERT_FILE": "/nonexistent/ca.pem"}, ", while SSL_CERT_FILE names no file"),
    ],
)
def test_a_download_that_fails_names_the_variables_it_went_by(tmp_path, monkeypatch, variables, said):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    url = "https://data.invalid/file.json"
    assert through(url) == said
    entry = RegistryFile("file.json", "owner/repo@1", url, "0" * 64, 1, "MIT", tmp_path)
    with pytest.raises(SecateurError, match=f"could not be downloaded from {url} .*{said}\\)"):
        fetch(entry, tmp_path / "file.json", None)


def test_a_key_is_not_shown_in_a_refusal(tmp_path, monkeypatch):
    monkeypatch.setenv(KEYS[0], "sk-secret-0123456789")
    with answering() as server:
        server.script.append(error("content_filter sk-secret-0123456789"))
        (answer,) = remote(server, tmp_path)(PROMPTS[:1])
    assert "***" in answer.problem
    assert "sk-secret" not in answer.problem
