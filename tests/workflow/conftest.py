"""Fixtures of these tests."""

from invalidation_matrix import matrix  # noqa: F401
