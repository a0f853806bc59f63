"""The policy on test questions, beside everything it has to beat; and what it keeps as a budget presses on it."""

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.rows import long_rows
from secateur.policy.actions import lattice
from secateur.policy.baselines import baselines, deterministic, outcomes
from secateur.policy.features import standardise
from secateur.policy.measured import measured
from secateur.policy.network import load, log_policy
from secateur.policy.price import choose, price, spent
from secateur.policy.utility import Utilities, gain_range, weigh
from secateur.stage.contract import main


def frontier(shares, dev: tuple[np.ndarray, Utilities], test: tuple[np.ndarray, Utilities]) -> pl.DataFrame:
    """The table `frontier`: what is left of the policy on test questions at the prices that hold dev questions to each
    budget. dev, test: log pi and utilities."""
    (known, priced), (log_pi, asked) = dev, test
    n, k = log_pi.shape

    def under(eta: float) -> dict[str, float]:
        chosen = outcomes({"": deterministic(choose(log_pi, asked.tokens, eta), k)}, asked)
        return chosen.select(pl.col("tokens", "accuracy", "utility").mean()).row(0, named=True)

    cheapest, free, rows = float(priced.tokens.min(1).mean()), spent(known, priced.tokens, 0.0), []
    for share in shares:
        budget = cheapest + share * (free - cheapest)
        eta = price(known, priced.tokens, budget)
        rows.append({"share": share, "budget": budget, "eta": eta, **under(eta), "n": n})
    return pl.DataFrame(rows, schema=TABLES["frontier"].empty().schema)


def run(cfg, inputs, outputs, ctx):
    configurations, policy = lattice(cfg.memory.enabled), cfg.policy
    parts = {
        s: measured(inputs["preferences"], inputs["features"], s, configurations) for s in ("train", "dev", "test")
    }
    trained = load(inputs.paths("policy")[0], parts["test"].names, inputs["preferences"]["model"][0])
    gains = gain_range(parts["train"].terms, policy)
    train, dev, test = (weigh(part.terms, policy, gains) for part in parts.values())
    known, log_pi = (log_policy(trained, parts[s].x, own.questions) for s, own in (("dev", dev), ("test", test)))
    eta = price(known, dev.tokens, policy.budget) if policy.budget else 0.0
    x = [standardise(part.x, trained.standard, part.terms.questions) for part in (parts["train"], parts["test"])]
    policies = baselines(train, x[0], test, x[1], policy)
    chosen = choose(log_pi, test.tokens, eta)
    policies["policy"] = deterministic(chosen, len(configurations))
    rows = outcomes(policies, test).unpivot(["utility", "accuracy", "tokens"], index=["policy", "question_id"])
    named = rows.select(
        "question_id",
        order=pl.lit(cfg.extra.order, pl.String),
        scorer="policy",
        answer_aware=pl.col("policy") == "oracle",
        metric="policy_" + pl.col("variable"),
        value="value",
    )
    outputs["question_metrics"] = long_rows(list(named.iter_rows()))
    outputs["frontier"] = frontier(policy.frontier, (known, dev), (log_pi, test))
    return {"questions": len(test.questions), "configurations_used": len(np.unique(chosen))}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
