"""Batch-invariant matrix products, so that a cached value is a function of its key; and fast products.

Batch invariance holds for `ROWS` rows or more, on Intel and on AMD; models never get fewer.
"""

import os
import platform

__all__ = ["PRODUCTS", "ROWS", "STEADY", "by_onednn", "steady"]

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
