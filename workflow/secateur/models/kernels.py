"""Batch-invariant forward passes, so that a cached value is a function of its key; and fast products.

Batch invariance holds for `ROWS` rows or more, on Intel and on AMD; models never get fewer.
"""

import logging
import os
import platform
import shutil
from importlib.metadata import version

from secateur.core.errors import SecateurError

__all__ = [
    "PRODUCTS",
    "ROWS",
    "STEADY",
    "by_onednn",
    "gpu_expected",
    "steady",
    "usable",
]

LOG = logging.getLogger("secateur")
# PyTorch's MKL uses another kernel for matrices with few rows: below sixteen with AVX-512. Its strict mode gives one result
# for any number of rows, at no measurable cost. MKL reads the setting at its first product. On AMD, one to three rows use
# another kernel in any mode.
STEADY = {"MKL_CBWR": "AUTO,STRICT"}
ROWS = 4
X86 = ("x86_64", "AMD64")  # not measured elsewhere
PRODUCTS = "oneDNN"  # part of a reader's identity: it decides the last bits


def steady() -> None:
    """Set MKL's strict mode; must run before the first product."""
    for name, value in STEADY.items():
        os.environ.setdefault(name, value)


def by_onednn(model):
    """The model with its linear layers run by oneDNN, where PyTorch has it: on x86 CPUs, without gradients.

    In float32, PyTorch uses MKL, which has no AVX-512 on AMD: oneDNN is 2.2 times as fast there (Zen 5). In bfloat16,
    PyTorch uses oneDNN anyway.
    """
    import torch

    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)  # torch.compile uses it; there is no public name
    if multiply is None or not torch.backends.mkldnn.is_available() or platform.machine() not in X86:
        return model

    class Linear(torch.nn.Linear):
        def forward(self, x):
            if self.weight.dtype != torch.float32 or self.weight.device.type != "cpu":  # the layer was moved
                return super().forward(x)
            return multiply(x, self.weight, self.bias, "none", [], "")

    for layer in model.modules():
        if type(layer) is torch.nn.Linear:
            layer.__class__ = Linear
    return model


def gpu_expected() -> bool:
    """Whether there is a driver, PyTorch is a build for GPUs, and CUDA_VISIBLE_DEVICES hides none. Does not import torch."""
    return _has_driver() and not version("torch").endswith("+cpu")


def _has_driver() -> bool:
    return shutil.which("nvidia-smi") is not None and os.environ.get("CUDA_VISIBLE_DEVICES") != ""


def usable(device: str) -> str:
    """`cuda` where it is asked for and there is a GPU, else `cpu`; that a build for CPUs leaves a GPU idle is logged.

    Raises SecateurError where a GPU is to be expected and PyTorch sees none: a job that asked for one would take days.
    """
    import torch

    if device == "cpu" and _has_driver() and not gpu_expected():
        LOG.warning(
            "nvidia-smi is here, and PyTorch is a build for CPUs, which computes on the CPU. Fix: rm -r .venv, then make setup "
            "on a machine with nvidia-smi"
        )
    if device != "cuda" or torch.cuda.is_available():
        return device
    if gpu_expected():
        raise SecateurError(
            f"nvidia-smi is installed, and PyTorch {torch.__version__} sees no GPU. Fix: request one for this job, install a "
            "driver for this build, or set CUDA_VISIBLE_DEVICES= to use the CPU; `secateur doctor` shows both."
        )
    return "cpu"
