"""Ten sentences in each of six scripts go from a folder of the user's to rankings, evidence and answers."""

import logging
import re
import unicodedata
from types import SimpleNamespace

import numpy as np
import pytest
from scripts import prepare_corpus
from tests.support.loaded import lines
from tests.support.ranked import ranked, ranking_context
from tests.support.scripts import SCRIPTS

import secateur
from secateur.config import plugins
from secateur.contexts.forms.dense import without
from secateur.contexts.table import NOTHING, Read
from secateur.core.errors import SecateurError
from secateur.datasets.description import describe
from secateur.datasets.formats._pool import split_text
from secateur.datasets.language import english_only
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.sentences import sentences
from secateur.evaluation.answers import answer_scores, exact_match, rouge_l, token_f1
from secateur.evaluation.evidence import Case, Gold, gold_of
from secateur.evaluation.metric import measure_all
from secateur.graph.triples.extraction import refuse_unreadable
from secateur.models.units import unit_spans, units
from secateur.ranking.group import Group, Questions

METRICS = ("evidence_recall", "evidence_coverage", "token_recall")
LUCENE = {"kind": "lucene", "k1": 1.2, "b": 0.75, "title": False}
RANKERS = {
    "lucene": LUCENE,
    "bm25": {"kind": "bm25", "k1": 1.5, "b": 0.75},
    "tfidf": {"kind": "tfidf"},
    "tfidf_question": {"kind": "tfidf_question"},
    "zsum": {"kind": "zsum", "lexical": LUCENE},
    "two_step": {"kind": "two_step", "lexical": LUCENE, "lines": 2, "adds": "names", "weight": 1, "decay": 0.5},
}


def alike(texts) -> np.ndarray:
    """The same vector for all texts: what decides is their words."""
    return np.ones((len(texts), 1), np.float32)


@pytest.fixture(params=SCRIPTS)
def script(request):
    return SCRIPTS[request.param]


@pytest.fixture
def folder(tmp_path, script):
    """The user's folder: a sentence a passage, and a question whose evidence is a quotation, in other code points."""
    passages = [{"id": f"p{n}", "text": text} for n, (text, _, _) in enumerate(sentences(script.text))]
    question = {"id": "q", "question": script.question, "answer": script.answer}
    question["evidence_text"] = [unicodedata.normalize("NFD", script.quotation)]
    (tmp_path / "passages.jsonl").write_text(lines(passages), "utf-8")
    (tmp_path / "questions.jsonl").write_text(lines([question]), "utf-8")
    return tmp_path


@pytest.fixture
def loaded(folder):
    passages = load_corpus("folder", {"folder": folder}).passages
    return passages, load_questions("folder", "custom", {"folder": folder}, passages)


def test_a_text_has_ten_sentences_and_a_quotation_in_other_code_points_finds_its_own(script, loaded):
    assert len(list(sentences(script.text))) == 10
    _, questions = loaded
    assert questions.evidence["passage_id"].to_list() == [f"p{script.gold}"]
    assert questions.counts["evidence_unresolved"] == 0


def test_every_ranker_of_words_finds_the_sentence_that_answers(script, loaded, monkeypatch, tmp_path):
    passages, questions = loaded
    embedder = SimpleNamespace(embed=alike, embed_tokens=None, tell_split=lambda *_: None)
    monkeypatch.setattr("secateur.ranking.rank.Embedder", lambda *_: embedder)
    ctx = ranking_context(tmp_path)
    best = ranked(ctx, RANKERS, passages, questions.questions).filter(rank=0)
    assert dict(best.select("scorer", "passage_id").iter_rows()) == dict.fromkeys(RANKERS, f"p{script.gold}")
    assert ctx.counts == {}


def figures(loaded, place: int, text: str | None = None) -> list[float]:
    """Evidence of a context of one line, from the gold passage or from another."""
    passages, questions = loaded
    gold = gold_of(questions.questions, questions.evidence, passages)["q"]
    shown = passages["text"][place]
    read = Read([shown if text is None else text], [next(iter(gold.passages))], [False], 9)
    (values,) = measure_all([Case(gold, read)], (), METRICS, "conf/eval/default")
    return [values[name] for name in METRICS]


def test_evidence_is_held_by_its_words_and_by_no_others(script, loaded):
    assert figures(loaded, script.gold) == [1, 1, 1]
    assert figures(loaded, script.gold, unicodedata.normalize("NFD", loaded[0]["text"][script.gold])) == [1, 1, 1]
    recall, coverage, words = figures(loaded, 4)
    assert recall == 0
    assert coverage < 0.3
    assert words < 0.5
    assert figures(loaded, 0, loaded[0]["text"][script.gold][:1])[0] == 0


def test_an_answer_is_like_itself_and_unlike_another(script):
    assert set(answer_scores(script.answer, script.answer).values()) == {1.0}
    assert set(answer_scores(f"\u200f{unicodedata.normalize('NFD', script.answer)}。", script.answer).values()) == {1.0}
    assert answer_scores("Zürich", script.answer) == {"rouge_l": 0, "token_f1": 0, "exact_match": 0, "typed_match": 0}
    more = answer_scores(script.quotation, script.answer)
    assert 0 < more["token_f1"] < 1
    assert 0 < more["rouge_l"] < 1


def test_what_is_english_is_said_once_a_corpus_and_refused_where_nothing_else_reads_it(script, loaded):
    passages, _ = loaded
    assert re.search(r"9\d|100", english_only(passages["text"].to_list())[:4])
    assert english_only(["Łódź, Zürich, Việt Nam", "naïve"]) == english_only(["The river.", "1984", "😀"]) == ""
    assert "50%" in english_only(["Москва", "Moskva"])
    said = r"openie parses English; .* outside Latin. Fix: --set system.extractor=llm.*bm25"
    with pytest.raises(SecateurError, match=said):
        refuse_unreadable(passages, SimpleNamespace(kind="openie"))
    refuse_unreadable(passages, SimpleNamespace(kind="llm"))


def test_a_memory_of_texts_finds_and_tells(caplog):
    caplog.set_level(logging.WARNING, "secateur")
    memory, script = secateur.Memory("rankers/bm25_k1.2_b0.75"), SCRIPTS["Arabic"]
    assert memory.index({"village": script.text}) == 10
    sources = memory.retrieve(script.question, budget=64).sources
    assert sources[-1].passage_id == f"village:{script.gold}"  # the best stands next to the question
    assert "outside Latin" in caplog.text
    with pytest.raises(SecateurError, match="openie parses English"):
        secateur.Memory("beam").index({"village": script.text})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一句话。又一句话！第三句？", ["一句话。", "又一句话！", "第三句？"]),
        ("真的？！是的……我不知道。", ["真的？！", "是的……我不知道。"]),
        ("他说：“走了。”她不信。", ["他说：“走了。”", "她不信。"]),
        ("「行こう。」と言った。晴れた。", ["「行こう。」と言った。", "晴れた。"]),
        ("价格是3.14元。U.S.的经济。iPhone很好。", ["价格是3.14元。", "U.S.的经济。", "iPhone很好。"]),
        ("你好!今天怎么样?很好.明天见", ["你好!", "今天怎么样?", "很好.", "明天见"]),
        ("図３．５を見よ．次は表．", ["図３．５を見よ．", "次は表．"]),
        ("Es regnete. Über Nacht schneite es. Éva blieb.", ["Es regnete.", "Über Nacht schneite es.", "Éva blieb."]),
        ("He said “go.” Then he left… Now what?", ["He said “go.”", "Then he left…", "Now what?"]),
        ("هل فاض؟ لا. وہ گیا۔ پھر آیا", ["هل فاض؟", "لا.", "وہ گیا۔", "پھر آیا"]),
        ("पहला वाक्य। दूसरा वाक्य।तीसरा", ["पहला वाक्य।", "दूसरा वाक्य।", "तीसरा"]),
        ("Ποιος; Η Άννα. Ναι.", ["Ποιος;", "Η Άννα.", "Ναι."]),
        ("Ποιος ήρθε με το iPhone; Η Άννα.", ["Ποιος ήρθε με το iPhone; Η Άννα."]),
        ("Swan song (Greek: κύκνειον ᾆσμα; Latin: carmen).", ["Swan song (Greek: κύκνειον ᾆσμα; Latin: carmen)."]),
        ("The angle is θ; Its sine is 1.", ["The angle is θ; Its sine is 1."]),
        ("Слово λόγος; Потом логика.", ["Слово λόγος; Потом логика."]),
        ("ខ្ញុំទៅ។អ្នកមក", ["ខ្ញុំទៅ។", "អ្នកមក"]),
        ("Er kam; dann ging er. z.B. über", ["Er kam; dann ging er. z.B. über"]),
        ("one\u2028two\x85three é", ["one", "two", "three é"]),
    ],
)
def test_sentences_of_other_scripts(text, expected):
    assert [sentence for sentence, _, _ in sentences(text)] == expected


def test_a_text_in_latin_letters_has_the_sentences_of_the_reference_rows_where_these_are_asked_for():
    for text, count in (("Er sah “Emil.” Dann schlief er…  Gut", 3), ("Es regnete. Über Nacht fror es.", 2)):
        assert [one for one, *_ in sentences(text, published=True)] == [text]
        assert len(list(sentences(text))) == count
    expected = ("Москва.", "Édouard est là.", "Это «Сосна».", "Там лес")
    assert split_text("Москва. Édouard est là. Это «Сосна». Там лес") == expected
    assert split_text("下雨了。我们走了！") == ("下雨了。", "我们走了！")


@pytest.mark.parametrize(
    ("written", "quoted"),
    [
        ("Java™ runs.", "Java"),
        ("It was 20℃ there.", "20"),
        ("A ㎏ of Mail℠ it is.", "mail"),
        ("See №5 at ½ past.", "½ past"),
        ("ｶﾞｲﾄﾞです", "ガイド"),
    ],
)
def test_a_quotation_is_cut_before_signs_become_letters(written, quoted):
    assert f" {' '.join(units(quoted))} " in f" {' '.join(units(written))} "
    assert units(written) == [unit for unit, _, _ in unit_spans(written)]


@pytest.mark.parametrize("text", ["2021年 公司A收购了茶厂。", "A茶。 茶厂在河边。", "ฉันis ชอบ", "公司the"])
def test_a_dense_text_keeps_clauses_without_blanks(text):
    assert without(text, frozenset({"a", "is", "the"})) == text


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        ("北京市", "北京", 0.8), ("在北京。", "北京", 0.8), ("ＮＹＣ", "nyc", 1), ("İSTANBUL", "istanbul", 1),
        ("STRASSE", "Straße", 1), ("1990–1995", "1990-1995", 1), ("«Сосна»", "сосна", 1), ("กรุงเทพ", "กรุงเทพ", 1), ("서울", "서울", 1),
    ],
)  # fmt: skip
def test_answers_of_other_scripts(answer, gold, f1):
    assert token_f1(answer, gold) == pytest.approx(f1)
    assert exact_match(answer, gold) == (f1 == 1)
    assert rouge_l(answer, gold) == pytest.approx(f1)


@pytest.mark.parametrize("gold", ["😀", "…", "。", "¿?"])
def test_a_gold_answer_without_words_equals_itself_alone(gold):
    assert answer_scores(gold, gold) == {"rouge_l": 1, "token_f1": 1, "exact_match": 1, "typed_match": 1}
    assert set(answer_scores("-", gold).values()) == {0}
    for answer, other in (("", "!!!"), ("?", "!!!"), ("", gold), ("the", "...")):
        assert rouge_l(answer, other) == 0
        assert rouge_l(f" {other} ", other) == 1


def test_gold_without_a_word_is_undefined_and_does_not_count(caplog):
    gold = Gold("What did she send?", {"p1": "😀🎉", "p2": "A red postcard."}, ("😀🎉", "A red postcard."))
    cases = [Case(gold, Read(["anything"], ["p1"], [False], 1)), Case(gold, Read(["😀🎉"], ["p1"], [True], 1))]
    for values in measure_all(cases, (), METRICS, "conf/eval/default"):
        assert values["evidence_recall"] == values["evidence_coverage"] == 0
    alone = Gold("What?", {"p1": "😀"}, ("😀",))
    for shown in (NOTHING, Read(["😀"], ["p1"], [True], 1)):
        assert next(measure_all([Case(alone, shown)], (), METRICS, "conf/eval/default")) == {}
    caplog.set_level(logging.WARNING, "secateur")
    for evidence in ({"p1": "😀"}, ["😀"]):
        caplog.clear()
        rows = secateur.evaluate({"q": [("p1", "no")]}, {"q": "What?"}, {"q": evidence})
        assert rows["metric"].to_list() == ["tokens"]
        assert "gold texts without a word" in caplog.text


def test_gold_of_stop_words_alone_is_held_by_them_and_by_no_other_text():
    gold = Gold("Why?", {"p1": "It was so."}, ("It was so.",))
    for line, held, share in (("it: was", 1, 2 / 3), ("It was so", 1, 1), ("so", 0, 1 / 3), ("bears: sleep", 0, 0)):
        (values,) = measure_all([Case(gold, Read([line], ["p1"], [False], 1))], (), METRICS, "conf/eval/default")
        assert (values["evidence_recall"], values["evidence_coverage"]) == (held, pytest.approx(share))


@pytest.mark.parametrize("kind", ["bm25", "tfidf", "tfidf_question"])
def test_a_published_ranker_keeps_its_words_where_most_letters_are_latin_and_ranks_nothing_without_words(kind):
    settings, module = plugins.settings("ranker", RANKERS[kind], "conf/rankers/mine"), plugins.load("ranker", kind)
    group = Group(["Die Mühle gehört Öz.", "Москва is a city.", "The river rises."], [""] * 3, np.zeros(3, int), alike)
    assert not group.is_outside_latin
    assert module.score(settings, group, Questions(["gehört Москва"]), 0).shape == (1, 3)
    group = Group(["😀", "🎉"], ["", ""], np.zeros(2, int), alike)
    assert module.score(settings, group, Questions(["?"]), 0).tolist() == [[0, 0]]


def test_the_share_of_other_letters_stands_in_the_log_and_on_the_page(loaded, folder):
    passages, questions = loaded
    warnings, outputs, inputs = [], {}, SimpleNamespace(paths=lambda _: [folder / "passages.jsonl"])
    ctx = SimpleNamespace(note_counts=lambda _: None, warn=warnings.append)
    corpus = SimpleNamespace(format="folder", shuffle=None, documents=None)
    prepare_corpus.run(SimpleNamespace(corpus=corpus), inputs, outputs, ctx)
    assert outputs["passages"].equals(passages)
    (warning,) = warnings
    assert "outside Latin" in warning
    count = lambda texts: np.ones(len(texts), np.int64)  # noqa: E731
    statistics = describe(passages, questions.questions, questions.evidence, count)
    (share,) = statistics.filter(statistic="letters_outside_latin")["mean"]
    assert share > 0.9
