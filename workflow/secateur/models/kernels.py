"""Products of matrices: their rows hang on no other row, which a value needs to be a function of its key; and quick ones.

The first is held for products of `ROWS` rows and more, on Intel and on AMD; models are given no fewer.
"""

import os
import platform

__all__ = ["PRODUCTS", "ROWS", "STEADY", "by_onednn", "steady"]

# PyTorch's MKL takes another kernel where a matrix has few rows: with AVX-512, below sixteen. Its strict reproducibility
# gives one result for any number of them, at no cost that could be measured. It is read at the first product. On AMD
# one to three rows take another kernel whatever MKL is asked for.
STEADY = {"MKL_CBWR": "AUTO,STRICT"}
ROWS = 4
X86 = ("x86_64", "AMD64")  # elsewhere it was not measured
PRODUCTS = "oneDNN"  # whose sums a reader's layers are, in their last bits


def steady() -> None:
    """Ask PyTorch's products for it, before the first of them."""
    for name, value in STEADY.items():
        os.environ.setdefault(name, value)


def by_onednn(model):
    """The model, its linear layers multiplied by oneDNN where PyTorch has it: on an x86 CPU, without gradients.

    In float32 PyTorch takes MKL, which uses no AVX-512 on AMD: oneDNN is 2.2 times as fast there (Zen 5). bfloat16 is
    multiplied by oneDNN anyhow.
    """
    import torch

    multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)  # what torch.compile takes; PyTorch names no other
    if multiply is None or not torch.backends.mkldnn.is_available() or platform.machine() not in X86:
        return model

    class Linear(torch.nn.Linear):
        def forward(self, x):
            if self.weight.dtype != torch.float32 or self.weight.device.type != "cpu":  # moved since
                return super().forward(x)
            return multiply(x, self.weight, self.bias, "none", [], "")

    for layer in model.modules():
        if type(layer) is torch.nn.Linear:
            layer.__class__ = Linear
    return model
