"""Limits of numerical libraries hold while a call lasts, and are undone by the last of the calls at once."""

import numpy as np  # noqa: F401 (its OpenBLAS is what is limited)
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from secateur.core.threads import allowed, limited


def of_blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_calls_at_once_end_in_any_order_and_leave_the_libraries_as_they_were():
    with threadpool_limits(3):  # as a program has set them
        first, second = limited(1), limited(1)
        first.__enter__()
        second.__enter__()
        assert of_blas() == {1}
        first.__exit__(None, None, None)
        assert of_blas() == {1}
        second.__exit__(None, None, None)
        assert of_blas() == {3}


@pytest.mark.parametrize(("value", "threads"), [("3", 3), ("4,2", 4), ("", 1), ("0", 1), ("many", 1)])
def test_threads_are_those_of_the_environment_as_openmp_reads_it(monkeypatch, value, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert allowed() == threads
