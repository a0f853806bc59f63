"""Trains the compression policy by DPO on the utilities of the training questions (paper 2.8)."""

from secateur.core.tables.catalog import TABLES
from secateur.policy.actions import listed
from secateur.policy.dpo import Examples, train
from secateur.policy.features import fit_standard, standardise
from secateur.policy.measured import measured
from secateur.policy.network import Trained, save
from secateur.policy.preferences import pair_statistics, preference_pairs
from secateur.policy.utility import accuracy_range, weigh
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    configurations, policy = listed(inputs["preferences"]["configuration"]), cfg.policy
    by_split = {
        split: measured(inputs["preferences"], inputs["features"], split, configurations) for split in ("train", "dev")
    }
    training = by_split["train"]
    scale = accuracy_range(training.terms, policy)
    standard = fit_standard(training.x, training.names)
    utilities = {split: weigh(part.terms, policy, scale, cfg.lm.seconds).value for split, part in by_split.items()}
    examples = []
    for split, part in by_split.items():
        x = standardise(part.x, standard, part.terms.questions)
        pairs = preference_pairs(utilities[split], policy.margin)
        examples.append(Examples(x, utilities[split], pairs))
    network, curves = train(*examples, configurations, policy, ctx.cache / "policies")
    model = inputs["preferences"]["model"][0]
    trained = Trained(network, standard, policy.hidden, policy.heads, configurations, model)
    save(trained, outputs.path("policy"))
    rows = [(row["epoch"], metric, value) for row in curves for metric, value in row.items() if metric != "epoch"]
    outputs["curves"] = TABLES["curves"].frame(rows)
    statistics = pair_statistics(utilities["train"], policy.margin, configurations)
    return statistics | {"epochs": len(curves)}


main(run, globals().get("snakemake"))
