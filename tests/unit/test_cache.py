"""Caches return what was put, and only that."""

import gc
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
import pytest
from filelock import Timeout

from secateur.core.cache import RequestCache, VectorCache, digest


def vectors_of(texts) -> np.ndarray:
    """A vector that depends on its string alone."""
    return np.array([[len(t), *t.encode()[:2].ljust(2)] for t in texts], np.float32)


def test_digest_ignores_the_order_of_keys_and_sees_everything_else():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    others = [(), ("a",), ("a", "b"), (["a", "b"],), ("ab",), (None,), ("é",)]
    assert len({digest(*parts) for parts in others}) == len(others)


@pytest.mark.parametrize("reply", [{"text": "ünïcode\n"}, [], 0, ""])
def test_the_last_reply_to_a_request_comes_back_and_unknown_ones_are_none_and_counted(tmp_path, reply):
    cache = RequestCache(tmp_path)
    cache.put("abcd", "an earlier one")
    cache.put("abcd", reply)
    assert cache.get("abcd") == RequestCache(tmp_path).get("abcd") == reply
    assert cache.get("abce") is None
    assert (cache.hits, cache.misses) == (1, 1)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", "flip"])
def test_a_damaged_reply_is_dropped_by_name_and_counts_as_unknown(tmp_path, caplog, damage):
    cache = RequestCache(tmp_path)
    cache.put("abcd", {"value": -1.25})
    (path,) = tmp_path.rglob("*.json")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"-1.25", b"-0.25") if damage == "flip" else damage)
    assert cache.get("abcd") is None
    assert str(path) in caplog.text
    assert not path.exists()
    assert (cache.hits, cache.misses) == (0, 1)


def test_an_empty_cache_knows_nothing_nor_does_one_with_a_half_written_segment_of_a_killed_job(tmp_path):
    (tmp_path / ".abc.npz.1.tmp").write_bytes(b"half")
    for folder in (tmp_path, tmp_path / "none"):
        known, vectors = VectorCache(folder, 3).get(["a", "b"])
        assert known.tolist() == [False, False]
        assert vectors.tolist() == [[0, 0, 0], [0, 0, 0]]
        assert VectorCache(folder, 3).get([])[1].shape == (0, 3)


def test_vectors_come_back_bit_for_bit_in_the_order_asked_and_are_counted(tmp_path):
    exact = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float16)
    for _ in range(2):
        VectorCache(tmp_path, 3).put(["a", "b", "ü"], exact)
    assert len(list(tmp_path.iterdir())) == 1  # a block that is put twice is one segment
    cache = VectorCache(tmp_path, 3)
    known, found = cache.get(["ü", "a", "missing", "a"])
    assert known.tolist() == [True, True, False, True]
    np.testing.assert_array_equal(found, exact[[2, 0, 0, 0]] * known[:, None])
    assert (cache.hits, cache.misses) == (3, 1)


@contextmanager
def switching_often():
    """Threads change places at almost every step, in Python's own parser too: a callback of the collector runs there."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()

    def step(*_):
        sum(range(50))

    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    gc.callbacks.append(step)
    try:
        yield
    finally:
        gc.callbacks.remove(step)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)


def test_threads_that_put_and_get_at_once_find_each_string_its_own_vector(tmp_path):
    cache = VectorCache(tmp_path, 3)
    parts = [[f"{m}{'x' * n}" for m in range(n % 7 + 1)] for n in range(1, 41)]

    def put_and_get(part):
        cache.put(part, vectors_of(part))
        return cache.get(part)

    with switching_often(), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(put_and_get, parts))
    for part, (known, vectors) in zip(parts, found, strict=True):
        assert known.all()
        np.testing.assert_array_equal(vectors, vectors_of(part))


def _put(folder, part):
    VectorCache(folder, 3).put(part, vectors_of(part))


def test_concurrent_jobs_share_a_cache(tmp_path):
    parts = [[f"{n}", f"{n + 1}", f"both {n % 2}"] for n in range(8)]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(_put, [tmp_path] * len(parts), parts))
    texts = sorted({t for part in parts for t in part})
    known, found = VectorCache(tmp_path, 3).get(texts)
    assert known.all()
    np.testing.assert_array_equal(found, vectors_of(texts))
    assert all(path.suffix == ".npz" and not path.name.startswith(".") for path in tmp_path.iterdir())


def _made(folder, part):
    def make(texts):
        with (folder.parent / "made").open("a") as made:
            made.write("once\n")
        return vectors_of(texts)

    return VectorCache(folder, 3).made(part, make)


def test_jobs_that_want_the_same_at_once_make_it_once(tmp_path):
    folder, part = tmp_path / "cache", ["a", "bc", "def"]
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        for found in pool.map(_made, [folder] * 8, [part] * 8):
            np.testing.assert_array_equal(found, vectors_of(part))
    assert (tmp_path / "made").read_text() == "once\n"
    assert [path.suffix for path in folder.iterdir()] == [".npz"]


@pytest.mark.parametrize("error", [Timeout("lock"), OSError(37, "No locks available")])
def test_where_nobody_can_lock_each_job_makes_its_own(tmp_path, monkeypatch, error):
    def refused(*_, **__):
        raise error

    monkeypatch.setattr("secateur.core.cache.FileLock.acquire", refused)
    np.testing.assert_array_equal(VectorCache(tmp_path, 3).made(["a"], vectors_of), vectors_of(["a"]))


@pytest.mark.parametrize("length", [0, 10, 200])
def test_a_truncated_segment_is_dropped_by_name_and_its_strings_are_made_anew(tmp_path, caplog, length):
    texts = ["a", "bc", "def"]
    VectorCache(tmp_path, 3).put(texts, vectors_of(texts))
    (segment,) = tmp_path.glob("*.npz")
    segment.write_bytes(segment.read_bytes()[:length])
    assert not VectorCache(tmp_path, 3).get(texts)[0].any()
    assert str(segment) in caplog.text
    np.testing.assert_array_equal(VectorCache(tmp_path, 3).made(texts, vectors_of), vectors_of(texts))
    np.testing.assert_array_equal(VectorCache(tmp_path, 3).get(texts)[1], vectors_of(texts))


def test_a_segment_that_the_file_system_refuses_is_not_thrown_away(tmp_path, monkeypatch):
    texts = ["a", "bc"]
    VectorCache(tmp_path, 3).put(texts, vectors_of(texts))

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(np, "load", refused)
    with pytest.raises(PermissionError):
        VectorCache(tmp_path, 3).get(texts)
    assert len(list(tmp_path.glob("*.npz"))) == 1
