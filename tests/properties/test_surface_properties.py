"""Properties of surface forms and of the triple filter, for any text."""

from hypothesis import given
from hypothesis import strategies as st

from secateur.graph.triples.surface import Triple, filter_triples, normalise

words = st.sampled_from(["", " ", "it", "IT", "bear", "Bear", "fish", "opposite of", "is", "thing", "the", "eats"])
triples = st.lists(st.builds(Triple, words, words, words, words, words, words, st.booleans()), max_size=12)
noisy = st.text(alphabet="aA. ()[]'\"-–#%+$the,\u2011\u00a8\ufb01\u200b\u0301", max_size=20)


@given(st.one_of(st.text(), noisy))
def test_normalise_is_idempotent(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.one_of(st.text(), noisy))
def test_normalise_leaves_single_spaces_only(text):
    assert normalise(text) == " ".join(normalise(text).split())


@given(triples)
def test_filter_keeps_order_and_invents_nothing(given_triples):
    kept, _ = filter_triples(given_triples)
    rest = iter(given_triples)
    assert all(any(triple is candidate for candidate in rest) for triple in kept)


@given(triples)
def test_filter_is_idempotent(given_triples):
    kept, _ = filter_triples(given_triples)
    again, dropped = filter_triples(kept)
    assert again == kept
    assert not dropped


@given(triples)
def test_filter_counts_add_up(given_triples):
    kept, dropped = filter_triples(given_triples)
    assert len(kept) + dropped.total() == len(given_triples)
