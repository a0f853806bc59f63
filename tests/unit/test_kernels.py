"""A row of a product is the same however many rows there are, in a process of its own, as a stage is one."""

import sys

from secateur.ecs.reading import engine
from secateur.models import encoders, kernels

PRODUCT = """
from secateur.models.kernels import ROWS, steady
steady()
import torch
torch.manual_seed(7)
torch.set_num_threads(1)
many, weights = torch.randn(70, 576), torch.randn(192, 576)
whole = torch.nn.functional.linear(many, weights)
print([n for n in range(ROWS, 71) if not torch.equal(torch.nn.functional.linear(many[:n], weights), whole[:n])])
"""


def test_a_row_of_a_product_hangs_on_no_other_row(untouched):
    said = untouched.run(sys.executable, "-c", PRODUCT)
    assert said.stdout.strip() == "[]", said.stdout + said.stderr


def test_no_model_is_given_fewer_rows():
    assert encoders.STEP % kernels.ROWS == engine.STEP % kernels.ROWS == 0
