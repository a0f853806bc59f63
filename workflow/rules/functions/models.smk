# Where a model is read.

from secateur.config import models


def read_here(wildcards):
    """Whether a model's weights are read here, or stand behind a server."""
    return models.in_process(option("lm", wildcards.lm))
