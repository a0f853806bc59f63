"""The policy on test questions, beside everything it has to beat; and what it keeps as a budget presses on it."""

import numpy as np
import polars as pl

from secateur.figures import long_rows
from secateur.models.causal import load
from secateur.policy.actions import lattice
from secateur.policy.baselines import baselines, deterministic, outcomes
from secateur.policy.budget import choose, price
from secateur.policy.features import standardise
from secateur.policy.network import load as load_policy
from secateur.policy.network import log_policy
from secateur.policy.splits import measured
from secateur.policy.utility import Utilities, lift_range, weigh


def _frontier(shares, log_pi: np.ndarray, test: Utilities) -> list[dict]:
    """A row for each budget."""
    cheapest = float(test.tokens.min(1).mean())
    free = float(np.take_along_axis(test.tokens, choose(log_pi, test.tokens)[:, None], 1).mean())
    rows = []
    for share in shares:
        budget = cheapest + share * (free - cheapest)
        eta = price(log_pi, test.tokens, budget)
        chosen = choose(log_pi, test.tokens, eta)[:, None]
        means = {k: float(np.take_along_axis(getattr(test, k), chosen, 1).mean()) for k in ("tokens", "accuracy")}
        utility = float(np.take_along_axis(test.value, chosen, 1).mean())
        rows.append({"share": share, "budget": budget, "eta": eta, **means, "utility": utility, "n": len(log_pi)})
    return rows


def run(cfg, inputs, outputs, ctx):
    configurations, policy = lattice(cfg.memory.enabled), cfg.policy
    parts = {s: measured(inputs["preferences"], inputs["features"], s, configurations) for s in ("train", "test")}
    model = load(cfg.lm, ctx.cache, "cpu").identity
    trained = load_policy(inputs.paths("policy")[0], parts["test"].names, model)
    lifts = lift_range(parts["train"].terms, policy)
    train, test = (weigh(parts[split].terms, policy, lifts) for split in ("train", "test"))
    log_pi = log_policy(trained, parts["test"].x, test.questions)
    eta = price(log_pi, test.tokens, policy.budget) if policy.budget else 0.0
    x = [standardise(part.x, trained.standard, part.terms.questions) for part in (parts["train"], parts["test"])]
    policies = baselines(train, x[0], test, x[1], policy)
    policies["policy"] = deterministic(choose(log_pi, test.tokens, eta), len(configurations))
    rows = outcomes(policies, test).unpivot(["utility", "accuracy", "tokens"], index=["policy", "question_id"])
    named = rows.select(
        "question_id",
        scorer="policy",
        answer_aware=pl.col("policy") == "oracle",
        metric="policy_" + pl.col("variable"),
        value="value",
    )
    outputs["question_metrics"] = long_rows(list(named.iter_rows()), ctx.axes["track"])
    outputs["frontier"] = pl.DataFrame(_frontier(policy.frontier, log_pi, test)).with_columns(
        pl.col("n").cast(pl.Int32)
    )
    return {"questions": len(test.questions), "configurations_used": len(np.unique(choose(log_pi, test.tokens, eta)))}
