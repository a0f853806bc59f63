"""The policy on test questions, beside everything it has to beat; and what it keeps as a budget presses on it."""

import numpy as np
import polars as pl

from secateur.evaluation.rows import long_rows
from secateur.pipeline.contract import main
from secateur.pipeline.tables.catalog import TABLES
from secateur.policy.actions import lattice
from secateur.policy.baselines import baselines, deterministic, outcomes
from secateur.policy.features import standardise
from secateur.policy.measured import measured
from secateur.policy.network import load, log_policy
from secateur.policy.price import choose, price
from secateur.policy.utility import Utilities, lift_range, weigh


def _frontier(shares, log_pi: np.ndarray, test: Utilities) -> pl.DataFrame:
    """The table `frontier`: what is left of the policy under each budget."""
    n, k = log_pi.shape

    def under(eta: float) -> dict[str, float]:
        chosen = outcomes({"": deterministic(choose(log_pi, test.tokens, eta), k)}, test)
        return chosen.select(pl.col("tokens", "accuracy", "utility").mean()).row(0, named=True)

    cheapest, free, rows = float(test.tokens.min(1).mean()), under(0.0)["tokens"], []
    for share in shares:
        budget = cheapest + share * (free - cheapest)
        eta = price(log_pi, test.tokens, budget)
        rows.append({"share": share, "budget": budget, "eta": eta, **under(eta), "n": n})
    return pl.DataFrame(rows, schema=TABLES["frontier"].empty().schema)


def run(cfg, inputs, outputs, ctx):
    configurations, policy = lattice(cfg.memory.enabled), cfg.policy
    parts = {s: measured(inputs["preferences"], inputs["features"], s, configurations) for s in ("train", "test")}
    trained = load(inputs.paths("policy")[0], parts["test"].names, inputs["preferences"]["model"][0])
    lifts = lift_range(parts["train"].terms, policy)
    train, test = (weigh(parts[split].terms, policy, lifts) for split in ("train", "test"))
    log_pi = log_policy(trained, parts["test"].x, test.questions)
    eta = price(log_pi, test.tokens, policy.budget) if policy.budget else 0.0
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
    outputs["frontier"] = _frontier(policy.frontier, log_pi, test)
    return {"questions": len(test.questions), "configurations_used": len(np.unique(chosen))}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
