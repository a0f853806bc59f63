"""Texts in ASCII keep the words and sentences of the expressions that stood before other scripts had any."""

import re
import string
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from secateur.contexts.forms.dense import without
from secateur.datasets.sentences import PUBLISHED, sentences
from secateur.evaluation import answers
from secateur.evaluation.metrics._qualified import qualifiers_of
from secateur.graph.consolidation.guards import _tokens
from secateur.models.units import stem, unit_spans, units, word_list
from secateur.models.words import folded, words
from secateur.ranking.names import _TOKEN, canonical

quick = settings(max_examples=400)
PIECES = ["don't", "3.14", "foo_bar", "The", "of", "U.S.", '"Go."']
PIECES += ["(so)", "A.", "bears", "isn't", "-", "x", "Ann's", "the"]
ASCII = st.one_of(
    st.text(st.characters(max_codepoint=127), max_size=40),
    st.lists(st.sampled_from([*PIECES, *string.punctuation, "\n", "\t", "\x1c"]), max_size=12).map(" ".join),
    st.lists(st.sampled_from([*PIECES, *string.punctuation, " ", "\n"]), max_size=12).map("".join),
)
ANY = st.text(st.sampled_from("aé\u0301ßİΣς山茶がカーगा्กำ\u200dمحمد😀½①_ '.。！」”?\u200b\u00ad1٣"), max_size=20)


@quick
@given(ASCII)
def test_words_are_runs_of_letters_and_digits(text):
    plain = re.findall(r"[a-z0-9]+", text.lower())
    assert words(text) == words(text, 1) == words(text, None) == plain
    assert folded(text) == text.lower()


@quick
@given(ASCII)
@example("a'A")
def test_units_lose_no_letter_and_no_digit_and_names_are_compared_as_before(text):
    spans = list(unit_spans(text))
    bare = "".join(re.findall(r"[a-z0-9]", text.lower()))
    assert "".join(re.findall(r"[a-z0-9]", "".join(unit for unit, _, _ in spans))) == bare
    assert all(a[2] <= b[1] for a, b in zip(spans, spans[1:], strict=False))
    assert all(unit == folded(unit) and not re.search(r"\s", unit) for unit, _, _ in spans)
    assert units(text) == [unit for unit, _, _ in spans]
    parts = [part for unit in units(text) for part in (*unit.split("_"), unit.replace(".", ""))]
    assert {*word_list(text)} <= {"not", *parts, *(stem(part) for part in parts if part.isalnum())}
    bare = re.sub(r"(?<=\w)\s&\s(?=\w)", " and ", re.sub(r"\s*\([^)]*\)\s*$", "", text).casefold())
    bare = re.sub(r"[^\w]+", " ", re.sub(r"['’]s\b", "", bare)).strip()
    assert canonical(text) == re.sub(r"^(the|a|an) ", "", bare)
    elided = r"[a-z]{1,4}'(?=[A-Z])"  # the d' of d'Artagnan, a token since names begin behind it
    assert [m[0] for m in _TOKEN.finditer(text)] == re.findall(rf"{elided}|[^\W_]+(?:[.'’&-][^\W_]+)*\.?|[^\w\s]", text)
    assert list(_tokens(text)) == re.findall(r"[^\W_]+", text.casefold())


@quick
@given(ASCII)
def test_published_sentences_end_where_they_did(text):
    cut = [piece for line in text.split("\n") for piece in PUBLISHED.split(line) if piece.strip()]
    assert [sentence for sentence, *_ in sentences(text, published=True)] == [piece.strip() for piece in cut]
    for sentence, start, end in sentences(text):
        assert text[start:end] == sentence


@quick
@given(ASCII, ASCII)
def test_answers_are_normalised_as_squad_has_it_and_rouge_reads_its_own_words(answer, gold):
    plain = answer.lower().translate(str.maketrans("", "", string.punctuation))
    assert answers.normalised(answer) == " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())
    assert answers._Words().tokenize(answer) == DefaultTokenizer(use_stemmer=True).tokenize(answer)
    assert answers.exact_match(answer, gold) == (answers.normalised(answer) == answers.normalised(gold))


@quick
@given(ASCII)
def test_qualifiers_and_dropped_words_are_those_of_before(text):
    listed = frozenset({"not", "of", "x"})
    tokens = re.findall(r"[a-z0-9']+", text.lower())
    tokens = {"not" if token.endswith("n't") else token for token in tokens}
    assert qualifiers_of(text, listed) == {t for t in tokens if t in listed or any(c.isdigit() for c in t)}
    said = {t: re.findall(r"[a-z0-9']+", t.lower()) for t in text.split()}
    kept = [t for t in text.split() if not said[t] or not listed.issuperset(said[t])]
    assert without(text, listed) == (" ".join(kept) or text)


@quick
@given(ANY)
def test_words_of_any_text_do_not_depend_on_its_composition_or_on_unseen_characters(text):
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert words(composed) == words(apart)
    assert units(composed) == units(apart)
    assert words(text) == words(f"\u200e{text}\u2066")
    assert all(word and folded(word) == word for word in words(text))


@quick
@given(ANY)
def test_sentences_of_any_text_lose_nothing_but_blanks(text):
    joined = "".join(sentence for sentence, _, _ in sentences(text))
    assert re.sub(r"\s", "", joined) == re.sub(r"[\s\x85\u2028\u2029]", "", text)
    for sentence, start, end in sentences(text):
        assert sentence.strip() == text[start:end] == sentence != ""


@quick
@given(ANY, ANY)
def test_equal_answers_score_1_and_scores_are_shares(answer, gold):
    assert all(0 <= value <= 1 for value in answers.answer_scores(answer, gold).values())
    if gold.strip():
        assert set(answers.answer_scores(gold, gold).values()) == {1.0}
