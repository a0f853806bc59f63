"""What no context can do to its figures."""

from hypothesis import given
from hypothesis import strategies as st

from secateur.contexts.table import Read
from secateur.evaluation import metric
from secateur.evaluation.evidence import Case, Gold

words = st.sampled_from(["bear", "salmon", "river", "eat", "the", "of", "sockeye", "1984", "ice", "not", "isn't"])
texts = st.lists(words, min_size=1, max_size=5).map(" ".join)
golds = st.builds(  # no passage is part of others: where it stands would be a matter of chance
    lambda question, passages, more: Gold(
        question, {p: f"{p} {text}" for p, text in passages.items()}, (*passages.values(), *more)
    ),
    texts,
    st.dictionaries(st.sampled_from(["p1", "p2", "p3"]), texts, max_size=3),
    st.lists(texts, max_size=2),
)
names = st.sampled_from(["p1", "p2", "p3", "p4"])
lines = st.lists(st.tuples(texts, names, st.just(False)), max_size=6)


def measured(gold, rows, least=0.5) -> dict[str, float]:
    """The figures of a context, but for what it costs."""
    read = Read([f"{text}\n" for text, _, _ in rows], *([row[n] for row in rows] for n in (1, 2)), len(rows))
    own = [{"kind": name, "min_content": least, "words": ["not"]} for name in ("qualified_recall", "qualified_kept")]
    plain = ["provenance_recall", "evidence_coverage", "token_recall"]
    spec = [{"kind": "evidence_recall", "min_content": least}, *plain, *own]
    return dict(next(metric.measure_all([Case(gold, read)], (), spec, "conf/eval/default")))


@st.composite
def shown(draw):
    """Gold and a context with some of its passages word for word."""
    gold, rows = draw(golds), draw(lines)
    whole = draw(st.lists(st.sampled_from(sorted(gold.passages)), max_size=3)) if gold.passages else []
    return gold, draw(st.permutations([*rows, *((gold.passages[p], p, True) for p in whole)]))


@given(shown(), st.floats(0, 1))
def test_figures_are_shares_and_provenance_bounds_them(one, least):
    found = measured(*one, least)
    assert all(0 <= value <= 1 for value in found.values())
    assert found.get("evidence_recall", 0) <= found.get("provenance_recall", 0)
    assert found.get("evidence_coverage", 0) <= found.get("provenance_recall", 0)
    assert found.get("qualified_kept", 0) <= found.get("qualified_recall", 0)


@given(shown(), lines, st.floats(0, 1))
def test_a_longer_context_never_scores_lower(one, more, least):
    gold, rows = one
    short, long = measured(gold, rows, least), measured(gold, [*rows, *more], least)
    assert all(long[name] >= value for name, value in short.items())


@given(shown())
def test_the_order_of_its_rows_is_of_no_account(one):
    gold, rows = one
    assert measured(gold, rows) == measured(gold, rows[::-1])


@given(shown())
def test_a_stricter_share_never_finds_more(one):
    strict, lenient = (measured(*one, least).get("evidence_recall", 0) for least in (1.0, 0.5))
    assert strict <= lenient


@given(golds)
def test_the_gold_passages_word_for_word_are_all_there_is_to_find(gold):
    rows = [(text, passage, True) for passage, text in gold.passages.items()]
    found = measured(gold, rows, 1.0)
    assert all(value == 1 for name, value in found.items() if name != "token_recall" or len(gold.texts) == len(rows))
