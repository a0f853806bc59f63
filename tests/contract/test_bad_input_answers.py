"""What an endpoint may say in place of an answer, and what happens when it dies in the middle."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripts import answer_questions
from tests.support.answer_server import Log, answering, endless
from tests.support.project import ROOT
from tests.support.refusals import error

from secateur.answers.endpoint import Remote
from secateur.answers.generate import Completion
from secateur.config import compose
from secateur.config.answers import answer_problems
from secateur.config.leaves import leaves
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table, write_table
from secateur.models.http import KEYS
from secateur.planning.plan import variants
from secateur.stage.contract import Job, run_stage

pytestmark = pytest.mark.usefixtures("bare")
CONF = ROOT / "conf"
KEY = "sk-secret-0123456789"
PROMPTS = [f"Be brief.\n\nQuestion: What is {n}?" for n in range(5)]


def remote(server, cache: Path, backend: str = "chat", **changes) -> Remote:
    plain = {"url": server.url, "model": "m", "backend": backend, "max_tokens": 16, "concurrency": 1, "window": None}
    plain |= {"timeout": 5.0, "delays": (0.0,), "max_wait": 1.0, "stop": ("\n\n",), "repeats": 3, "least_repeated": 40}
    count = lambda texts: np.array([len(text.split()) for text in texts])  # noqa: E731
    one = Remote(SimpleNamespace(**plain | changes), count, 99, cache, log := Log())
    one.log = log
    return one


def replied(cache: Path, *entries) -> list[Completion]:
    """Answers to as many prompts as there are entries, each sent in place of a reply and asked for once."""
    with answering() as server:
        server.script.extend(entries)
        answers = remote(server, cache)(PROMPTS[: len(entries)])
        assert len(server.asked) == len(entries)
    return answers


@pytest.mark.parametrize("backend", ["chat", "completions"])
def test_each_prompt_gets_its_answer_with_its_tokens(tmp_path, backend):
    with answering() as server:
        answers = remote(server, tmp_path, backend, concurrency=3)(PROMPTS)
        assert [a.text for a in answers] == [f"What is {n}?" for n in range(5)]
        assert {a.stopped for a in answers} == {"end"}
        assert answers[0].prompt_tokens == 6 + (backend == "completions")
        for _, request in server.asked:
            assert request["temperature"] == 0
            assert request["max_tokens"] == 16


@pytest.mark.parametrize(
    ("changes", "answer", "stopped"),
    [
        ({"message": {"content": ""}}, "", "end"),
        ({"message": {"content": None, "refusal": "I cannot."}}, "I cannot.", "end"),
        ({"message": {"content": "It was"}, "finish_reason": "content_filter"}, "It was", "filtered"),
        ({"finish_reason": "length"}, "What is 0?", "length"),
        ({"message": {"content": "\n\nAnn.\n\nShe left."}}, "Ann.", "stop"),
        ({"message": {"content": "It was Ann, they say. " * 9}}, "It was Ann, they say.", "repeats"),
        ({"message": {"content": "half \ud83d a pair"}}, "half ? a pair", "end"),
    ],
)
def test_an_answer_is_kept_as_it_is_and_cut_where_it_should_have_ended(tmp_path, changes, answer, stopped):
    (found,) = replied(tmp_path, changes)
    assert (found.text, found.stopped) == (answer, stopped)


@pytest.mark.parametrize("said", ["many", -5, 10**30, True, None])
def test_tokens_are_counted_here_where_an_endpoint_does_not_say_what_can_be(tmp_path, said):
    body = {"choices": [{"message": {"content": "It was Ann."}}], "usage": {"prompt_tokens": said}}
    assert replied(tmp_path, (200, {}, json.dumps(body))) == [Completion("It was Ann.", 6, 3, "end")]


def completion(**choice) -> tuple[int, dict, str]:
    return 200, {}, json.dumps({"choices": [choice]})


@pytest.mark.parametrize(
    "entry",
    [
        *((200, {}, body) for body in ("<!doctype html>", "{}", '{"choices": []}', "[" * 100_000)),
        completion(message={"content": 7}),
        completion(message={"role": "assistant"}),
        completion(message={"content": None}, finish_reason="stop"),
        completion(message={"content": "so far"}, finish_reason="error"),
        *((status, {}, "{}") for status in (408, 409, 425, 429, 500, 503, 529)),
    ],
)
def test_what_is_no_answer_is_asked_again_and_then_stops_with_one_message(tmp_path, entry):
    with answering() as server:
        server.script.append(entry)
        assert remote(server, tmp_path)(PROMPTS[:1])[0].text == "What is 0?"
        assert len(server.asked) == 2
        server.script.extend([entry, entry])
        with pytest.raises(SecateurError, match=r"/chat/completions: .*after 2 attempts.*Fix: .*cached") as caught:
            remote(server, tmp_path)(PROMPTS[1:2])
        assert "\n" not in str(caught.value)
    assert len(list(tmp_path.rglob("*.json"))) == 1  # of the good one


def test_a_key_comes_from_the_environment_and_goes_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setenv(KEYS[0], KEY)
    with answering() as server:
        server.script.append((401, {}, f"wrong key {KEY}"))
        one = remote(server, tmp_path)
        with pytest.raises(SecateurError, match="refused the request with status 401") as caught:
            one(PROMPTS[:1])
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
        one(PROMPTS[:1])
        server.script.append(error(f"content_filter {KEY}"))
        (refused,) = one(PROMPTS[1:2])
    assert "***" in refused.problem
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert KEY not in str(caught.value) + refused.problem + kept + "".join(one.log)
    assert kept


QUESTIONS = [(f"q{n}", "g", "c", n, f"What is {n}?", str(n), None, None, None, "test") for n in range(5)]
PASSAGES = [(f"p{n}", "d", None, "g", None, n, f"{n} is a number.", None, None, None, None) for n in range(5)]
EVIDENCE = [(f"q{n}", 0, None, f"p{n}", None, None) for n in range(5)]
CONTEXTS = [
    (f"q{n}", "zsum", False, 512, k, "whole", f"p{k}", True, [], f"{k} is a number.\n", None, 15)
    for n in range(5)
    for k in range(3)
]
ROWS = {"questions": QUESTIONS, "passages": PASSAGES, "evidence": EVIDENCE, "contexts": CONTEXTS}


def staged(folder: Path, rule: str, rows: dict[str, list], outputs: tuple[str, ...], flat: dict, **axes: str) -> Job:
    """A job whose inputs are tables of these rows."""
    inputs = {name: [folder / f"{name}.parquet"] for name in rows}
    made = {name: folder / f"out/{name}.parquet" for name in outputs}
    for name, own in rows.items():
        write_table(TABLES[name], TABLES[name].frame(own), inputs[name][0])
    return Job(rule, inputs, made, folder / "out/run.json", flat, "c", axes, 1, folder / "log.txt", folder)


def job_of(folder: Path, url: str, **changes: str) -> Job:
    """A job of answer_questions whose model stands behind an endpoint."""
    overrides = [f"answer.url={url}", "answer.backend=chat", "answer.model=m", "answer.concurrency=1"]
    overrides += ["answer.timeout=5", "answer.delays=[0]", "answer.max_wait=1"]
    answer = compose.option(CONF, "answer", "default", tuple(overrides))
    flat = leaves("answer", answer) | leaves("lm", compose.option(CONF, "lm", "smollm2"))
    flat |= {"dataset.split": '"all"', "dataset.answered": "5", "assembly.budget": "512", "extra.sees_gold": "false"}
    flat |= changes
    return staged(folder, "answer_questions", ROWS, ("answers",), flat, shard="0of1")


def test_an_endpoint_that_dies_in_the_middle_loses_nothing(tmp_path, fresh_cache):
    with answering(lives=3) as server:
        job = job_of(tmp_path, server.url)
        with pytest.raises(SecateurError, match=r"status 503, after 2 attempts.*run again"):
            run_stage(answer_questions.run, job)
        assert not job.outputs["answers"].exists()
        assert not job.record.exists()
        assert "503" in json.loads(job.record.with_name("failure.json").read_text())["failure"]
        server.lives, before = None, len(server.asked)
        run_stage(answer_questions.run, job)
        first = job.outputs["answers"].read_bytes()
        run_stage(answer_questions.run, job)
        assert len(server.asked) - before == 2  # three answers were there already, and all of them at last
        assert job.outputs["answers"].read_bytes() == first
    answers = read_table(TABLES["answers"], job.outputs["answers"])
    assert answers["text"].to_list() == [f"What is {n}?" for n in range(5)]
    assert set(answers["session_id"]) == {"g"}
    assert answers["n"].to_list() == list(range(5))
    metrics = json.loads(job.record.read_text())["metrics"]
    assert metrics["prompt_tokens"] == answers["prompt_tokens"].mean()
    assert metrics["prefill_seconds_per_question"] == 0  # all from the cache


def test_a_context_that_does_not_fit_is_cut_where_it_is_farthest_from_the_question_and_told(tmp_path, fresh_cache):
    with answering() as server:
        job = job_of(tmp_path, server.url, **{"answer.window": "16"})
        with pytest.raises(SecateurError, match=r"question q\d: its prompt has \d+ tokens without any context"):
            run_stage(answer_questions.run, job)
        assert server.asked == []
        job = job_of(tmp_path, server.url, **{"answer.window": "40"})
        run_stage(answer_questions.run, job)
        (cut,) = set(read_table(TABLES["answers"], job.outputs["answers"])["cut"])
        assert 0 < cut < 3
        for _, request in server.asked:
            shown = request["messages"][0]["content"]
            assert "2 is a number." in shown
            assert "0 is a number." not in shown
    warnings = " ".join(json.loads(job.record.read_text())["warnings"])
    assert "5 of 5 contexts do not fit the window of 40 tokens" in warnings


@pytest.mark.parametrize(
    ("sees_gold", "contexts", "answered"), [("true", CONTEXTS[6:], 3), ("false", CONTEXTS[6:], 5), ("true", [], 0)]
)
def test_an_upper_bound_answers_only_questions_with_gold_passages(tmp_path, fresh_cache, sees_gold, contexts, answered):
    with answering() as server:
        job = job_of(tmp_path, server.url, **{"extra.sees_gold": sees_gold})
        write_table(TABLES["contexts"], TABLES["contexts"].frame(contexts), job.inputs["contexts"][0])
        run_stage(answer_questions.run, job)
    assert read_table(TABLES["answers"], job.outputs["answers"]).height == answered
    counts = json.loads(job.record.read_text())["counts"]
    assert counts.get("questions_without_gold_passages", 0) == 5 - answered


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("system.ranker=zsun", r"system.ranker names zsun.*did you mean 'zsum'"),
        ("system.ranker=zsum+answer", r"system.ranker names zsum\+answer"),
        ("system.ranker=null", "system.answers_only is true.*system.ranker is null"),
        ("system.memory=session", "memory is session.*the family is lexical"),
        ("answer.backend=chat", "answer.url is needed by backend chat"),
        ("answer.url=http://localhost:1/v1", "answer.url does not belong to backend lm"),
        ("answer.max_tokens=9000", r"answer.max_tokens \(9000\) .* lm.window \(8192\)"),
        ("answer.stop=['']", "answer.stop holds an empty text"),
        ("answer.refusals=[No]", "answer.refusals holds 'No'"),
        ("system.reader=vllm_qwen2_5_7b", "answer.backend lm .*lm.backend is vllm"),
    ],
)
def test_settings_that_cannot_answer_are_refused_before_anything_runs(override, said):
    with pytest.raises(ConfigError, match=f"(?s){said}.*Fix:"):
        variants(CONF, "smoke", ("experiment.systems=[rag_zsum]", "experiment.axes={}", override))
    answer = compose.option(CONF, "answer", "default")
    assert answer_problems(answer, compose.option(CONF, "lm", "smollm2")) == []


def test_a_reply_without_end_is_given_up_in_time_and_in_size(tmp_path):
    """One byte now and then keeps a connection alive for ever; a body of any size is read to its end."""
    with endless(0.2) as server, pytest.raises(SecateurError, match="no whole reply in 1 s"):
        remote(server, tmp_path, timeout=1.0)(PROMPTS[:1])
    with endless(0) as server, pytest.raises(SecateurError, match="a reply of more than 16,777,216 bytes"):
        remote(server, tmp_path, timeout=600.0)(PROMPTS[:1])
