"""The compression policy's parts: lattice, features, utilities, preferences, token price, baselines."""

import dataclasses
import re
from functools import partial

import numpy as np
import polars as pl
import pytest
from scripts.evaluate_policy import frontier
from tests.support.policy_problem import FACTS, SECONDS, scored, settings, splits
from tests.support.policy_problem import features as drawn_features
from tests.support.refusals import message

from secateur.policy.actions import CHANNELS, LATTICE, distinct, free_channels, listed, name
from secateur.policy.baselines import baselines, classified, gap_share, outcomes
from secateur.policy.dpo import log_reference
from secateur.policy.features import Channel, feature_names, features, fit_standard, redundancy, standardise
from secateur.policy.preferences import pair_statistics, preference_pairs
from secateur.policy.price import choose, price
from secateur.policy.utility import accuracy_range, terms, weigh

ROWS = pl.DataFrame(
    {
        "question_id": ["b"] * 3 + ["a"] * 3,
        "configuration": [name(c) for c in FACTS] * 2,
        "answer_gain": [1.0, 0.5, 0.0, 0.2, 0.4, 0.0],
        "token_f1": [0.5, 1.0, 0.0] * 2,
        "faithfulness": [1.0, 0.5, 0.0] * 2,
        "written": [10, 20, 30] * 2,
        "budget": [400] * 3 + [200] * 3,
        "tokens": [400, 300, 100, 200, 150, 50],
    }
)
BROKEN = ROWS.with_columns(answer_gain=pl.Series([1.0, float("nan"), 0, 0, 0, 0]))
MEASURED = terms(ROWS, FACTS)


def test_the_configurations_of_a_table_stand_in_the_order_of_the_lattice():
    assert listed(map(name, LATTICE[::-1])) == LATTICE
    assert (free_channels(LATTICE), free_channels(FACTS)) == (CHANNELS, ("facts",))


def prompts(most: tuple[int, int, int]) -> list[str]:
    """A question's prompt under each configuration, with so many units in each channel at most."""
    left = {"include_all": lambda n: n, "unique": lambda n: min(n, 1), "not_include": lambda n: 0}
    return [str([left[action](n) for action, n in zip(actions, most, strict=True)]) for actions in LATTICE]


def test_configurations_whose_prompts_never_differ_are_one():
    found = distinct([prompts((3, 0, 5)), prompts((3, 1, 5))])  # `unique` of one answer equals all
    assert len(found) == 18 and "unique" not in {answer for _, answer, _ in found}
    assert distinct([prompts((0, 0, 5))]) == FACTS  # a channel without a unit is not_include
    assert distinct([prompts((0, 0, 5)), prompts((2, 2, 0))]) == LATTICE  # one question is enough to differ
    assert distinct([]) == LATTICE
    assert distinct([[""] * 27]) == FACTS[-1:]


def test_redundancy_is_the_mean_pairwise_cosine():
    vectors = np.random.default_rng(1).normal(size=(7, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = vectors @ vectors.T
    assert redundancy(vectors) == pytest.approx(cosine[np.triu_indices(7, 1)].mean())
    assert redundancy(vectors[:1]) == redundancy(vectors[:0]) == 0


def test_features_are_those_of_the_names_in_their_order():
    empty, two = Channel(0, np.zeros((0, 2))), Channel(40, np.eye(2)[[0, 0]])
    x = features(9, 2, np.array([1.0, 3.0, 1.0]), (0.5, 0.25), 512, {"question": empty, "answer": empty, "facts": two})
    assert len(set(feature_names(CHANNELS))) == len(x) == 16
    found = dict(zip(feature_names(CHANNELS), x.tolist(), strict=True))
    p = np.exp([3.0, 1.0, 1.0]) / np.exp([3.0, 1.0, 1.0]).sum()
    assert found["score_entropy"] == pytest.approx(-(p * np.log(p)).sum())
    expected = {"question_length": 9, "question_triples": 2, "score_margin": 2, "token_budget": 512, "facts_runs": 2}
    assert {k: found[k] for k in expected} == expected
    assert (found["facts_tokens"], found["facts_redundancy"], found["answer_runs"]) == (40, 1, 0)
    assert (found["closed_surprise"], found["closed_agreement"]) == (0.5, 0.25)
    for scores in ([], [2.5]):  # one run or none is not ambiguous
        one = features(9, 2, np.array(scores), (0.0, 0.0), 512, {"facts": empty})
        assert one[2:4].tolist() == [0, 0]


def test_training_features_have_mean_0_and_deviation_1_and_a_constant_one_stays_0_elsewhere():
    x = np.random.default_rng(2).normal(3, 4, size=(50, 3))
    x[:, 1] = 0.1  # its computed deviation is not exactly 0
    standard = fit_standard(x, ["a", "token_budget", "c"])
    z = standardise(x, standard, ["q"] * 50)
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(z.std(0), [1, 0, 1], atol=1e-6)
    assert standardise(np.array([[3.0, 1024.0, 3.0]]), standard, ["q"])[0, 1] == 0


def test_utility_weighs_scaled_lift_faithfulness_and_relative_tokens():
    assert MEASURED.questions == ("a", "b")
    weighed = weigh(MEASURED, settings(delta=0.5, beta=0.25, gamma=0), (0.0, 0.8), None)
    np.testing.assert_allclose(weighed.accuracy, [[0.25, 0.5, 0], [1, 0.625, 0]])
    expected = weighed.accuracy + 0.5 * np.array([1, 0.5, 0]) - 0.25 * np.array([[1, 0.75, 0.25]] * 2)
    np.testing.assert_allclose(weighed.value, expected)
    other = settings(accuracy="token_f1")
    assert weigh(MEASURED, other, (0.0, 1.0), SECONDS).accuracy.tolist() == [[0.5, 1, 0]] * 2
    assert accuracy_range(MEASURED, other) == (0, 1)


def test_latency_is_modelled_from_tokens_read_and_written_over_the_slowest():
    weighed = weigh(MEASURED, settings(alpha=0, beta=0, delta=0, gamma=2), (0.0, 1.0), SECONDS)
    np.testing.assert_allclose(weighed.seconds[1], [0.1 + 0.4 + 0.2, 0.1 + 0.3 + 0.4, 0.1 + 0.1 + 0.6])
    np.testing.assert_allclose(weighed.value, -2 * weighed.seconds / weighed.seconds.max(1, keepdims=True))


def test_the_lift_scale_is_fitted_on_quantiles_of_train():
    measured = scored(np.random.default_rng(3), drawn_features(np.random.default_rng(4), 30, True), True)
    low, high = accuracy_range(measured, settings())
    accuracy = weigh(measured, settings(), (low, high), SECONDS).accuracy
    assert (accuracy == 0).mean() == pytest.approx(0.05, abs=0.005)
    assert (accuracy == 1).mean() == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (BROKEN, r"question b under not_include/not_include/unique: answer_gain is nan"),
        (ROWS.head(5), r"question a under not_include/not_include/not_include: answer_gain is nan"),
        (ROWS.with_columns(configuration=pl.lit("unique")), r"question b: unknown configuration 'unique'; allowed: "),
        (
            pl.concat([ROWS, ROWS.tail(1)]),
            r"question a under not_include/not_include/not_include has more than one row",
        ),
    ],
)
def test_incomplete_or_doubtful_scores_are_refused_by_question_and_action(rows, said):
    assert re.search(said, message(terms, rows, FACTS))


def test_a_pair_needs_more_than_the_margin_and_statistics_count_ties_coverage_and_the_pairs_of_each_channel():
    value = np.array([[0.5, 0.48, 0.3], [0.1, 0.1, 0.1]])
    pairs = preference_pairs(value, 0.05)
    assert list(zip(pairs.question, pairs.chosen, pairs.rejected, strict=True)) == [(0, 0, 2), (0, 1, 2)]
    assert len(preference_pairs(np.array([[0.5, 0.25]]), 0.25)) == 0  # a margin is exceeded, not met
    found = pair_statistics(value, 0.05, FACTS)
    expected = {"questions": 2, "pairs": 2, "coverage": 0.5, "ties": pytest.approx(4 / 6)}
    expected |= {"equal": 0.5, "pairs_question": 0, "pairs_answer": 0, "pairs_facts": 2}
    assert found == expected


def test_a_reference_is_uniform_unless_stated():
    np.testing.assert_allclose(np.exp(log_reference({}, LATTICE)), 1 / 27)
    np.testing.assert_allclose(np.exp(log_reference({"facts": (0.2, 0.7, 0.1)}, FACTS)), [0.2, 0.7, 0.1])


FLAT = terms(ROWS.with_columns(answer_gain=pl.lit(0.3)), FACTS)
STANDARD = fit_standard(np.ones((2, 2)), ["a", "b"])
LATENCY = settings(gamma=1)


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        *(
            (partial(log_reference, stated, LATTICE), r"policy\.reference\.facts? is \[.*allowed: ")
            for stated in ({"fact": (0.2, 0.7, 0.1)}, {"facts": (0.5, 0.5)}, {"facts": (0.5, 0.5, 0.5)})
        ),
        (partial(accuracy_range, FLAT, settings()), r"answer gain of 2 training questions.*policy\.clip"),
        (partial(weigh, MEASURED, LATENCY, (0.0, 1.0), None), r"policy\.gamma is 1 and lm\.seconds is null"),
        (partial(standardise, np.diag([1.0, np.nan]), STANDARD, ["q6", "q7"]), r"feature b of question q7 is nan"),
    ],
)
def test_what_cannot_be_scaled_weighed_or_divided_by_is_refused_by_its_key(measure, said):
    assert re.search(said, message(measure))


def test_a_budget_below_the_header_is_refused():
    tokens = np.array([[400.0, 300.0, 100.0], [200.0, 150.0, 51.0]])
    assert choose(np.zeros((2, 3)), tokens, price(np.zeros((2, 3)), tokens, 75.5)).tolist() == [2, 2]
    said = message(price, np.zeros((2, 3)), tokens, 75)
    assert re.search(r"policy\.budget is 75 prompt tokens.*take 75\.5.*from 76", said)


def test_the_frontier_is_of_test_questions_at_prices_that_dev_questions_fit():
    _, (_, dev, test) = splits((30, 40, 50), settings())
    rng = np.random.default_rng(5)
    known, log_pi = (rng.normal(size=own.value.shape) for own in (dev, test))
    rows = frontier([0.0, 0.5, 1.0], (known, dev), (log_pi, test)).to_dicts()
    assert rows[0]["tokens"] < rows[1]["tokens"] < rows[2]["tokens"]
    assert rows[2]["eta"] == 0
    assert rows[2]["tokens"] == pytest.approx(
        np.take_along_axis(test.tokens, choose(log_pi, test.tokens)[:, None], 1).mean()
    )
    assert rows[1]["eta"] == price(known, dev.tokens, rows[1]["budget"]) > 0
    blind = frontier([0.5], (known, dev), (log_pi, dataclasses.replace(test, value=-test.value))).to_dicts()[0]
    assert blind["eta"] == rows[1]["eta"]  # no test question has a say
    assert {row["n"] for row in rows} == {50}


def test_every_baseline_is_measured_on_the_same_utilities():
    (train, test), (known, asked) = splits((60, 40), settings())
    policies = baselines(known, train.x, asked, test.x, settings())
    table = outcomes(policies, asked)
    assert len(table) == (27 + 5) * 40
    assert all(np.allclose(weights.sum(1), 1) for weights in policies.values())
    mean = dict(table.group_by("policy").agg(pl.col("utility").mean()).rows())
    assert mean["oracle"] == pytest.approx(asked.value.max(1).mean())
    assert mean["random"] == pytest.approx(asked.value.mean())
    assert mean["best_constant"] == mean[f"fixed:{name(LATTICE[known.value.mean(0).argmax()])}"]
    assert mean["hindsight"] == pytest.approx(asked.value.mean(0).max())
    assert mean["hindsight"] >= mean["best_constant"]
    assert mean["oracle"] > mean["classifier"] > mean["best_constant"] > mean["random"]


def test_the_share_of_the_oracles_gap_is_0_for_the_best_constant_and_1_for_the_oracle():
    (train, test), (known, asked) = splits((60, 40), settings())
    policies = baselines(known, train.x, asked, test.x, settings())
    constant, oracle = (policies[one] for one in ("best_constant", "oracle"))
    shares = [gap_share(policies | {"policy": one}, asked) for one in (constant, (constant + oracle) / 2, oracle)]
    assert shares == pytest.approx([0, 0.5, 1])
    assert gap_share(policies | {"policy": constant, "oracle": constant}, asked) is None


def test_a_classifier_of_questions_that_all_want_the_same_says_that():
    weighed = weigh(MEASURED, settings(alpha=0, delta=0), (0.0, 1.0), SECONDS)
    assert classified(weighed, np.zeros((2, 1)), np.zeros((5, 1)), settings()).tolist() == [2] * 5
