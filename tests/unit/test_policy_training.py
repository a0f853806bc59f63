"""Training of the compression policy: its loss, its heads, its files, and what it learns."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import save_file
from scipy.stats import spearmanr
from tests.support.policy_problem import CONFIGURATIONS, interacting, settings, splits

from secateur.core.errors import SecateurError
from secateur.policy.actions import CHANNELS, LATTICE, codes, free_channels, name
from secateur.policy.baselines import baselines, deterministic, outcomes
from secateur.policy.dpo import Examples, dpo_loss, log_reference, train
from secateur.policy.features import feature_names, fit_standard
from secateur.policy.network import Network, Trained, load, log_policy, save
from secateur.policy.preferences import Pairs, preference_pairs
from secateur.policy.price import choose

QUICK = settings(learning_rate=3e-3, batch=4, epochs=4)  # conf's own takes seconds
(FIT, DEV), _ = splits((12, 6), QUICK)


def weights(network: Network) -> dict[str, np.ndarray]:
    return {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}


def alike(one: Network, other: Network) -> bool:
    """To the bit."""
    return all((tensor == weights(other)[name]).all() for name, tensor in weights(one).items())


def test_the_reference_is_inside_beta_and_a_policy_that_is_its_reference_has_the_loss_of_a_coin():
    log_pi, log_ref = torch.tensor([[-1.0, -2.0, -0.5]]), torch.tensor([-0.7, -0.9, -3.0])
    pair = torch.tensor([0]), torch.tensor([2])
    difference = 0.1 * ((-1.0 - -0.5) - (-0.7 - -3.0))
    assert float(dpo_loss(log_pi, log_ref, *pair, 0.1)) == pytest.approx(np.log1p(np.exp(-difference)))
    assert float(dpo_loss(log_ref[None], log_ref, *pair, 0.1)) == pytest.approx(np.log(2))


@pytest.mark.parametrize("heads", ["joint", "factorised"])
@pytest.mark.parametrize("memory", [True, False])
def test_a_policy_is_a_distribution_over_the_configurations_and_every_head_receives_gradient(memory, heads):
    (fit,), _ = splits((10,), QUICK, memory)
    network = Network(fit.x.shape[1], QUICK.hidden, CONFIGURATIONS[memory], 1, heads)
    assert tuple(network.heads) == (("joint",) if heads == "joint" else free_channels(CONFIGURATIONS[memory]))
    log_pi = network(torch.from_numpy(fit.x))
    np.testing.assert_allclose(log_pi.detach().exp().sum(1).numpy(), 1, rtol=1e-5)
    question, chosen, rejected = map(torch.from_numpy, (fit.pairs.question, fit.pairs.chosen, fit.pairs.rejected))
    dpo_loss(log_pi[question], torch.zeros(1), chosen, rejected, 0.1).backward()
    for place, parameter in network.named_parameters():
        assert parameter.grad.abs().max() > 0, place


STATED = {"facts": (0.05, 0.15, 0.8), "answer": (0.6, 0.3, 0.1)}


@pytest.mark.parametrize(("heads", "reference"), [("factorised", {}), ("factorised", STATED), ("joint", STATED)])
def test_lemma_12_log_odds_less_the_reference_are_utility_differences_over_beta(heads, reference):
    """Bradley-Terry preferences of 40 questions, 200 draws each (n 8,000); utilities additive over channels."""
    rng, questions, draws, strength, beta = np.random.default_rng(6), 40, 200, 2.0, 0.1
    configurations, x = LATTICE, rng.normal(size=(questions, 2)).astype(np.float32)
    taste = rng.normal(size=(2, len(CHANNELS), 3))
    value = np.einsum("nf,fca->nca", x, taste)[:, np.arange(3), codes(configurations)].sum(-1) * 0.5

    question = np.repeat(np.arange(questions), draws)
    pair = np.array(list(permutations(range(27), 2)))[rng.integers(0, 27 * 26, len(question))]
    odds = strength * (value[question, pair[:, 0]] - value[question, pair[:, 1]])
    won = rng.random(len(question)) < 1 / (1 + np.exp(-odds))
    chosen, rejected = (torch.from_numpy(np.where(won, *sides)) for sides in (pair.T, pair.T[::-1]))

    network = Network(2, (64, 64), configurations, 2, heads)
    optimizer = torch.optim.AdamW(network.parameters(), 1e-2, weight_decay=0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
    log_ref, inputs = torch.from_numpy(log_reference(reference, configurations)).float(), torch.from_numpy(x)
    for _ in range(200):
        optimizer.zero_grad()
        dpo_loss(network(inputs)[question], log_ref, chosen, rejected, beta).backward()
        optimizer.step()
        scheduler.step()

    with torch.no_grad():
        corrected = (network(inputs) - log_ref).numpy()
    expected = strength / beta * value
    learnt, expected = (a - a.mean(1, keepdims=True) for a in (corrected, expected))
    slope = (learnt * expected).sum() / (expected**2).sum()
    agreement = np.mean([spearmanr(*rows).statistic for rows in zip(learnt, expected, strict=True)])
    assert slope == pytest.approx(1, abs=0.1)
    assert agreement > 0.95


def test_equal_seeds_give_equal_weights_and_other_seeds_others():
    short = [settings(learning_rate=3e-3, batch=4, epochs=2, seed=seed) for seed in (7, 7, 8)]
    one, two, other = (train(FIT, DEV, LATTICE, policy)[0] for policy in short)
    assert alike(one, two)
    assert not alike(one, other)


def test_training_that_was_cut_off_goes_on_to_the_same_bits(tmp_path):
    whole, curves = train(FIT, DEV, LATTICE, QUICK)
    train(FIT, DEV, LATTICE, settings(learning_rate=3e-3, batch=4, epochs=2), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    resumed, again = train(FIT, DEV, LATTICE, QUICK, tmp_path)
    assert again == curves
    assert alike(whole, resumed)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("limits", [{"epochs": 2}, {"patience": 1}])
def test_a_longer_training_is_not_taken_for_a_shorter_one(tmp_path, limits):
    long = {"learning_rate": 3e-3, "batch": 4, "epochs": 8, "patience": 8}
    short = settings(**long | limits)
    clean, curves = train(FIT, DEV, LATTICE, short)
    _, before = train(FIT, DEV, LATTICE, settings(**long), tmp_path)
    after, found = train(FIT, DEV, LATTICE, short, tmp_path)
    assert len(before) > len(curves)
    assert found == curves
    assert alike(clean, after)


def test_a_checkpoint_of_other_data_settings_or_code_is_not_taken_up(tmp_path, monkeypatch):
    train(FIT, DEV, LATTICE, QUICK, tmp_path)
    train(FIT, Examples(DEV.x, DEV.value + 1, DEV.pairs), LATTICE, QUICK, tmp_path)
    train(FIT, DEV, LATTICE, settings(learning_rate=3e-3, batch=4, epochs=4, beta_dpo=0.2), tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr("secateur.policy.dpo.plugin_digest", lambda module: module)
    train(FIT, DEV, LATTICE, QUICK, tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("place", [3, 40, -700, -1])
def test_a_checkpoint_with_a_flipped_bit_is_dropped_by_name_and_made_anew(tmp_path, caplog, place):
    right, curves = train(FIT, DEV, LATTICE, QUICK, tmp_path)
    (kept,) = tmp_path.iterdir()
    content = bytearray(kept.read_bytes())
    content[place] ^= 4
    kept.write_bytes(content)
    again, found = train(FIT, DEV, LATTICE, QUICK, tmp_path)
    assert str(kept) in caplog.text
    assert found == curves
    assert alike(right, again)


def test_the_loss_falls_and_margins_are_between_the_rewards():
    _, curves = train(FIT, DEV, LATTICE, QUICK)
    assert curves[-1]["loss"] < curves[0]["loss"] < np.log(2)
    row = curves[-1]
    assert row["rewards/margins"] == pytest.approx(row["rewards/chosen"] - row["rewards/rejected"], abs=1e-5)


def test_training_stops_when_dev_stays_as_it_is_and_keeps_the_first_best_epoch():
    flat = Examples(DEV.x, np.zeros_like(DEV.value), preference_pairs(np.zeros_like(DEV.value), 0.02))
    kept, curves = train(FIT, flat, LATTICE, settings(learning_rate=3e-3, batch=4, epochs=9, patience=2))
    first, _ = train(FIT, flat, LATTICE, settings(learning_rate=3e-3, batch=4, epochs=1))
    assert len(curves) == 3
    assert alike(kept, first)


def test_nothing_to_learn_from_is_refused():
    none = Pairs(*(np.zeros(0, np.int64) for _ in range(3)))
    with pytest.raises(SecateurError, match=r"0 preference pairs on 12 training questions, 6 dev .*policy\.margin"):
        train(Examples(FIT.x, FIT.value, none), DEV, LATTICE, QUICK)
    with pytest.raises(SecateurError, match="0 dev questions"):
        train(FIT, Examples(DEV.x[:0], DEV.value[:0], none), LATTICE, QUICK)


@pytest.mark.parametrize("memory", [True, False])
def test_a_policy_learns_the_feature_that_decides(memory):
    policy = settings(learning_rate=3e-3, batch=4, epochs=20)
    (fit, dev, test), (known, _, asked) = splits((80, 40, 100), policy, memory)
    network, _ = train(fit, dev, CONFIGURATIONS[memory], policy)
    with torch.no_grad():
        choice = choose(network(torch.from_numpy(test.x)).numpy(), asked.tokens)
    policies = baselines(known, fit.x, asked, test.x, policy)
    policies["dpo"] = deterministic(choice, len(CONFIGURATIONS[memory]))
    mean = dict(outcomes(policies, asked).group_by("policy").agg(pl.col("utility").mean()).rows())
    gained = (mean["dpo"] - mean["best_constant"]) / (mean["oracle"] - mean["best_constant"])
    assert gained > 0.5


def test_one_head_finds_the_best_constant_where_channels_interact_and_a_head_per_channel_does_not():
    """One earlier question pays without facts alone: no sum over channels has that maximum."""
    (fit, dev), configurations, best = interacting((80, 30), QUICK)
    chosen: dict[str, list] = {"joint": [], "factorised": []}
    for heads, found in chosen.items():
        for seed in (7, 8, 9):
            policy = settings(learning_rate=1e-3, batch=4, epochs=12, heads=heads, seed=seed)
            network, _ = train(fit, dev, configurations, policy)
            with torch.no_grad():
                found.append(name(configurations[int(network(torch.zeros(1, fit.x.shape[1])).argmax())]))
    assert chosen["joint"] == [best] * 3
    assert best not in chosen["factorised"]


def trained(model: str = "lm-1", memory: bool = False, heads: str = "joint") -> tuple[Trained, np.ndarray]:
    names = feature_names(free_channels(CONFIGURATIONS[memory]))
    x = np.random.default_rng(8).normal(3, 2, size=(9, len(names)))
    network = Network(len(names), (8, 8), CONFIGURATIONS[memory], 3, heads)
    shape = (8, 8), heads, CONFIGURATIONS[memory]
    return Trained(network, fit_standard(x, names), *shape, model), x


@pytest.mark.parametrize("heads", ["joint", "factorised"])
def test_a_saved_policy_comes_back_as_it_was_and_its_file_is_the_same_each_time(tmp_path, heads):
    policy, x = trained(memory=True, heads=heads)
    for file in ("one", "two"):
        save(policy, tmp_path / file)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    back = load(tmp_path / "one", policy.standard.names, "lm-1")
    assert (back.hidden, back.heads, back.configurations, back.model) == ((8, 8), heads, LATTICE, "lm-1")
    ids = [str(n) for n in range(len(x))]
    np.testing.assert_array_equal(log_policy(back, x, ids), log_policy(policy, x, ids))


def test_a_policy_can_be_asked_of_some_of_its_configurations():
    policy, x = trained(memory=True)
    ids, fewer = [str(n) for n in range(len(x))], LATTICE[::2]
    whole, part = log_policy(policy, x, ids), log_policy(policy, x, ids, fewer)
    np.testing.assert_array_equal(part, whole[:, [LATTICE.index(one) for one in fewer]])


def test_a_policy_for_other_features_or_another_model_and_a_file_without_one_are_refused(tmp_path):
    policy, _ = trained()
    save(policy, tmp_path / "policy.safetensors")
    with pytest.raises(SecateurError, match=r"trained for other features: lacks \['answer_redundancy'.*Fix: "):
        load(tmp_path / "policy.safetensors", feature_names(CHANNELS), "lm-1")
    with pytest.raises(SecateurError, match=r"trained for the language model lm-1; allowed: lm-2\. Fix: "):
        load(tmp_path / "policy.safetensors", policy.standard.names, "lm-2")
    save_file({"w": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(SecateurError, match=r"other\.safetensors: holds no policy.*Fix: "):
        load(tmp_path / "other.safetensors", ("a",), "lm-1")
