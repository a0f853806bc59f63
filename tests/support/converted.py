"""Weights as the caches keep them, converted once for all tests."""

import os
import shutil
from pathlib import Path

from secateur.config.compose import option
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import lm_counter
from tests.support.project import ROOT


def convert(folder: Path) -> None:
    """A cache with the default embedder in OpenVINO's form and the tokenizer of the default reader."""
    lm_counter(option(ROOT / "conf", "lm", "smollm2").model, folder)
    Embedder(option(ROOT / "conf", "embedder", "minilm"), folder).encode(["any"])


def linked(converted: Path, folder: Path) -> Path:
    """A cache of its own with the same converted weights; nobody writes to them again."""
    return shutil.copytree(converted, folder, copy_function=os.link, dirs_exist_ok=True)
