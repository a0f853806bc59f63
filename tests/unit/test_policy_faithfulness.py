"""Faithfulness of written answers, by the reader's log-probability and by a judge."""

import json
import math

import pytest

from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.template import Question
from secateur.policy.faithfulness import by_judge, by_reader, requests

ASKED = Question("q1", "Do owls eat fish?", "gold is not read")


def test_the_reader_compares_its_answer_with_and_without_the_context(tiny_lm, ecs, tmp_path):
    lm, cfg, answers = tiny_lm(), ecs(), ["owls do", " ", "owls do"]
    contexts = ["Owls eat fish.\n", "Owls eat fish.\n", CLOSED]
    said = Question("q1", "Do owls eat fish?", "owls do")
    under, alone = answer_logprobs(lm, cfg, [(said, contexts[0]), (said, CLOSED)], tmp_path)
    expected = [1 / (1 + math.exp(alone - under)), 0, 0.5]
    logprobs = answer_logprobs(lm, cfg, requests(ASKED, answers, contexts), tmp_path)
    assert by_reader(answers, logprobs) == pytest.approx(expected)


def test_a_judge_counts_supported_statements_and_an_unreadable_reply_is_none():
    def ask(prompts):
        split = {"good": json.dumps(["a", "b"]), "bad": "no list"}
        return [next((v for k, v in split.items() if f"Text: {k}" in p), "[1]") for p in prompts]

    answers = ["good", "bad", "good", "", "I don't know"]
    refused = [False, False, False, False, True]
    assert by_judge(ask, ASKED, answers, ["text", "text", "", "text", "text"], refused) == [0.5, None, 0, 0, 0]
