"""A synthetic problem for the compression policy: the best action on the facts depends on one feature of the question."""

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl

from secateur.config.compose import option
from secateur.config.policy import Policy
from secateur.policy.actions import CHANNELS, LATTICE, Configuration, codes, free_channels, name
from secateur.policy.dpo import Examples
from secateur.policy.features import feature_names, fit_standard, standardise
from secateur.policy.preferences import preference_pairs
from secateur.policy.utility import Terms, Utilities, accuracy_range, terms, weigh

CONF = Path(__file__).parents[2] / "conf"
FACTS = tuple(c for c in LATTICE if c[:2] == ("not_include", "not_include"))
CONFIGURATIONS = {True: LATTICE, False: FACTS}  # with and without memory
SECONDS = {"call": 0.1, "read": 0.001, "write": 0.02}
HEADER = 90  # tokens of every prompt
SHARE = {"question": 0.2, "answer": 0.2, "facts": 0.6}  # of the tokens and of what can be gained


# Mean utility by questions shown (all, one, none), answers (shown or not) and facts (all, unique, none): docs/results.md of
# release 0.6, 50 Medical questions. One question pays without facts alone, so no sum over channels has this maximum.
MEANS = [[[-0.435, -0.423, -0.294], [-0.272, -0.262, -0.150]]]
MEANS += [[[-0.355, -0.344, -0.221], [-0.200, -0.177, -0.077]], [[-0.325, -0.315, -0.184], [-0.147, -0.143, -0.116]]]


def settings(**changes) -> Policy:
    return dataclasses.replace(option(CONF, "policy", "default"), **changes)


def features(rng: np.random.Generator, questions: int, memory: bool) -> np.ndarray:
    """Gaussian features; of them only `score_entropy` decides anything."""
    return rng.normal(size=(questions, len(feature_names(free_channels(CONFIGURATIONS[memory])))))


def scored(rng: np.random.Generator, x: np.ndarray, memory: bool, noise: float = 0.05) -> Terms:
    """Terms of questions whose answer needs all facts where entropy is high, and is hurt by repeats where it is low."""
    configurations = CONFIGURATIONS[memory]
    shown = np.array([1.0, 0.5, 0.0])[codes(configurations)]  # share of a channel's tokens that an action leaves
    unsure = x[:, feature_names(free_channels(configurations)).index("score_entropy")] > 0
    sizes = rng.integers(200, 600, len(x))[:, None]
    tokens = HEADER + sizes * (shown * [SHARE[c] for c in CHANNELS]).sum(1)
    gain = np.where(unsure[:, None, None], [1.0, 0.4, 0.0], [0.5, 1.0, 0.2])  # (questions, 1, actions)
    each = np.take_along_axis(gain.repeat(3, 1), codes(configurations).T[None].repeat(len(x), 0), 2)
    gain = (each * np.array([SHARE[c] for c in CHANNELS])[None, :, None]).sum(1)
    rows = pl.DataFrame(
        {
            "question_id": np.repeat([f"q{n:04}" for n in range(len(x))], len(configurations)),
            "configuration": [name(c) for c in configurations] * len(x),
            "answer_gain": (gain + noise * rng.normal(size=gain.shape)).ravel(),
            "token_f1": 0.5,
            "faithfulness": 0.5,
            "tokens": np.floor(tokens).ravel(),
            "written": 20,
            "budget": 512,
        }
    )
    return terms(rows, configurations)


def splits(
    sizes: tuple[int, ...], policy: Policy, memory: bool = True, seed: int = 7, noise: float = 0.05
) -> tuple[list[Examples], list[Utilities]]:
    """Examples and utilities of train, dev and test questions; scales are fitted on train."""
    rng = np.random.default_rng(seed)
    xs = [features(rng, size, memory) for size in sizes]
    measured = [scored(rng, x, memory, noise) for x in xs]
    scale = accuracy_range(measured[0], policy)
    weighed = [weigh(one, policy, scale, SECONDS) for one in measured]
    standard = fit_standard(xs[0], feature_names(free_channels(CONFIGURATIONS[memory])))
    examples = [
        Examples(standardise(x, standard, u.questions), u.value, preference_pairs(u.value, policy.margin))
        for x, u in zip(xs, weighed, strict=True)
    ]
    return examples, weighed


def interacting(sizes: tuple[int, ...], policy: Policy) -> tuple[list[Examples], tuple[Configuration, ...], str]:
    """(examples, 18 configurations, name of the best one): utilities are MEANS and noise, whatever the features."""
    rng = np.random.default_rng(7)
    configurations = tuple(c for c in LATTICE if c[1] != "unique")
    values = [np.ravel(MEANS) + 0.1 * rng.normal(size=(size, len(configurations))) for size in sizes]
    x = [rng.normal(size=(size, 3)).astype(np.float32) for size in sizes]
    examples = [Examples(*both, preference_pairs(both[1], policy.margin)) for both in zip(x, values, strict=True)]
    return examples, configurations, name(configurations[int(np.argmax(MEANS))])
