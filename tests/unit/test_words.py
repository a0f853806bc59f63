"""What a word is: names and numbers count, with all that belongs to them; function words alone do not."""

import unicodedata

import pytest

from secateur.datasets.containment import Quotable
from secateur.evaluation.typed import is_typed, typed_match
from secateur.models.units import content_words, stem, unit_spans, units, word_list


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,200 or €5, 5 €, 3.5 % and 3 percent", ["$1200", "or", "€5", "€5", "3.5%", "and", "3%"]),
        ("at -5 °C, not 5; 1990-1995 and 12:30", ["at", "-5°c", "not", "5", "1990", "1995", "and", "12:30"]),
        ("C++ and C# of AT&T, v1.2.3, 20th, 5km", ["c++", "and", "c#", "of", "at&t", "v1.2.3", "20th", "5km"]),
        ("the U.S. at 10 a.m.", ["the", "u.s", "at", "10", "am"]),
        ("infor-\nmation, well-known, commit\u00ad\ntee", ["information", "well", "known", "committee"]),
        ("_old_ foo_bar", ["old", "foo_bar"]),
        ("茶厂3.5吨", ["茶", "厂", "3.5", "吨"]),
    ],
)
def test_units(text, expected):
    assert units(text) == expected


def test_spans_of_units_are_those_of_the_text():
    text = "It cost $1,200 in infor-\nmation 茶."
    spans = [text[start:end] for _, start, end in unit_spans(text)]
    assert spans == ["It", "cost", "$1,200", "in", "infor-\nmation", "茶"]


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
    assert content_words("Bears eat bears") == {"bear", "eat"}  # the types
    assert content_words(" -- ") == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("naïve café's e-mail", ["naïve", "café", "e", "mail"]),
        ("Cafe\u0301 CAFÉ", ["café", "café"]),
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


@pytest.mark.parametrize("name", ["Bill", "Will", "May", "US", "IT", "WHO", "C", "Twelve", "-5", "C++"])
def test_names_and_numbers_are_content(name):
    assert word_list(f"It was paid by {name}, they said")[1:-1] != ()
    assert content_words(f"Who paid {name}?") - content_words("Who paid?") != set()


@pytest.mark.parametrize(
    "text", ["Will the mill run?", "it will run the mill", "May I run the mill", "run it, who may"]
)
def test_function_words_are_none(text):
    assert content_words(text) <= {"run", "mill"}


def test_a_clitic_is_no_word_and_a_negation_is_one():
    assert word_list("In May the Berlin mill can't") == ("may", "berlin", "mill", "not")
    assert word_list("Ann's mill isn't O'Brien's") == ("ann", "mill", "not", "o", "brien")


@pytest.mark.parametrize(
    ("passage", "quotation"),
    [
        ("Alder Ltd[12] bought the [mill](http://a.b/c).", "Alder Ltd bought the mill"),
        ("Alder <b>Ltd</b> paid 1,200.", "Alder Ltd paid 1200"),
        ("All infor-\nmation was lost.", "All information was lost"),
        ("the mill<br>was sold", "mill was sold"),
        ("by Smith [12, 13] in 1999[citation needed]", "by Smith in 1999"),
        ("CPI &amp; GDP rose", "CPI & GDP rose"),
        ("in 10<sup>6</sup> cells", "10^6 cells"),
        ("100 000 people", "100,000 people"),
    ],
)
def test_a_quotation_leaves_out_what_a_converter_puts_in(passage, quotation):
    assert Quotable(["a", "b"], [passage, "Rain fell."]).only_holder(quotation) == "a"


@pytest.mark.parametrize(
    ("passage", "quotation"),
    [
        ("The rooms 3, 5 and 7 are shut.", "3.5"), ("It was -5 degrees.", "5 degrees"),
        ("He writes C# daily.", "writes C++"), ("It rose by 5%.", "It rose by $5"),
        ("As Alder has it [3], it rained.", "as Alder has it [4]"), ("revenue of £5m in 2020", "revenue of $5m"),
        ("profit -5m in 2020", "profit 5m in"), ("p > 0.05 for all", "p < 0.05"),
        ("it was –5 °C outside", "it was 5 °C outside"), ("10<sup>6</sup> cells", "106 cells"),
        ("F♯ minor", "F minor"), ("an area 103 km wide", "area 10³ km"), ("it took 11/2 hours", "it took 1½ hours"),
        ("5 1/2 cups", "1/2 cups"), ("1 234 people died", "234 people died"),
        ("on 5/6/2020 he left", "6/2020 he left"), ("blood type O− is rare", "type O is rare"),
        ("tell us now", "tell U.S. now"),
    ],
)  # fmt: skip
def test_a_quotation_is_not_found_where_another_number_or_name_stands(passage, quotation):
    assert Quotable(["a", "b"], [passage, "Rain fell."]).only_holder(quotation) is None


@pytest.mark.parametrize(
    ("answer", "gold", "equal"),
    [
        ("3.5", "35", 0), ("-5", "5", 0), ("1.5 million", "15 million", 0), ("$5", "5%", 0), ("2/3", "23", 0),
        ("12:30", "1230", 0), ("C#", "C++", 0), ("1990-1995", "19901995", 0), ("1,200", "1200", 1),
        ("The mill.", "mill", 1), ("10 a.m.", "10 am", 1), ("A", "the", 0), ("A", "B", 0), ("twelve", "12", 1),
        ("12 km", "12 kilometres", 1), ("12", "12 km", 0), ("5 percent", "5%", 1), ("May 4, 1999", "4 May 1999", 1),
        ("1999-05-04", "May 1999", 1), ("May 1999", "4 May 1999", 0), ("Yes, it is.", "yes", 1), ("nope", "no", 0),
        ("$5 million", "$5,000,000", 1), ("5 million dollars", "$5 million", 1), ("twenty-one", "21", 1),
        ("3.52", "3.5", 1), ("3.5", "3.52", 0), ("pages 12", "pages 1-2", 0), ("1.4 million", "1 million", 0),
        ("0.4", "0", 0), ("No. 5", "no", 0), ("no idea", "no", 0), ("Yes Man", "yes", 0),
        ("yes, but actually no", "yes", 0), ("one-five", "6", 0), ("–5", "-5", 1), ("10³", "103", 0),
        ("4 May 1999", "1999", 1), ("p<0.05", "p>0.05", 0), ("O", "O-", 0), ("", "Ann", 0), ("16:30", "4:30 pm", 0),
        ("Marcia", "march", 0), ("1990 to 1995", "1990–1995", 1),
    ],
)  # fmt: skip
def test_typed_match(answer, gold, equal):
    assert typed_match(answer, gold) == equal


@pytest.mark.parametrize(
    ("golds", "typed"),
    [
        (["35", "6.8 inches", "$1.18 trillion", "4 May 1999", "yes", "3 a.m.", "1990-1995", "two"], True),
        (["Marcia", "the mill", "C++", "May Ling", "A"], False),
    ],
)
def test_numbers_dates_and_yes_or_no_are_typed_names_are_not_and_all_match_themselves(golds, typed):
    assert {gold: (is_typed(gold), typed_match(gold, gold)) for gold in golds} == dict.fromkeys(golds, (typed, 1))
