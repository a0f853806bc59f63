"""Names, aliases, imported graphs and traces of texts in other scripts."""

import logging
import unicodedata

import polars as pl
import pytest

import secateur
from secateur.contexts.forms.dense import without
from secateur.contexts.tracing import Tracer
from secateur.ecs.reading.rivals import rivals
from secateur.ecs.reading.template import Passage, Question
from secateur.evaluation.metrics._qualified import qualifiers_of
from secateur.graph.consolidation.guards import blocked_by, normal_form
from secateur.graph.triples.extractors import imported
from secateur.ranking.acronyms import acronyms
from secateur.ranking.names import canonical, longest_spans, names_in, spans_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Фабрику «Сосна» основала Вера Лунина.", ["фабрику", "сосна", "вера лунина"]),
        ("館長はハンス・ミュラーという人だ。", ["ハンス ミュラー"]),
        ("他读了《红楼梦》和 Ann Lee 的书。", ["红楼梦", "ann lee"]),
        ("كتب هدى رواية «الزيتون».", ["الزيتون"]),
        ("E\u0301va Łódź est là.", ["eva lodz"]),
        ("这条河每年春天都会涨水。", []),
    ],
)
def test_names_are_marked_by_capitals_quotation_marks_or_katakana(text, names):
    assert names_in(text, frozenset(), frozenset()) == names


def test_canonical_names_keep_the_marks_that_are_letters():
    assert canonical("मीरा जोशी") == "मीरा जोशी"
    assert canonical("バス") != canonical("ハス")
    assert canonical("ガイド") == canonical(unicodedata.normalize("NFD", "ガイド")) == canonical("ｶﾞｲﾄﾞ")
    assert canonical("서울") == canonical(unicodedata.normalize("NFD", "서울")) == "서울"
    assert canonical("Λάρισα") == canonical("ΛΑΡΙΣΑ")
    assert canonical("北京（都市）") == "北京"
    assert canonical("أَحْمَد") == canonical("احمد") == canonical("أحمد")


def test_a_name_is_found_amid_text_without_blanks():
    assert spans_of("云岭茶厂是谁创办的？", {"茶厂", "云岭茶厂", "谁创"}, 5) == ["云岭茶厂", "茶厂", "谁创"]
    assert longest_spans("云岭茶厂是谁创办的？", {"茶厂", "云岭茶厂"}, 5) == ["云岭茶厂"]
    assert longest_spans("من أسست مصنع الورق؟", {"مصنع الورق", "ورق"}, 5) == ["مصنع الورق"]


def test_aliases_differ_in_numbers_between_characters_and_acronyms_of_other_capitals_have_long_forms():
    assert blocked_by("1982年報告", "1983年報告") == "number"
    assert blocked_by("मीरा", "मीना") is None
    assert normal_form("ＡＢＣ社") == normal_form("abc社")
    found = acronyms(["Организация Объединённых Наций (ООН) велика.", "The Digital Services Act (DSA)."])
    assert found == {"ООН": "Организация Объединённых Наций", "DSA": "Digital Services Act"}


@pytest.mark.parametrize(
    ("source", "relation", "target", "description"),
    [
        ("云岭茶厂", "由", "周敏", "云岭茶厂由周敏创办"),
        ("मीरा", "ने", "राम", "मीरा ने राम को देखा"),
        ("E\u0301va", "lives in", "Łódź", "Éva lives in Łódź"),
    ],
)
def test_an_imported_graph_finds_its_sentence(source, relation, target, description):
    texts = [unicodedata.normalize("NFC", f"{description}。"), "茶厂在河边。"]
    passages = pl.DataFrame({"passage_id": ["a", "b"], "text": texts})
    assert imported.passages_of_chunks({"c": f"前言。{description}。茶厂在河边。"}, passages) == {"c": [0, 1]}
    assert imported.best_passage(f"{source} {target} {description}", [0, 1], passages) == "a"
    edge = imported.Edge(source, target, "keyword", (description,), ("c",))
    assert imported._fact(edge, description) == (source, relation, target)


def test_a_name_is_no_part_of_a_longer_word():
    assert imported._match("राम", "रामायण") is None
    assert imported._match("Ан", "Анна") is None
    assert imported._match("茶厂", "云岭茶厂由").span() == (2, 4)


def test_passages_without_blanks_between_them_are_traced():
    tracer = Tracer(["云岭茶厂由周敏创办。", "“茶厂在河边。”", "Éva lives here."])
    text = unicodedata.normalize("NFD", "前言，云岭茶厂由周敏创办。中间。“茶厂在河边。”后记。 Éva lives here. End")
    assert tracer.passages(text) == [0, 1, 2]
    shown = [(unicodedata.normalize("NFC", span.text), span.passage) for span in tracer.spans(text)]
    assert shown[:4] == [("前言，", None), ("云岭茶厂由周敏创办。", 0), ("中间。", None), ("“茶厂在河边。”", 1)]
    assert shown[4:] == [("后记。", None), ("Éva lives here.", 2), ("End", None)]


def test_rivals_stand_in_any_script():
    asked = Question("q", "Кто основал фабрику?", "Вера Лунина")
    assert rivals(asked, Passage("p", "Фабрику — «Сосна» — купил Иван Котов…")) == ["Сосна", "купил", "Иван", "Котов"]
    asked = Question("q", "谁创办了茶厂？", "周敏")
    offered = rivals(asked, Passage("p", "茶厂由周敏创办，李华卖了。"))
    assert "李华" in offered
    assert not {"周敏", "茶厂", "创办"} & set(offered)


def test_words_with_accents_are_neither_negations_nor_dropped():
    assert qualifiers_of("Noé, là, 1982年 isn’t", frozenset({"no", "not"})) == {"1982", "not"}
    assert without("Là ôi amé of it", frozenset({"i", "l", "am", "of", "it"})) == "Là ôi amé"


def test_a_question_that_shares_no_word_says_so(caplog):
    caplog.set_level(logging.WARNING, "secateur")
    memory = secateur.Memory("rankers/bm25_k1.2_b0.75")
    memory.index({"a": "Река разлилась. Дом стоит."})
    assert "reading order" not in caplog.text
    memory.retrieve("谁？")
    assert "reading order" in caplog.text
