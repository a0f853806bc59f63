"""Texts in ASCII keep the words and sentences of the expressions that stood before other scripts had any."""

import re
import string
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from secateur.contexts.forms.dense import without
from secateur.datasets import containment
from secateur.datasets.sentences import ANY_BOUNDARY, BOUNDARY, sentences
from secateur.evaluation import answers
from secateur.evaluation.metrics._qualified import qualifiers_of
from secateur.graph.consolidation.guards import _tokens
from secateur.models.words import folded, stem, unit_spans, units, word_list, words
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
    assert list(word_list(text)) == [stem(w) for w in plain if len(w) > 1 and w not in ENGLISH_STOP_WORDS and stem(w)]
    assert folded(text) == text.lower()


@quick
@given(ASCII)
@example("a'A")
def test_quotations_and_names_are_compared_as_before(text):
    spaced = re.sub(r"[^\w]+", " ", text.lower()).strip()
    assert containment.normalised(text) == spaced
    assert [(unit, start) for unit, start, _ in unit_spans(text)] == [
        (match[0].lower(), match.start()) for match in re.finditer(r"\w+", text)
    ]
    bare = re.sub(r"\s*\([^)]*\)\s*$", "", text).casefold()
    bare = re.sub(r"[^\w]+", " ", re.sub(r"['’]s\b", "", bare)).strip()
    assert canonical(text) == re.sub(r"^(the|a|an) ", "", bare)
    elided = r"[a-z]{1,4}'(?=[A-Z])"  # the d' of d'Artagnan, a token since names begin behind it
    assert [m[0] for m in _TOKEN.finditer(text)] == re.findall(rf"{elided}|[^\W_]+(?:[.'’&-][^\W_]+)*\.?|[^\w\s]", text)
    assert list(_tokens(text)) == re.findall(r"[^\W_]+", text.casefold())


@quick
@given(ASCII)
def test_sentences_end_where_they_did(text):
    assert [m.span() for m in ANY_BOUNDARY.finditer(text)] == [m.span() for m in BOUNDARY.finditer(text)]
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
    kept = [
        t for t in text.split() if not (w := re.findall(r"[a-z0-9']+", t.lower())) or any(x not in listed for x in w)
    ]
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
def test_sentences_of_any_text_lose_nothing_but_blanks_and_ascii_closers(text):
    joined = "".join(sentence for sentence, _, _ in sentences(text))
    assert re.sub(r"[\s\"')\]]", "", joined) == re.sub(r"[\s\"')\]\x85\u2028\u2029]", "", text)
    for sentence, start, end in sentences(text):
        assert sentence.strip() == text[start:end] == sentence != ""


@quick
@given(ANY, ANY)
def test_equal_answers_score_1_and_scores_are_shares(answer, gold):
    assert all(0 <= value <= 1 for value in answers.answer_scores(answer, gold).values())
    if gold.strip():
        assert set(answers.answer_scores(gold, gold).values()) == {1.0}
