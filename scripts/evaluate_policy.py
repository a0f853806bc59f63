"""Evaluates the policy on test questions beside its baselines, and its frontier of utility under token budgets."""

import numpy as np
import polars as pl

from secateur.config.datasets import SPLITS
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.rows import long_rows
from secateur.policy.actions import listed, name
from secateur.policy.baselines import KNOWING, baselines, deterministic, gap_share, outcomes
from secateur.policy.features import standardise
from secateur.policy.measured import measured, names_of
from secateur.policy.network import load, log_policy
from secateur.policy.price import choose, price, spent
from secateur.policy.utility import Utilities, accuracy_range, weigh
from secateur.stage.contract import main


def frontier(shares, dev: tuple[np.ndarray, Utilities], test: tuple[np.ndarray, Utilities]) -> pl.DataFrame:
    """The table `frontier`: the policy on test questions at the prices that keep dev questions within each budget.

    shares: budgets between the cheapest prompts (0) and no budget (1); dev, test: log pi and utilities.
    """
    (log_pi_dev, priced), (log_pi, tested) = dev, test
    n, k = log_pi.shape

    def under(eta: float) -> dict[str, float]:
        means = outcomes({"": deterministic(choose(log_pi, tested.tokens, eta), k)}, tested)
        return means.select(pl.col("tokens", "accuracy", "utility").mean()).row(0, named=True)

    cheapest, free, rows = float(priced.tokens.min(1).mean()), spent(log_pi_dev, priced.tokens, 0.0), []
    for share in shares:
        budget = free if share == 1 else cheapest + share * (free - cheapest)  # the sum may round below it
        eta = price(log_pi_dev, priced.tokens, budget)
        rows.append({"share": share, "budget": budget, "eta": eta, **under(eta), "n": n})
    return TABLES["frontier"].frame(rows)


def run(cfg, inputs, outputs, ctx):
    preferences, features, policy = inputs["preferences"], inputs["features"], cfg.policy
    trained = load(inputs.paths("policy")[0], names_of(features), preferences["model"][0])
    trained_names = list(map(name, trained.configurations))  # sessions of another data set may recall less, or more
    preferences = preferences.filter(pl.col("configuration").is_in(trained_names))
    configurations = listed(preferences["configuration"])
    by_split = {split: measured(preferences, features, split, configurations) for split in SPLITS}
    scale = accuracy_range(by_split["train"].terms, policy)
    train, dev, test = (weigh(part.terms, policy, scale, cfg.lm.seconds) for part in by_split.values())
    log_pi_dev = log_policy(trained, by_split["dev"].x, dev.questions, configurations)
    log_pi = log_policy(trained, by_split["test"].x, test.questions, configurations)
    eta = price(log_pi_dev, dev.tokens, policy.budget) if policy.budget else 0.0
    x = {split: standardise(part.x, trained.standard, part.terms.questions) for split, part in by_split.items()}
    policies = baselines(train, x["train"], test, x["test"], policy)
    chosen = choose(log_pi, test.tokens, eta)
    policies["policy"] = deterministic(chosen, len(configurations))
    rows = outcomes(policies, test).unpivot(index=["policy", "question_id"])
    measure = f"faithfulness:{inputs['preferences']['measure'][0]}"
    rows = rows.with_columns(pl.col("variable").replace({"faithfulness": measure}))
    figures = rows.select(
        "question_id",
        order=pl.lit(cfg.extra.order, pl.String),
        scorer="policy",
        answer_aware=pl.col("policy").is_in(KNOWING),
        metric="policy_" + pl.col("variable"),
        value="value",
    )
    outputs["question_metrics"] = long_rows(list(figures.iter_rows()))
    outputs["frontier"] = frontier(policy.frontier, (log_pi_dev, dev), (log_pi, test))
    share = gap_share(policies, test)
    counts = {"questions": len(test.questions), "configurations_used": len(np.unique(chosen))}
    return counts if share is None else counts | {"share_of_oracle_gap": share}


main(run, globals().get("snakemake"))
