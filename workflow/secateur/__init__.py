"""Secateur: prune what a language model reads down to the evidence that moves its answer."""

__version__ = "0.2.0"
