"""Words as evidence recall counts them."""

import unicodedata

import pytest

from secateur.models.units import content_words, stem, word_list


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ponies", "pony"), ("queries", "query"), ("aies", "aie"), ("eies", "eie"), ("dies", "dy"),
        ("horses", "horse"), ("foes", "foe"), ("trees", "tree"), ("does", "doe"), ("maes", "mae"),
        ("caresses", "caresse"), ("bears", "bear"), ("focus", "focus"), ("glass", "glass"), ("gas", "ga"),
        ("bear", "bear"), ("s", ""), ("1990s", "1990"),
    ],
)  # fmt: skip
def test_stemmer_follows_harmans_three_rules(word, expected):
    assert stem(word) == expected


def test_words_keep_order_and_repeats():
    assert word_list("Bears eat salmon; bears sleep.") == ("bear", "eat", "salmon", "bear", "sleep")
    assert word_list("ﬁsh Ｂｅａｒ ² x²") == ("fish", "bear", "2", "x2")  # compatibility forms are folded
    assert word_list("a b 7 42 x1") == ("b", "7", "42", "x1")
    assert word_list("this is his and hers") == ()  # function words are dropped before stemming
    assert word_list("thiss") == ("thiss",)
    assert word_list("") == ()
    assert content_words("Bears eat bears") == {"bear", "eat"}  # the types
    assert content_words(" -- ") == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("naïve café's e-mail", ["naïve", "café", "e", "mail"]),
        ("Die Mühle gehört Jörg", ["die", "mühle", "gehört", "jörg"]),
        ("Cafe\u0301 CAFÉ", ["café", "café"]),
        ("кто основал Ёлку?", ["кто", "основал", "ёлку"]),
        ("Οδυσσεύς ΟΔΥΣΣΕΎΣ", ["οδυσσεύσ", "οδυσσεύσ"]),
        ("कागज़ की मिल", ["कागज़", "की", "मिल"]),
        ("مَن أسّس؟ می\u200cخواهم", ["مَن", "أسّس", "میخواهم"]),
        ("谁创办iPhone 15", ["谁创", "创办", "iphone", "15"]),
        ("猫 が", ["猫", "が"]),
        ("ｶﾞｲﾄﾞ ガイド", ["ガイ", "イド", "ガイ", "イド"]),
        ("กาแฟ", ["กา", "าแ", "แฟ"]),
        ("물을 마신다", ["물을", "마신다"]),
        ("İzmir co\u00adoperate \u200eשלום\u200f", ["izmir", "cooperate", "שלום"]),
        ("é_b 😀 — ½", ["é", "b", "1/2"]),
    ],
)
def test_letters_and_marks_of_any_script_make_words(text, expected):
    assert list(word_list(text)) == [unicodedata.normalize("NFKC", word) for word in expected]
