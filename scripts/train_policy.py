"""The compression policy, learnt by DPO from the utilities of the training questions (paper 2.8)."""

import polars as pl

from secateur.policy.actions import lattice, rises
from secateur.policy.dpo import Examples, spec_digest, train
from secateur.policy.features import HIDDEN, fit_standard, standardise
from secateur.policy.measured import measured
from secateur.policy.network import Trained, save
from secateur.policy.preferences import pair_statistics, preference_pairs
from secateur.policy.utility import gain_range, weigh
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    configurations, policy = lattice(cfg.memory.enabled), cfg.policy
    parts = {
        split: measured(inputs["preferences"], inputs["features"], split, configurations) for split in ("train", "dev")
    }
    fit = parts["train"]
    gains, standard = gain_range(fit.terms, policy), fit_standard(fit.x, fit.names, HIDDEN[policy.sees])
    value = {split: weigh(part.terms, policy, gains).value for split, part in parts.items()}
    examples = [
        Examples(
            standardise(part.x, standard, part.terms.questions),
            value[split],
            preference_pairs(value[split], policy.margin),
        )
        for split, part in parts.items()
    ]
    network, curves = train(*examples, configurations, policy, ctx.cache / "policies")
    model = inputs["preferences"]["model"][0]
    save(
        Trained(network, standard, policy.hidden, cfg.memory.enabled, model, spec_digest(policy)),
        outputs.path("policy"),
    )
    long = [(row["epoch"], metric, v) for row in curves for metric, v in row.items() if metric != "epoch"]
    outputs["curves"] = pl.DataFrame(
        long, schema={"epoch": pl.Int32, "metric": pl.String, "value": pl.Float64}, orient="row"
    )
    told = pair_statistics(value["train"], policy.margin, configurations)
    return told | {"epochs": len(curves), "rises": rises(fit.terms.tokens, configurations)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
