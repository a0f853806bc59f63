"""Options of the compression policy."""

from dataclasses import dataclass
from typing import Literal

from secateur.core.fields import key

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """The compression policy: utility of a configuration, preferences, training (paper 2.8, lemmas 12 and 13)."""

    alpha: float = key("weight of accuracy: answer gain for each token, clipped and scaled to 0 to 1", low=0)
    beta: float = key("weight of prompt tokens, in units of the question's prompt that includes all", low=0)
    gamma: float = key("weight of latency in seconds, as modelled from tokens", low=0)
    delta: float = key("weight of faithfulness", low=0)
    clip: tuple[float, ...] = key(
        "quantiles of the training questions' answer gain that become accuracy 0 and 1", low=0, high=1
    )
    latency: tuple[float, ...] | None = key(
        "seconds of a request, and of each prompt token; null where nobody measured", low=0
    )
    trained_on: str | None = key("the data set whose questions the policy learns from; its own where null")
    margin: float = key("difference in utility above which one configuration is preferred to another", low=0)
    reference: dict[str, tuple[float, ...]] = key(
        "channel: the reference policy's probabilities of include_all, unique, not_include; uniform where not stated",
        low=0.000001,
        high=1,
    )
    sees: Literal["everything", "no_question", "no_scores", "no_knowledge", "no_channels"] = key(
        "features: everything, or, for an ablation, all but those of one group"
    )
    hidden: tuple[int, ...] = key("units of each hidden layer", low=1)
    beta_dpo: float = key("beta of the loss: how far preferences may pull the policy from the reference", low=0.0001)
    learning_rate: float = key("of AdamW", low=0)
    weight_decay: float = key("of AdamW", low=0)
    batch: int = key("questions in one step, with all their pairs", low=1)
    epochs: int = key("passes over the pairs, at most", low=1)
    patience: int = key("epochs without a higher utility on dev after which training stops", low=1)
    seed: int = key("of the first weights and of the order of pairs", low=0)
    budget: int | None = key(
        "mean prompt tokens that the policy may cost on dev questions; no penalty where null", low=1
    )
    frontier: tuple[float, ...] = key(
        "mean prompt tokens of the frontier's points, between the cheapest prompts (0) and the policy without a budget (1)",
        low=0,
        high=1,
    )
    classifier_steps: int = key("steps of the supervised baseline's solver, at most", low=1)
