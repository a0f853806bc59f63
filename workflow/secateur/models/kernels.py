"""Products of matrices whose rows hang on no other row: what a value needs to be a function of its key.

Held for products of `ROWS` rows and more, on Intel and on AMD; models are given no fewer.
"""

import os

__all__ = ["ROWS", "STEADY", "steady"]

# PyTorch's MKL takes another kernel where a matrix has few rows: with AVX-512, below sixteen. Its strict reproducibility
# gives one result for any number of them, at no cost that could be measured. It is read at the first product. On AMD
# one to three rows take another kernel whatever MKL is asked for.
STEADY = {"MKL_CBWR": "AUTO,STRICT"}
ROWS = 4


def steady() -> None:
    """Ask PyTorch's products for it, before the first of them."""
    for name, value in STEADY.items():
        os.environ.setdefault(name, value)
