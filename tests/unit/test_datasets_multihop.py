"""The formats of multi-hop sets on small files that hold the traps of the real ones."""

import json
from pathlib import Path

import pytest
from tests.support.loaded import conform

from secateur.core.errors import SecateurError
from secateur.datasets.formats._pool import named_in
from secateur.datasets.loaders import load_corpus, load_questions, named_files

FILM = ["Free Guy (film)", ["Free Guy is a film.", "", " It was directed by Shawn Levy. "]]
LEVY = ["Shawn Levy", ["Shawn Levy was born in 1968."]]
OTHER = ["Shawn Levy", ["A writer of the same name."]]
ASKED = {"question": "When was the director of Free Guy born?", "answer": "1968"}
HOTPOT = ASKED | {"_id": "q1", "type": "bridge", "context": [FILM, LEVY]}
HOTPOT |= {"supporting_facts": [["Free Guy (film)", 2], ["Shawn Levy", 0]]}
DISTRACTORS = [
    {"title": "Ghent", "text": "Ghent is a city. It has 260,000 people."},
    {"title": "Shawn Levy", "text": "Another text."},
]
STEPS = [
    {"question": "Who directed Free Guy?", "answer": "Shawn Levy", "paragraph_support_idx": 0},
    {"question": "When was #1 born?", "answer": "1968", "paragraph_support_idx": 3},
]
PARAGRAPHS = [
    {"idx": 0, "title": "Free Guy", "paragraph_text": "It is a film. Shawn Levy directed it. Levy is 50."},
    {"idx": 3, "title": "Shawn Levy", "paragraph_text": "A director. He is from Montreal."},
    {"idx": 4, "title": "Shawn Levy", "paragraph_text": "Another of that name."},
]
MUSIQUE = ASKED | {"id": "2hop__1_2", "paragraphs": PARAGRAPHS, "question_decomposition": STEPS}


def write(path: Path, value) -> Path:
    path.write_text("\n".join(map(json.dumps, value)) if path.suffix == ".jsonl" else json.dumps(value), "utf-8")
    return path


def load(kind, questions, corpora=(), **settings):
    """(corpus, questions) of files of one format."""
    corpus = load_corpus({"kind": kind} | settings, named_files(("pool", ...), [*questions, *corpora]))
    files = named_files(("questions", ...), list(questions))
    found = load_questions({"kind": kind} | settings, kind, files, corpus.passages)
    conform(corpus.passages, found)
    return corpus, found


def gold(found):
    return [tuple(row) for row in found.evidence.select("passage_id", "hop").iter_rows()]


def test_hotpotqa_pools_paragraphs_and_says_at_which_hop_its_gold_is_found(tmp_path):
    again = HOTPOT | {"_id": "q2", "context": [FILM, LEVY, LEVY]}  # a paragraph that stands there twice is one
    files = [write(tmp_path / "a.json", [HOTPOT]), write(tmp_path / "b.json", [again])]
    corpus, found = load("hotpotqa", files, [write(tmp_path / "more.json", DISTRACTORS)])
    film = ["Free Guy (film):0", "Free Guy (film):2"]  # the empty sentence keeps its number
    assert sorted(corpus.passages["passage_id"]) == [*film, "Ghent:0", "Ghent:1", "Shawn Levy:0"]
    assert corpus.counts["distractors"] == 1  # an article of a question is no distractor
    assert gold(found) == [("Free Guy (film):2", "named"), ("Shawn Levy:0", "bridge")] * 2
    assert found.questions["cluster_id"].to_list() == ["Free Guy (film)"] * 2


def test_a_question_names_an_article_by_whole_words():
    assert named_in("Free Guy (film)", "Who made free guy?")
    assert not named_in("Free Guy", "Who made Free Guys?")
    assert not named_in("...", "Which one?")


def test_of_paragraphs_the_gold_is_the_paragraph_and_titles_can_be_hidden(tmp_path):
    corpus, found = load("2wikimultihopqa", [write(tmp_path / "a.json", [HOTPOT])], unit="paragraph", titles=False)
    texts = dict(corpus.passages.select("passage_id", "text").iter_rows())
    assert texts["Free Guy (film):0"] == "Free Guy is a film. It was directed by Shawn Levy."
    assert gold(found) == [("Free Guy (film):0", "named"), ("Shawn Levy:0", "bridge")]
    assert corpus.passages["title"].null_count() == corpus.passages.height


def test_two_articles_of_one_title_are_two_documents(tmp_path):
    second = HOTPOT | {"_id": "q2", "context": [OTHER, FILM], "supporting_facts": [["Shawn Levy", 0]]}
    corpus, found = load("hotpotqa", [write(tmp_path / "a.json", [HOTPOT, second])])
    assert corpus.counts["titles_of_several"] == 1
    assert gold(found)[-1] == ("Shawn Levy#2:0", "bridge")


@pytest.mark.parametrize("number", [1, 7, -1])
@pytest.mark.parametrize("other", [FILM, ["Free Guy (film)", ["Free Guy is a film."]]])  # each paragraph has one
def test_gold_that_names_a_sentence_that_is_not_there_is_counted(tmp_path, number, other):
    wrong = {"supporting_facts": [["Shawn Levy", number], ["Free Guy (film)", 1], ["Free Guy (film)", 0]]}
    path = write(tmp_path / "a.json", [HOTPOT | {"context": [LEVY, other]} | wrong])
    _, found = load("hotpotqa", [path])
    assert (gold(found), found.counts["evidence_missing"]) == ([("Free Guy (film):0", "named")], 2)
    _, found = load("hotpotqa", [path], unit="paragraph")
    assert gold(found) == [("Shawn Levy:0", "bridge"), ("Free Guy (film):0", "named")]


def test_corpus_and_questions_of_two_units_are_refused(tmp_path):
    path = write(tmp_path / "a.json", [HOTPOT])
    for unit, other in (("sentence", "paragraph"), ("paragraph", "sentence")):
        passages = load_corpus({"kind": "hotpotqa", "unit": unit}, {"pool": path}).passages
        with pytest.raises(SecateurError, match=f"no {other}s.*same `unit`"):
            load_questions({"kind": "hotpotqa", "unit": other}, "mine", {"questions": path}, passages)


BOTH = [("hotpotqa", HOTPOT), ("musique", MUSIQUE)]


@pytest.mark.parametrize(("kind", "record"), BOTH)
def test_a_sample_of_hipporag_2_has_a_corpus_that_repeats_the_paragraphs_of_its_questions(tmp_path, kind, record):
    beside = [(title, "".join(sentences)) for title, sentences in record.get("context", ())]
    beside += [(one["title"], one["paragraph_text"]) for one in record.get("paragraphs", ())]
    beside += [("Ghent", "A city.")]
    articles = [{"idx": n, "title": title, "text": text} for n, (title, text) in enumerate(beside)]
    questions, more = write(tmp_path / "sample.json", [record]), write(tmp_path / "sample_corpus.json", articles)
    corpus, found = load(kind, [questions], [more])
    alone, expected = load(kind, [questions])
    assert (gold(found), corpus.counts["distractors"]) == (gold(expected), 1)
    assert corpus.passages["passage_id"].to_list() == [*alone.passages["passage_id"], "Ghent:0"]


def test_aliases_of_an_answer_are_kept(tmp_path):
    records = [MUSIQUE | {"answer_aliases": ["in 1968", "1968", ""]}, MUSIQUE | {"id": "2hop__3_4"}]
    _, found = load("musique", [write(tmp_path / "dev.json", records)])
    assert found.questions["aliases"].to_list() == [["in 1968"], None]


@pytest.mark.parametrize(("kind", "record"), BOTH)
def test_an_answer_without_text_is_none_and_counted(tmp_path, kind, record):
    _, found = load(kind, [write(tmp_path / "a.json", [record | {"answer": ""}])])
    assert found.questions["answer"].to_list() == [None]
    assert (found.counts["questions_without_answer"], found.counts["answers_without_text"]) == (1, 1)


def test_musique_takes_the_sentence_with_the_answer_or_else_the_paragraph(tmp_path):
    odd = MUSIQUE | {"question": "When was\u2028the director born?"}  # a separator of lines in a line of JSON
    (tmp_path / "dev.jsonl").write_text(json.dumps(odd, ensure_ascii=False), "utf-8")
    corpus, found = load("musique", [tmp_path / "dev.jsonl"])
    assert gold(found) == [("Free Guy:1", "first"), ("Shawn Levy:0", "later"), ("Shawn Levy:1", "later")]
    assert corpus.counts["titles_of_several"] == 1
    assert found.questions["type"].to_list() == ["2hop"]


@pytest.mark.parametrize(
    ("kind", "record", "said"),
    [
        ("hotpotqa", HOTPOT | {"context": [["Ghent", "no list"]]}, "context has"),
        ("hotpotqa", HOTPOT | {"supporting_facts": [["Ghent", 0]]}, "supporting_facts has ['Ghent', 0]"),
        ("hotpotqa", HOTPOT | {"context": [FILM, LEVY, OTHER]}, "'Shawn Levy', which the context has with 2 texts"),
        ("hotpotqa", {"question": "Why?"}, "_id is missing"),
        ("musique", MUSIQUE | {"question_decomposition": [STEPS[0] | {"paragraph_support_idx": 9}]}, "paragraph 9"),
        ("musique", MUSIQUE | {"paragraphs": [{"idx": 0, "title": "Ghent"}]}, "paragraph_text is missing"),
        ("musique", MUSIQUE | {"answer_aliases": "1968"}, "answer_aliases"),
    ],
)
def test_what_has_another_form_is_named(tmp_path, kind, record, said):
    with pytest.raises(SecateurError, match="object 0") as raised:
        load(kind, [write(tmp_path / "a.json", [record])])
    assert said in str(raised.value)


def test_a_question_is_asked_once_and_of_paragraphs_in_the_corpus(tmp_path):
    with pytest.raises(SecateurError, match="'q1' is already used"):
        load("hotpotqa", [write(tmp_path / "a.json", [HOTPOT]), write(tmp_path / "b.json", [HOTPOT])])
    corpus = load_corpus("hotpotqa", {"pool": write(tmp_path / "c.json", [HOTPOT | {"context": [FILM, OTHER]}])})
    with pytest.raises(SecateurError, match="question q1: its paragraph 'Shawn Levy' is not in the corpus"):
        load_questions("hotpotqa", "hotpotqa", {"questions": write(tmp_path / "d.json", [HOTPOT])}, corpus.passages)


def test_a_file_without_an_object_is_named(tmp_path):
    (tmp_path / "dev.jsonl").write_text("")
    with pytest.raises(SecateurError, match="the file: holds no object"):
        load("musique", [tmp_path / "dev.jsonl"])


@pytest.mark.parametrize("articles", [1, 4])
def test_a_pool_has_the_articles_of_its_questions_and_not_more_than_there_are(tmp_path, articles):
    files = [write(tmp_path / "a.json", [HOTPOT]), write(tmp_path / "more.json", DISTRACTORS)]
    with pytest.raises(SecateurError, match=r"articles: \d, but the pool has 2 beside its questions and 1 more"):
        load_corpus({"kind": "hotpotqa", "articles": articles}, named_files(("pool", ...), files))
