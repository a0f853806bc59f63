"""Refused and filtered prompts: which fail alone, which end the stage, and what is said of them; over a real socket."""

import json

import pytest
from scripts import answer_questions, evaluate_answers, judge_answers
from test_bad_input_answers import CONF, PROMPTS, ROWS, job_of, remote, replied, staged
from test_bad_input_judges import Judging, figures
from test_bad_input_judges import job_of as judging_job
from test_replies import THOUGHT
from tests.support.answer_server import answering
from tests.support.converted import linked
from tests.support.loopback import running
from tests.support.refusals import FILTERED, REFUSED, error
from tests.support.rule_judge import ruled

from secateur.config import compose
from secateur.config.leaves import leaves
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.models.refusals import refusal
from secateur.stage.contract import run_stage

pytestmark = pytest.mark.usefixtures("bare")
ENDING = {
    "max_tokens": (
        error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"),
        r"answer\.parameters=\{max_completion_tokens",
    ),
    "temperature": (
        error("Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"),
        r"answer\.parameters=\{temperature: null\}",
    ),
    "fastapi's extra": (
        (422, {}, json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "input": "too long"}]})),
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


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_prompt_is_that_prompts_failure(tmp_path, kind):
    answers = replied(tmp_path, {}, REFUSED[kind], {})
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


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (FILTERED, r"status 400"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, r"one: the reply was filtered\."),
    ],
    ids=["prompt", "reply"],
)
def test_the_stage_counts_refused_prompts_and_filtered_replies_up_to_a_share(tmp_path, fresh_cache, refused, said):
    with answering() as server:
        thought = {"message": {"content": "<think>hm"}, "finish_reason": "length"}
        job = job_of(tmp_path, server.url, **{"answer.max_failed": "0.2"})
        server.script.extend([refused, thought])
        run_stage(answer_questions.run, job)
        answers = read_table(TABLES["answers"], job.outputs["answers"])
        assert sorted(answers["stopped"]) == ["end", "end", "end", "failed", "thought"]
        record = json.loads(job.record.read_text())
        counts = ("refused_prompts", "thoughts_without_answer", "replies_cut")
        assert [record["counts"][name] for name in counts] == [1, 1, 0]
        assert "enable_thinking" in " ".join(record["warnings"])
        server.script.append(refused)
        strict = job_of(tmp_path, server.url, **{"answer.max_failed": "0.1"})
        with pytest.raises(SecateurError, match=rf"1 of 5 prompts were refused.*max_failed \(0\.1\).*{said}.*Fix: "):
            run_stage(answer_questions.run, strict)


def test_the_scores_of_a_refused_prompt_are_missing(tmp_path, fresh_cache):
    endings = ("failed", "thought", "end", "end", "end")
    rows = [(f"q{n}", "g", n, 0, 9, 1, "" if n < 2 else f"{n}", False, end) for n, end in enumerate(endings)]
    flat = job_of(tmp_path, "http://127.0.0.1:9/v1").leaves | {"extra.order": '"blind"'}
    for name in ("eval", "ecs"):
        flat |= leaves(name, compose.option(CONF, name, "default"))
    tables = ROWS | {"answers": rows, "contexts": []}
    job = staged(tmp_path, "evaluate_answers", tables, ("question_metrics",), flat, shard="0of1")
    run_stage(evaluate_answers.run, job)
    table = read_table(TABLES["question_metrics"], job.outputs["question_metrics"])
    values = {(q, name): value for q, name, value in table.select("question_id", "metric", "value").iter_rows()}
    assert ("q0", "token_f1") not in values
    assert values["q0", "read_tokens"] == 9
    assert (values["q1", "token_f1"], values["q2", "token_f1"]) == (0, 1)


FILTERED_OUT = {
    "content_filter": None,
    "content_filter: SAFETY": "",
    "SAFETY": "",
    "refusal": f"<think>{THOUGHT}</think>\n",
    "sensitive": f"<think>{THOUGHT}",
}


@pytest.mark.parametrize(("reason", "content"), FILTERED_OUT.items())
def test_a_filtered_reply_fails_its_prompt(tmp_path, reason, content):
    (answer,) = replied(tmp_path, {"message": {"content": content}, "finish_reason": reason})
    assert (answer.text, answer.stopped, answer.problem) == ("", "failed", "the reply was filtered")


@pytest.mark.parametrize("backend", ["chat", "completions"])
def test_an_endless_thought_is_advised_what_its_backend_allows(tmp_path, fresh_cache, backend):
    thought = "<think>hm"
    with answering() as server:
        server.script.append({"message": {"content": thought}, "text": thought, "finish_reason": "length"})
        job = job_of(tmp_path, server.url, **{"answer.backend": f'"{backend}"'})
        run_stage(answer_questions.run, job)
    (said,) = [text for text in json.loads(job.record.read_text())["warnings"] if "answers are empty" in text]
    assert ("answer.template" in said) == (backend == "chat")


@pytest.mark.slow
def test_a_verdict_in_a_thought_does_not_count(converted, tmp_path, monkeypatch):
    rules = {
        "plain": ruled,
        "thinking": lambda prompt: f"<think>{THOUGHT} 0</think>{ruled(prompt)}",
        "endless": lambda prompt: f"<think>{ruled(prompt)}",
    }
    judged = {}
    for name, rule in rules.items():
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv("SECATEUR_CACHE", str(linked(converted, folder / "cache")))
        with running(Judging(rule)) as server:
            job = judging_job(folder, server.url)
            run_stage(judge_answers.run, job)
        judged[name] = figures(job)
    assert judged["thinking"] == judged["plain"]
    assert set(judged["endless"]["judged_unread"].values()) == {1}
    assert json.loads(job.record.read_text())["counts"]["thoughts_without_answer"] > 0


def test_a_judges_refused_prompts_are_missing_up_to_a_share(tmp_path, fresh_cache):
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
