"""The policy's network, an MLP with one head or one head per channel, and its file (paper 2.8).

joint: one softmax over all configurations. factorised, the paper's: log pi(y|x) is the sum of the channels' log-softmax, so
log-odds are additive over channels. What one channel is worth then cannot depend on what another shows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import save as save_tensors
from torch import nn

from secateur.core.artifacts import atomic
from secateur.core.errors import SecateurError
from secateur.policy.actions import CHANNELS, Configuration, codes, free_channels, listed, name
from secateur.policy.features import Standard, standardise

__all__ = ["Network", "Trained", "load", "log_policy", "save"]


class Network(nn.Module):
    """(n, f) standardised features to (n, k) log pi of each configuration. Initial weights depend on the seed alone.

    heads: joint or factorised.
    """

    def __init__(
        self, features: int, hidden: Sequence[int], configurations: Sequence[Configuration], seed: int, heads: str
    ) -> None:
        super().__init__()
        widths, columns = [features, *hidden], {"joint": np.arange(len(configurations))}
        if heads == "factorised":
            levels = codes(configurations)
            columns = {channel: levels[:, CHANNELS.index(channel)] for channel in free_channels(configurations)}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers = [part for sizes in pairwise(widths) for part in (nn.Linear(*sizes), nn.ReLU())]
            self.trunk = nn.Sequential(*layers)
            places = [np.unique(column, return_inverse=True) for column in columns.values()]
            sizes = [len(used) for used, _ in places]  # a channel's head has the used actions alone
            self.heads = nn.ModuleDict(
                {head: nn.Linear(widths[-1], size) for head, size in zip(columns, sizes, strict=True)}
            )
        chosen = torch.from_numpy(np.stack([place for _, place in places], 1))
        self.register_buffer("actions", chosen, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shared = self.trunk(x)
        each = [head(shared).log_softmax(-1)[:, self.actions[:, n]] for n, head in enumerate(self.heads.values())]
        return torch.stack(each).sum(0)


@dataclass(frozen=True)
class Trained:
    """A trained network with its features, their standardisation and its configurations.

    model: digest of the language model whose utilities it learnt.
    """

    network: Network
    standard: Standard
    hidden: tuple[int, ...]
    heads: str
    configurations: tuple[Configuration, ...]
    model: str


def log_policy(
    trained: Trained,
    x: NDArray[np.float64],
    questions: Sequence[str],
    configurations: Sequence[Configuration] | None = None,
) -> NDArray[np.float64]:
    """(questions, configurations) log pi(y|x), from features before standardisation. configurations: of these; None: all."""
    columns = [trained.configurations.index(y) for y in configurations or trained.configurations]
    with torch.no_grad():
        standardised = torch.from_numpy(standardise(x, trained.standard, questions))
        return trained.network(standardised).numpy().astype(np.float64)[:, columns]


def save(trained: Trained, path: Path) -> None:
    """Write one safetensors file, atomically. Its metadata is one string: the format writes several in random order."""
    saved = {
        "features": trained.standard.names,
        "hidden": trained.hidden,
        "heads": trained.heads,
        "configurations": [name(configuration) for configuration in trained.configurations],
        "model": trained.model,
    }
    tensors = {name: tensor.detach().contiguous() for name, tensor in trained.network.state_dict().items()}
    tensors["standard.mean"] = torch.from_numpy(trained.standard.mean)
    tensors["standard.deviation"] = torch.from_numpy(trained.standard.deviation)
    with atomic(path) as temporary:
        temporary.write_bytes(save_tensors(tensors, metadata={"policy": json.dumps(saved, sort_keys=True)}))


def load(path: Path, features: Sequence[str], model: str) -> Trained:
    """Read a policy. Raises SecateurError for a file without one, or one trained for other features or another model."""
    with safe_open(path, "pt") as stored:
        saved = json.loads((stored.metadata() or {}).get("policy", "null"))
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118, it is no mapping
    if saved is None or "heads" not in saved:  # earlier releases had one kind of heads
        raise SecateurError(
            f"{path}: holds no policy (no metadata `policy`). Fix: name a file that train_policy wrote."
        )
    if tuple(saved["features"]) != tuple(features):
        missing, other = sorted({*features} - {*saved["features"]}), sorted({*saved["features"]} - {*features})
        raise SecateurError(
            f"{path}: trained for other features: lacks {missing}, has {other} besides; allowed, in this order: "
            f"{', '.join(features)}. Fix: train it again (with memory on or off as it will be used)."
        )
    if saved["model"] != model:
        raise SecateurError(
            f"{path}: trained for the language model {saved['model']}; allowed: {model}. Fix: train a policy for {model}; "
            "what a context is worth does not carry over between models."
        )
    mean, deviation = (tensors.pop(f"standard.{name}").numpy() for name in ("mean", "deviation"))
    configurations = listed(saved["configurations"])
    network = Network(len(features), saved["hidden"], configurations, 0, saved["heads"])
    network.load_state_dict(tensors)
    standard = Standard(tuple(features), mean, deviation)
    return Trained(network, standard, tuple(saved["hidden"]), saved["heads"], configurations, saved["model"])
