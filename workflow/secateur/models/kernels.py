"""Products of matrices whose rows hang on no other row: what a value needs to be a function of its key."""

import os

__all__ = ["STEADY", "steady"]

# PyTorch's MKL takes another kernel where a matrix has few rows: with AVX-512, below sixteen. Its strict reproducibility
# gives one result for any number of them, at no cost that could be measured. It is read at the first product.
STEADY = {"MKL_CBWR": "AUTO,STRICT"}


def steady() -> None:
    """Ask PyTorch's products for it, before the first of them."""
    for name, value in STEADY.items():
        os.environ.setdefault(name, value)
