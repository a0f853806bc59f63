"""Direct preference optimisation of the policy against a fixed reference (paper 2.8, lemma 12)."""

import hashlib
import io
import math
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import logsigmoid

from secateur.config.code import plugin_digest
from secateur.config.policy import Policy
from secateur.contexts.channels import ACTIONS
from secateur.core.artifacts import atomic, dropped
from secateur.core.cache import digest
from secateur.core.errors import SecateurError, nearest
from secateur.policy.actions import CHANNELS, Configuration, codes
from secateur.policy.network import Network
from secateur.policy.preferences import Pairs

__all__ = ["Examples", "dpo_loss", "log_reference", "rewards", "train"]

SEAL = hashlib.sha256().digest_size  # bytes of the digest before a checkpoint
SHAPING = (
    "hidden",
    "heads",
    "beta_dpo",
    "learning_rate",
    "weight_decay",
    "batch",
    "seed",
    "reference",
)  # settings that the weights depend on


@dataclass(frozen=True)
class Examples:
    """Questions of one split: standardised features (n, f), utilities (n, k) and the pairs drawn from them."""

    x: NDArray[np.float32]
    value: NDArray[np.float64]
    pairs: Pairs


def log_reference(
    stated: Mapping[str, Sequence[float]], configurations: Sequence[Configuration]
) -> NDArray[np.float64]:
    """log ref(y) of each configuration: the product of the channels' stated probabilities; uniform by default.

    Raises SecateurError for an unknown channel, and unless a channel has three probabilities that sum to 1.
    """
    for channel, probs in stated.items():
        if channel not in CHANNELS or len(probs) != len(ACTIONS) or not np.isclose(sum(probs), 1) or min(probs) <= 0:
            raise SecateurError(
                f"policy.reference.{channel} is {list(probs)}; allowed: of a channel ({', '.join(CHANNELS)}"
                f"{'' if channel in CHANNELS else nearest(channel, CHANNELS)}) three positive probabilities that sum to 1, "
                f"for {', '.join(ACTIONS)}. Fix: edit conf/policy or the override that set it."
            )
    each = np.log([stated.get(channel, [1 / len(ACTIONS)] * len(ACTIONS)) for channel in CHANNELS])
    total = each[np.arange(len(CHANNELS)), codes(configurations)].sum(1)
    return total - np.logaddexp.reduce(total)


def _rewards(
    log_pi: torch.Tensor, log_ref: torch.Tensor, chosen: torch.Tensor, rejected: torch.Tensor, beta: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Implicit rewards beta (log pi - log ref) of the preferred and of the rejected configuration; log_pi: (pairs, k)."""
    scaled = beta * (log_pi - log_ref)
    return scaled.gather(1, chosen[:, None])[:, 0], scaled.gather(1, rejected[:, None])[:, 0]


def dpo_loss(
    log_pi: torch.Tensor, log_ref: torch.Tensor, chosen: torch.Tensor, rejected: torch.Tensor, beta: float
) -> torch.Tensor:
    """Mean of -log sigmoid(beta [(log pi(y+) - log pi(y-)) - (log ref(y+) - log ref(y-))]); log_pi: (pairs, k)."""
    better, worse = _rewards(log_pi, log_ref, chosen, rejected, beta)
    return -logsigmoid(better - worse).mean()


def rewards(
    log_pi: torch.Tensor, log_ref: torch.Tensor, pairs: Pairs, beta: float, prefix: str = ""
) -> dict[str, float]:
    """Means over the pairs, under TRL's names; log_pi: (questions, k)."""
    if not len(pairs):
        return {}
    question, chosen, rejected = map(torch.from_numpy, (pairs.question, pairs.chosen, pairs.rejected))
    better, worse = _rewards(log_pi[question], log_ref, chosen, rejected, beta)
    by_name = {
        "loss": -logsigmoid(better - worse),
        "rewards/chosen": better,
        "rewards/rejected": worse,
        "rewards/margins": better - worse,
        "rewards/accuracies": (better > worse).float(),
        "logps/chosen": log_pi[question, chosen],
        "logps/rejected": log_pi[question, rejected],
    }
    return {prefix + name: float(values.mean()) for name, values in by_name.items()}


def train(
    fit: Examples,
    dev: Examples,
    configurations: Sequence[Configuration],
    policy: Policy,
    checkpoints: Path | None = None,
) -> tuple[Network, list[dict[str, float]]]:
    """(network, curves): the network of the epoch with the highest mean utility on dev, and a row of curves per epoch.

    Of equal epochs the earlier wins. checkpoints: a folder from which an interrupted training resumes, to the same bits.
    Raises SecateurError without a preference pair, or without a dev question for early stopping.
    """
    if not len(fit.pairs) or not len(dev.x):
        raise SecateurError(
            f"policy: {len(fit.pairs)} preference pairs on {len(fit.x)} training questions, {len(dev.x)} dev questions; "
            "allowed: at least one of each. Fix: score more questions, or lower policy.margin."
        )
    network = Network(fit.x.shape[1], policy.hidden, configurations, policy.seed, policy.heads)
    optimizer = torch.optim.AdamW(network.parameters(), policy.learning_rate, weight_decay=policy.weight_decay)
    log_ref = torch.from_numpy(log_reference(policy.reference, configurations)).float()
    path = checkpoints / f"{_digest(fit, dev, configurations, policy)}.pt" if checkpoints else None
    state = {"curves": [], "best": None, "best_epoch": 0}
    if path and (kept := _kept(path)) and _comes_as_far(kept["curves"], policy):
        state = kept
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
    with _one_thread():
        while (epoch := len(state["curves"])) < policy.epochs and epoch - state["best_epoch"] < policy.patience:
            _epoch(network, optimizer, log_ref, fit, policy, epoch)
            _judge(network, log_ref, fit, dev, policy, state)
            if path:
                _keep(path, state | {"network": network.state_dict(), "optimizer": optimizer.state_dict()})
    network.load_state_dict(state["best"])
    return network, state["curves"]


def _epoch(
    network: Network, optimizer: torch.optim.Optimizer, log_ref: torch.Tensor, fit: Examples, policy: Policy, epoch: int
) -> None:
    """One pass over the pairs, a few questions per step, in an order set by seed and epoch alone."""
    pairs, x = fit.pairs, torch.from_numpy(fit.x)
    by_question = np.argsort(pairs.question, kind="stable")
    asked, starts = np.unique(pairs.question[by_question], return_index=True)
    rows_of = np.split(by_question, starts[1:])
    drawn = np.random.default_rng([policy.seed, epoch]).permutation(len(asked))
    for start in range(0, len(drawn), policy.batch):
        batch = drawn[start : start + policy.batch]
        rows = np.concatenate([rows_of[n] for n in batch])
        place = torch.from_numpy(np.repeat(np.arange(len(batch)), [len(rows_of[n]) for n in batch]))
        chosen, rejected = torch.from_numpy(pairs.chosen[rows]), torch.from_numpy(pairs.rejected[rows])
        optimizer.zero_grad()
        dpo_loss(network(x[asked[batch]])[place], log_ref, chosen, rejected, policy.beta_dpo).backward()
        optimizer.step()


def _judge(
    network: Network, log_ref: torch.Tensor, fit: Examples, dev: Examples, policy: Policy, state: dict[str, Any]
) -> None:
    """Append the epoch's row of curves; keep its weights if its choices on dev are the best so far."""
    with torch.no_grad():
        on_fit, on_dev = network(torch.from_numpy(fit.x)), network(torch.from_numpy(dev.x))
    utility = float(np.take_along_axis(dev.value, on_dev.argmax(1).numpy()[:, None], 1).mean())
    curves, best = state["curves"], state["best_epoch"]
    if not best or utility > curves[best - 1]["dev_utility"]:
        kept = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        state |= {"best": kept, "best_epoch": len(curves) + 1}
    learnt = rewards(on_fit, log_ref, fit.pairs, policy.beta_dpo)
    held_out = rewards(on_dev, log_ref, dev.pairs, policy.beta_dpo, "eval_")
    curves.append({"epoch": len(curves) + 1, **learnt, **held_out, "dev_utility": utility})


def _keep(path: Path, state: dict[str, Any]) -> None:
    buffer = io.BytesIO()  # torch's own error on a full disk does not name the cause
    torch.save(state, buffer)
    content = buffer.getvalue()
    with atomic(path) as temporary:
        temporary.write_bytes(hashlib.sha256(content).digest() + content)


def _kept(path: Path) -> dict | None:
    """The checkpoint of an earlier training; None without a readable one."""
    if not path.exists():
        return None
    try:
        content = path.read_bytes()
        if hashlib.sha256(content[SEAL:]).digest() != content[:SEAL]:  # torch reads a flipped bit as a weight
            raise ValueError("its content differs from its digest")
        return torch.load(io.BytesIO(content[SEAL:]), weights_only=True)
    except (RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        dropped(path, error)
        return None


def _comes_as_far(curves: Sequence[Mapping[str, float]], policy: Policy) -> bool:
    """Whether `epochs` and `patience` let a training come as far as these curves: a longer one may hold other weights."""
    best, utility = 0, -math.inf
    for epoch, row in enumerate(curves):
        if epoch >= policy.epochs or epoch - best >= policy.patience:
            return False
        if row["dev_utility"] > utility:
            best, utility = epoch + 1, row["dev_utility"]
    return True


def _digest(fit: Examples, dev: Examples, configurations: Sequence[Configuration], policy: Policy) -> str:
    """Digest of all that the weights depend on, so that no checkpoint is used with other data, settings or code."""
    arrays = [a for e in (fit, dev) for a in (e.x, e.value, e.pairs.question, e.pairs.chosen, e.pairs.rejected)]
    seen = [hashlib.sha256(np.ascontiguousarray(array)).hexdigest() for array in arrays]
    return digest(plugin_digest(__name__), {name: getattr(policy, name) for name in SHAPING}, configurations, seen)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: sums in one order give the same weights everywhere."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
