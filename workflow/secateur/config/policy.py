"""Options of memory and of the compression policy."""

from dataclasses import dataclass
from typing import Literal

from secateur.core.fields import key

__all__ = ["Memory", "Policy"]


@dataclass(frozen=True)
class Memory:
    """What a session keeps from question to question (paper 1.1, P3)."""

    enabled: bool = key("keep questions, answers and shown evidence; false: every question stands alone")
    questions: int = key("maximum earlier questions to recall", low=0)
    answers: int = key("maximum earlier answers to recall", low=0)
    gold: bool = key("keep gold answers of training questions in place of the model's")
    window: int = key("tokens of shown evidence that the reader still sees", low=0)
    fresh: int | None = key(
        "maximum tokens of new evidence in a later prompt, reached by trying smaller blocks; null: no limit", low=0
    )
    policy_of: str | None = key("option of conf/memory whose policy chooses what a prompt shows; null: show everything")
    theta: float = key("cosine from which units of a channel are one cluster under `unique`", low=-1, high=1)


@dataclass(frozen=True)
class Policy:
    """The compression policy: utility of a configuration, preferences, training (paper 2.8, lemmas 12 and 13)."""

    alpha: float = key("weight of accuracy, 0 to 1", low=0)
    beta: float = key("weight of the tokens of the prompt as sent, relative to the budget of its evidence", low=0)
    gamma: float = key(
        "weight of latency modelled from tokens, relative to the question's slowest configuration", low=0
    )
    delta: float = key("weight of the faithfulness of the written answer to the context, 0 to 1", low=0)
    accuracy: Literal["answer_gain", "token_f1"] = key(
        "accuracy: gain of the gold answer, clipped and scaled, or token F1 of the written one"
    )
    clip: tuple[float, ...] = key(
        "quantiles of the training questions' answer gain that become accuracy 0 and 1", low=0, high=1
    )
    trained_on: str | None = key("data set to learn from; null: the data set itself")
    margin: float = key("difference in utility from which one configuration is preferred to another", low=0)
    reference: dict[str, tuple[float, ...]] = key(
        "channel: the reference policy's probabilities of include_all, unique, not_include; a missing channel is uniform",
        low=0.000001,
        high=1,
    )
    hidden: tuple[int, ...] = key("units of each hidden layer", low=1)
    heads: Literal["joint", "factorised"] = key(
        "joint: one softmax over all configurations; factorised: one per channel, which has no interactions of channels"
    )
    beta_dpo: float = key(
        "beta of the DPO loss: how far preferences may pull the policy from the reference", low=0.0001
    )
    learning_rate: float = key("learning rate of AdamW", low=0)
    weight_decay: float = key("weight decay of AdamW", low=0)
    batch: int = key("questions per step, each with all its pairs", low=1)
    epochs: int = key("maximum passes over the pairs", low=1)
    patience: int = key("epochs without a higher utility on dev after which training stops", low=1)
    seed: int = key("seed of initial weights and of the order of pairs", low=0)
    budget: int | None = key("maximum mean prompt tokens of the policy on dev questions; null: no penalty", low=1)
    frontier: tuple[float, ...] = key(
        "mean prompt tokens of the frontier's points, from the cheapest prompts (0) to the policy without a budget (1)",
        low=0,
        high=1,
    )
    classifier_steps: int = key("maximum solver steps of the supervised baseline", low=1)
