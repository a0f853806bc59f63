"""Pairs of many entities, and what a machine without a GPU never touches."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from secateur.graph.consolidation.groups import range_pairs
from secateur.graph.consolidation.neighbours import approximate_pairs

ROOT = Path(__file__).parents[2]
IMPORT_ALL = """
import importlib, pkgutil, sys
import secateur
for module in pkgutil.walk_packages(secateur.__path__, "secateur."):
    importlib.import_module(module.name)
assert "faiss" not in sys.modules, "imported before it is needed"
import numpy as np
from secateur.graph.consolidation.neighbours import approximate_pairs
approximate_pairs(np.eye(8, dtype=np.float32), .9, 1)
import torch
print(sorted({name.partition(".")[0] for name in sys.modules} & {"cupy", "faiss_gpu", "nvidia", "pynvml", "triton"}),
      "swigfaiss_gpu" in str(list(sys.modules)), torch.cuda.is_initialized())
"""


def copies(count: int) -> np.ndarray:
    """(count, 32) unit vectors: centres and perturbed copies of them."""
    rng = np.random.default_rng(7)
    found = rng.normal(size=(count // 4, 32))[np.arange(count) % (count // 4)] + 0.25 * rng.normal(size=(count, 32))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_over_many_cells_nearly_every_pair_is_found_and_none_is_wrong():
    vectors = copies(4_000)
    found, exact = approximate_pairs(vectors, 0.9, probes=8), range_pairs(vectors, 0.9)
    one, two = (set(zip(i.tolist(), j.tolist(), strict=True)) for i, j, _ in (found, exact))
    assert len(two) > 1_000
    assert len(one & two) >= 0.98 * len(two)
    assert all(vectors[i] @ vectors[j] >= 0.9 - 1e-5 for i, j in one - two)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="a machine with a GPU may use it")
def test_without_a_gpu_nothing_of_cuda_is_imported_and_faiss_only_where_it_is_used():
    env = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[] False False"
