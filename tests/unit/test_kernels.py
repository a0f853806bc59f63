"""A row of a product is the same however many rows there are, in a process of its own, as a stage is one."""

import sys

import torch

from secateur.ecs.reading import independent
from secateur.models import encoders, kernels

PRODUCT = """
from secateur.models.kernels import ROWS, by_onednn, steady
steady()
import torch
torch.manual_seed(7)
torch.set_num_threads(1)
many, layer = torch.randn(70, 576), torch.nn.Linear(576, 192, bias=False)
with torch.inference_mode():
    for multiply in (layer, by_onednn(layer)):
        whole = multiply(many)
        print([n for n in range(ROWS, 71) if not torch.equal(multiply(many[:n]), whole[:n])])
"""


def test_a_row_of_a_product_hangs_on_no_other_row(untouched):
    said = untouched.run(sys.executable, "-c", PRODUCT)
    assert said.stdout.split() == ["[]", "[]"], said.stdout + said.stderr
    assert encoders.STEP["cpu"] % kernels.ROWS == independent.STEP % kernels.ROWS == 0  # no model is given fewer rows


@torch.inference_mode()
def test_onednn_multiplies_as_pytorch_does_and_leaves_other_types_alone(monkeypatch):
    layers = torch.nn.Sequential(torch.nn.Linear(48, 96), torch.nn.Linear(96, 8, bias=False, dtype=torch.bfloat16))
    x, (first, last) = torch.randn(2, 5, 48), layers
    expected = first(x)
    y = torch.randn(3, 96, dtype=torch.bfloat16)
    exact = last(y)
    kernels.by_onednn(layers)
    torch.testing.assert_close(first(x), expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(last(y), exact)
    torch.testing.assert_close(first.double()(x.double()), expected.double(), rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert type(kernels.by_onednn(torch.nn.Linear(48, 96))) is torch.nn.Linear
