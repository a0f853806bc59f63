"""Judges behind a real socket: well-formed and malformed replies, a wrong key, a death; and the embedded model as one."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scripts import judge_answers
from test_bad_input_answers import CONF, ROWS, staged
from tests.support.answer_server import Server
from tests.support.loopback import running
from tests.support.rule_judge import ruled

from secateur.answers.generate import InProcess
from secateur.config import compose
from secateur.config.answers import judge_problems
from secateur.config.leaves import leaves
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.judging.protocol import Item, judged
from secateur.models.reader import load
from secateur.stage.contract import Job, run_stage

SAID = ["0", "1 is a number. It is odd.", "", "I don't know.", "4"]
ANSWERS = [(f"q{n}", f"q{n}", 0, 0, 10, 5, text, n == 3, "end") for n, text in enumerate(SAID)]


class Judging(Server):
    """Replies as a rule says, whatever it is asked."""

    def __init__(self, rule, lives=None) -> None:
        super().__init__(lives)
        self.rule = rule

    def _completion(self, path, request, changes):
        said = {"message": {"role": "assistant", "content": self.rule(request["messages"][-1]["content"])}}
        return 200, {}, json.dumps({"choices": [{"index": 0, "finish_reason": "stop"} | said | changes]})


def letters(texts):
    counts = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], float)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


LETTERS = SimpleNamespace(embed=letters)  # texts as vectors


def job_of(folder, url: str) -> Job:
    overrides = [f"judge.url={url}", "judge.concurrency=1", "judge.timeout=600", "judge.delays=[0]", "judge.max_wait=1"]
    judge = compose.option(CONF, "judge", "endpoint", tuple(overrides))
    flat = leaves("judge", judge) | leaves("lm", compose.option(CONF, "lm", "smollm2")) | {"assembly.budget": "512"}
    flat |= leaves("embedder", compose.option(CONF, "embedder", "minilm"))
    flat |= {"extra.order": '"blind"', "extra.model": "null", "extra.reader": "null"}
    rows, outputs = ROWS | {"answers": ANSWERS}, ("question_metrics", "verdicts")
    job = staged(folder, "judge_answers", rows, outputs, flat, judge="endpoint")
    job.inputs["model"] = []
    return job


def figures(job: Job) -> dict[str, dict[str, float]]:
    table, found = read_table(TABLES["question_metrics"], job.outputs["question_metrics"]), {}
    for question, metric, value in table.select("question_id", "metric", "value").iter_rows():
        found.setdefault(metric.removesuffix("@endpoint"), {})[question] = value
    return found


def test_well_formed_verdicts_become_figures_with_controls(tmp_path, fresh_cache):
    with running(Judging(ruled)) as server:
        job = job_of(tmp_path, server.url)
        run_stage(judge_answers.run, job)
    found = figures(job)
    assert found["judged_facts"] == {"q0": 1, "q1": 0, "q2": 0, "q3": 0, "q4": 1}
    assert found["judged_acc"]["q0"] == pytest.approx(1, abs=1e-6)
    assert 0 < found["judged_acc"]["q3"] < 0.25  # a refusal is near no answer, and says nothing right
    assert set(found["judged_unread"].values()) == {0}
    assert set(found["judge_of_gold"].values()) == {1}
    assert set(found["judge_of_wrong"].values()) == {0}
    said = read_table(TABLES["verdicts"], job.outputs["verdicts"])
    assert said["prompt"].n_unique() == said.height
    assert said["reply"].null_count() == 0


def test_malformed_verdicts_are_missing_and_told(tmp_path, fresh_cache):
    with running(Judging(lambda prompt: "Certainly! Every statement follows.")) as server:
        job = job_of(tmp_path, server.url)
        run_stage(judge_answers.run, job)
    found = figures(job)
    assert "judged_acc" not in found
    assert set(found["judged_unread"].values()) == {1}
    record = json.loads(job.record.read_text())
    assert record["counts"]["unread"] == record["counts"]["verdicts"] > 0
    assert "could not be read; they are missing, not 0" in job.log.read_text()


def test_a_judge_that_dies_or_takes_no_key_stops_with_one_message_and_goes_on_where_it_ended(tmp_path, fresh_cache):
    with running(Judging(ruled, lives=5)) as server:
        server.script.append((401, {}, "wrong key"))
        job = job_of(tmp_path, server.url)
        with pytest.raises(SecateurError, match=r"refused the request with status 401.*SECATEUR_API_KEY"):
            run_stage(judge_answers.run, job)
        assert not job.outputs["verdicts"].exists()
        with pytest.raises(SecateurError, match=r"status 503, after 2 attempts"):
            run_stage(judge_answers.run, job)
        server.lives, before = None, len(server.asked)
        run_stage(judge_answers.run, job)
        again = len(server.asked) - before
        assert again == read_table(TABLES["verdicts"], job.outputs["verdicts"]).height - 4


@pytest.mark.slow
def test_the_embedded_model_says_over_a_socket_what_it_says_in_process(tmp_path, fresh_cache):
    """SmolLM2 behind the endpoint: most of what it says is no verdict, and the same is missing either way."""
    lm = load(compose.option(CONF, "lm", "smollm2"), tmp_path / "cache", "cpu")
    cfg = compose.option(CONF, "judge", "smollm2", ("judge.max_tokens=24",))
    made = InProcess(lm, cfg, tmp_path / "cache")

    def ask(prompts):
        return [one.text for one in made(prompts)]

    with running(Judging(lambda prompt: ask([prompt])[0])) as server:
        job = job_of(tmp_path, server.url)
        job.leaves["judge.judged"], job.leaves["judge.checked"] = "2", "2"
        run_stage(judge_answers.run, job)
    found = figures(job)
    names = ("questions", "answers", "contexts", "evidence", "passages")
    tables = {name: read_table(TABLES[name], job.inputs[name][0]) for name in names}
    items = judge_answers._items(judge_answers._judged(tables, 2), tables, 512)
    for question, one in zip(items, judged(list(items.values()), ask), strict=True):
        assert found["judged_unread"][question] == pytest.approx(one.figures["unread"])


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["judge.lm=null"], "judge.lm is needed by backend lm"),
        (["judge.url=http://localhost:1/v1"], "judge.url does not belong to backend lm"),
        (["judge.judged=5"], "judge.checked is 20, only 5 questions are judged"),
    ],
)
def test_settings_that_cannot_judge_are_refused(overrides, said):
    assert said in "; ".join(judge_problems(compose.option(CONF, "judge", "smollm2", tuple(overrides))))
    assert judge_problems(compose.option(CONF, "judge", "smollm2")) == []
    assert judge_problems(compose.option(CONF, "judge", "endpoint")) == []


def test_an_answer_is_judged_against_the_gold_answer_that_it_meets_best_and_an_unread_verdict_counts_last():
    golds = {
        "met": ["It is Norway.", "It is far.", "It is Oslo."],
        "alone": ["Ann."],
        "near": ["Bob.", "Is Oslo it?", "Zoe."],  # none is met: the nearest counts
        "unread": ["Unread.", "Bob."],
    }
    items = {name: Item("Where?", "It is Oslo.", first, "", ()) for name, (first, *_) in golds.items()}
    questions = pl.DataFrame({"question_id": [*golds], "aliases": [own or None for _, *own in golds.values()]})

    def ask(prompts):
        return ["?" if "Unread" in prompt and "Statements:" in prompt else ruled(prompt) for prompt in prompts]

    best = judge_answers._judgements(judge_answers._golds(items, questions), ask, LETTERS)
    assert {name: (item.gold, judgement.facts) for name, (item, judgement, _) in best.items()} == {
        "met": ("It is Oslo.", 1),
        "alone": ("Ann.", 0),
        "near": ("Is Oslo it?", 0),
        "unread": ("Bob.", 0),
    }
    assert best["near"][2] > 0.9
