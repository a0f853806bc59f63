"""Compression by self-information: what a passage keeps, against a model read token by token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.config import plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.forms import selective_context as module
from secateur.contexts.forms.selective_context import BEFORE, WORD, kept
from secateur.contexts.piece import Material, Query, Ranked, text_of
from secateur.core.errors import SecateurError

TEXTS = {"p1": "Mira treated a spaniel in Ghent .", "p2": "Jonas left his flat by June 1994 ."}
TEXTS |= {"p3": "Ghent: Zoë's café  opened.", "p4": " "}
RANKED = [Ranked(passage) for passage in TEXTS]


def words(texts) -> np.ndarray:
    return np.array([len(text.split()) for text in texts], np.int64)


@pytest.fixture
def form(tiny_lm, tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path))
    monkeypatch.setattr("secateur.models.reader.load", lambda cfg, cache, device: tiny_lm(window=cfg.window))

    def made(texts=TEXTS, **spec):
        spec = {"kind": "selective_context", "units": "words"} | spec
        return module.form(plugins.settings("form", spec, "conf/assembly/mine"), Material(texts, words))

    return made


def sent(one, texts=TEXTS) -> list[str]:
    return [piece.text for piece in one.pieces(Query("q"), [Ranked(passage) for passage in texts])]


@given(st.lists(st.sampled_from(["a", "bb", "ccc", "é"]), min_size=1, max_size=12), st.floats(0.05, 1), st.data())
def test_the_most_informative_units_stay_in_their_order(words, keep, data):
    text = " ".join(words)
    units = [match.span() for match in WORD.finditer(text)]
    nats = data.draw(st.lists(st.integers(0, 50), min_size=len(units), max_size=len(units)))
    found = kept(text, units, nats, keep).split()
    least = np.quantile(nats, 1 - keep)
    assert found == [word for word, value in zip(words, nats, strict=True) if value >= least]
    assert max(nats) in [value for word, value in zip(words, nats, strict=True) if value >= least]


def test_all_of_a_passage_stays_where_all_is_kept_and_what_is_dropped_leaves_one_space(form):
    assert sent(form(keep=1)) == [" ".join(text.split()) or text for text in TEXTS.values()]
    units = [(0, 3), (3, 4), (4, 5), (5, 8)]
    assert kept("one, two", units, [9, 1, 1, 9], 0.5) == "one two"
    assert kept("one, two", units, [9, 9, 1, 1], 0.5) == "one,"


def test_self_information_is_that_of_a_model_read_from_the_start(form, tiny_lm):
    import torch

    own, lm = form(), tiny_lm(window=2048)
    said = [text for text in TEXTS.values() if text.strip()]
    for text, (last, nats) in zip(said, own._tokens(said), strict=True):
        ids = lm.tokenizer.backend_tokenizer.encode(BEFORE + text, add_special_tokens=False).ids
        with torch.inference_mode():
            logprobs = lm.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        naive = [-float(logprobs[n - 1, token]) for n, token in enumerate(ids) if n]
        assert nats == pytest.approx(naive, abs=1e-3)
        assert len(last) == len(nats)
        assert last == sorted(last)
        assert last[-1] == len(text) - 1
    units = own._units(TEXTS["p1"])
    last, nats = own._tokens([TEXTS["p1"]])[0]
    assert module._summed(units, last, nats).sum() == pytest.approx(sum(nats))


def test_a_passage_is_read_once_and_its_text_depends_on_no_other(form, monkeypatch):
    first = sent(form())
    assert sent(form({"p2": TEXTS["p2"]}), ["p2"]) == first[1:2]

    def unread(lm, sequences, horizon):
        assert not sequences
        return iter(())

    monkeypatch.setattr("secateur.ecs.reading.independent.read_independently", unread)
    assert sent(form()) == first


def test_a_context_fits_its_budget_and_has_the_best_passages_of_a_ranking(form):
    own = form(keep=0.5)
    assembly = Assembly(own, "refill", "best_first", Material(own.texts, words), {p: n for n, p in enumerate(TEXTS)})
    contexts = assembly.contexts(Query("q"), RANKED, [4, 100])
    for budget, context in contexts.items():
        assert context.tokens <= budget
        assert all(row.passage_id in TEXTS and not row.whole for row in context.rows)
    assert len(text_of(contexts[100].rows).split()) < sum(len(text.split()) for text in TEXTS.values())
    assert sent(form(top=2)) == sent(own)[:2]


def test_noun_phrases_are_one_unit_units_are_the_whole_text_and_phrases_of_another_script_are_refused(form):
    text = "The brown bears of Katmai never eat the old salmon."
    units = [text[slice(*unit)] for unit in form(units="phrases")._units(text)]
    assert units == ["The brown bears ", "of ", "Katmai ", "never ", "eat ", "the old salmon", "."]
    russian = {"p1": "Мира лечила спаниеля в Генте.", "p2": "Йонас съехал с квартиры."}
    with pytest.raises(SecateurError, match=r"phrases are those of an English parser; 100% .*units=words"):
        form(russian, units="phrases")
    assert form(russian)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"keep": 0}, r"form\.keep is 0.*allowed: \[0\.01"),
        ({"keep": 1.5}, r"form\.keep is 1\.5, allowed"),
        ({"units": "sentences"}, r"form\.units is 'sentences', allowed: phrases, words"),
    ],
)
def test_settings_that_do_not_fit_are_refused(form, spec, message):
    with pytest.raises(SecateurError, match=message):
        form(**spec)


def test_a_passage_beyond_the_window_is_refused_by_its_first_words(form):
    said = r"passage 'Mira Mira .* tokens; allowed: 31\. Fix: a higher assembly.form.window"
    with pytest.raises(SecateurError, match=said):
        sent(form({"p": "Mira " * 60}, window=32), ["p"])
