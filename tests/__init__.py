"""Tests. What several of them share is in tests.support."""
