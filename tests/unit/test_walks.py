"""Names, mentions and walks on a graph small enough to walk by hand."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from secateur.graph.walks import beam, pagerank
from secateur.ranking.mentions import ABOUT, NAME, PHRASE, mentions_of
from secateur.ranking.names import canonical, longest_spans, names_in, spans_of
from secateur.ranking.passage_graph import PassageGraph

NAMING = SimpleNamespace(joins={"of", "the"}, skipped={"the", "it", "he", "in", "a"}, longest=6)
TEXTS = {  # document -> title, sentences
    "film": ("Free Guy (film)", ["Free Guy is a film.", "It was directed by Shawn Levy."]),
    "levy": ("Shawn Levy", ["He was born in Montreal."]),
    "city": ("Montreal", ["It is a city of Quebec.", "It has a port."]),
    "rain": ("Rain", ["It falls."]),
}
BEAM = {
    "width": 1, "depth": 1, "step": 10.0, "mention": 0.5, "rest": 0.0, "decay": 0.5, "fade": 0.8, "anchor": 0.0, "named": 0.0, "longest": 6,
}  # fmt: skip
RANK = {"linked": 1, "damping": 0.5, "passages": 0.05, "sharpness": 1.0}
RANK |= {"tolerance": 1e-10, "weight": 1.0, "longest": 6}
QUESTION = "Where was the director of Free Guy born?"


def passages(texts=TEXTS) -> pl.DataFrame:
    rows = [(f"{d}:{n}", d, title, text) for d, (title, own) in texts.items() for n, text in enumerate(own)]
    found = pl.DataFrame(rows, ["passage_id", "doc_id", "title", "text"], orient="row", infer_schema_length=None)
    return found.with_columns(speaker=pl.lit(None, pl.String))


def graph(texts=TEXTS, phrases=None, walked=True) -> tuple[PassageGraph, list[str]]:
    own = passages(texts)
    ids = own["passage_id"].to_list()
    _, docs = np.unique(own["doc_id"].to_numpy(), return_inverse=True)
    fields = [f"{title or ''} {text}" for title, text in own.select("title", "text").iter_rows()]
    found = mentions_of(own, phrases or {}, NAMING)
    cfg = SimpleNamespace(k1=1.2, b=0.75, phrases=walked)
    return PassageGraph.of(found, {p: n for n, p in enumerate(ids)}, docs, fields, cfg), ids


def walked(kind, settings, texts=TEXTS, question=QUESTION, first="film:1"):
    """(scores by passage, where each came from) of a walk from one passage that ranks first."""
    own, ids = graph(texts)
    scores = np.array([[1.0 if p == first else 0.0 for p in ids]])
    (found,), (came,) = kind.walk(kind.Settings(**settings), own, [question], scores)
    before = {p: ids[n] if n >= 0 else None for p, n in zip(ids, came.tolist(), strict=True)}
    return dict(zip(ids, found.tolist(), strict=True)), before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("He met Ann Lee. Bob left.", ["ann lee", "bob"]),
        ("It is by J. K. Rowling Jr. of Kent.", ["j k rowling jr of kent"]),
        ("The end of the war.", []),
        ("In 1999 the 2012 Olympics", ["2012 olympics"]),
        ("Ångström's law", ["angstrom"]),
        ("the Ballon d'Or of l’Équipe", ["ballon d or of l equipe"]),
        ("by Ann\nLee Jr", ["ann", "lee jr"]),
        ("...", []),
    ],
)
def test_names_are_spans_of_capitalised_words(text, names):
    assert names_in(text, NAMING.joins, NAMING.skipped) == names


def test_a_name_inside_a_longer_one_and_a_single_word_do_not_name_unless_quoted_or_after_an_elided_word():
    known = {"school on fire", "school", "fire", "film"}
    assert spans_of("Which film is School On Fire?", known, 4) == ["film", "school", "school on fire", "fire"]
    assert longest_spans("Which film is School On Fire?", known, 4) == ["school on fire"]
    known = {"lulu", "fire", "artagnan", "who"}
    assert longest_spans('Who made "Lulu" and “Fire” of d\'Artagnan?', known, 4) == ["lulu", "fire", "artagnan"]
    assert canonical("CAFE") == canonical("café")


def test_without_a_title_an_article_is_about_the_name_that_it_begins_with():
    texts = {"a": (None, ["Ann Lee was born in Kent.", "She left."]), "b": (None, ["Nobody left."])}
    about = mentions_of(passages(texts | {"c": (None, ["was born."])}), {}, NAMING).filter(role=ABOUT)
    assert about.select("passage_id", "entity").rows() == [("a:0", "ann lee"), ("a:1", "ann lee"), ("b:0", "nobody")]
    small = {"a": ("It", ["A novel by King."]), "b": ("Rain", ["It falls."])}  # a title, and no name in a text
    found = mentions_of(passages(small), {}, NAMING).filter(entity="it")
    assert found.select("passage_id", "role").rows() == [("a:0", ABOUT)]


def test_titles_that_differ_in_their_parenthesis_alone_are_two_topics_that_their_name_reaches():
    titles = ("Iron Man (film)", "Iron Man (song)", "Kent (town)")
    texts = {doc: (title, ["It sold."]) for doc, title in zip("abc", titles, strict=True)}
    about = mentions_of(passages(texts), {}, NAMING).filter(role=ABOUT)
    assert about["entity"].to_list() == ["iron man film", "iron man song", "kent"]
    assert mentions_of(passages(texts), {}, NAMING).filter(entity="iron man")["passage_id"].to_list() == ["a:0", "b:0"]
    texts = {"a": ("Ann Lee", ["A writer."]), "b": ("Ann Lee (singer)", ["Sings."]), "c": ("Kent", ["Ann Lee left."])}
    scores, _ = walked(beam, BEAM, texts | {"d": ("Rain", ["It falls."])}, question="Who left Kent?", first="c:0")
    assert min(scores["a:0"], scores["b:0"]) > 0


def test_phrases_are_mentioned_once_and_acronyms_are_what_they_stand_for():
    texts = {"a": ("Law", ["The Digital Services Act (DSA) is a law."]), "b": ("Fines", ["It names the DSA."])}
    found = mentions_of(passages(texts), {"b:0": ["the DSA", "large fines", "Fines"]}, NAMING)
    own = {(e, role) for p, e, role in found.iter_rows() if p == "b:0"}
    assert own == {("fines", ABOUT), ("digital services act", NAME), ("dsa", PHRASE), ("large fines", PHRASE)}


def test_phrases_are_walked_over_where_the_retriever_says_so():
    phrases = {"rain:0": ["a port"], "city:1": ["a port"]}
    own, ids = graph(phrases=phrases)
    bare, _ = graph(phrases=phrases, walked=False)
    assert own.entity_passages[own.entities["port"]].tolist() == [ids.index("city:1"), ids.index("rain:0")]
    assert "port" not in bare.entities
    names, _ = graph()
    assert names.entities.keys() == bare.entities.keys()
    np.testing.assert_array_equal(bare.idf, names.idf)


def test_a_step_goes_to_the_article_about_a_name_that_the_question_lacks_and_a_second_goes_on_from_it():
    scores, came = walked(beam, BEAM)
    assert max(scores, key=scores.get) == "levy:0"
    assert came["levy:0"] == "film:1"
    assert came["rain:0"] is None
    assert scores["rain:0"] == scores["city:0"] == 0
    scores, came = walked(beam, BEAM | {"depth": 2})
    assert came["city:0"] == "levy:0"
    assert 0 < scores["city:0"] < scores["levy:0"]  # a further step is worth less
    scores, came = walked(beam, BEAM, question="Did Shawn Levy direct Free Guy?")
    assert (scores["levy:0"], came["levy:0"]) == (0, None)  # a name in the question is no bridge
    scores, _ = walked(beam, BEAM | {"depth": 0, "named": 6.0})
    assert scores["film:0"] > 0 == scores["levy:0"]  # articles that the question names gain
    scores, came = walked(beam, BEAM, TEXTS | {"alone": (None, ["nothing here."])}, first="alone:0")
    assert (max(scores, key=scores.get), came["alone:0"]) == ("alone:0", None)


def test_what_is_left_of_the_question_decides_between_passages_of_one_article():
    texts = TEXTS | {"levy": ("Shawn Levy", ["He likes tea.", "He was born in Montreal."])}
    scores, _ = walked(beam, BEAM | {"rest": 0.3}, texts)
    assert scores["levy:1"] > scores["levy:0"]
    plain, _ = walked(beam, BEAM, texts)
    assert plain["levy:1"] == plain["levy:0"]


def test_a_path_begins_where_a_name_of_the_question_is_mentioned_and_counts_by_how_rare_that_is():
    nobody, _ = walked(beam, BEAM, question="where was the director born?")
    assert nobody["levy:0"] == 0
    whole, half = (walked(beam, BEAM | {"anchor": anchor})[0]["levy:0"] for anchor in (0.0, 0.3))
    assert 0 < half < whole
    own, _ = graph()
    rarest = own.idf[own.entities["free guy"]]
    assert half / whole == pytest.approx((rarest - 0.3) / 0.7 / rarest)


def test_no_step_stays_in_its_article_and_a_cycle_ends():
    texts = {"a": ("Ann", ["Ann met Bob in Kent."]), "b": ("Bob", ["Bob met Ann."]), "c": ("Rain", ["It falls."])}
    scores, came = walked(beam, BEAM | {"depth": 5}, texts, question="Who was in Kent?", first="a:0")
    assert came == {"a:0": "b:0", "b:0": "a:0", "c:0": None}
    assert np.isfinite(list(scores.values())).all()


@pytest.mark.parametrize("kind", [beam, pagerank])
def test_a_graph_without_an_entity_or_with_one_in_every_article_changes_no_order(kind):
    settings = BEAM | {"named": 6.0, "rest": 0.1} if kind is beam else RANK
    texts = {"a": (None, ["nothing here."]), "b": (None, ["nor here."])}
    scores, came = walked(kind, settings, texts, question="what is it?", first="b:0")
    assert scores["b:0"] > scores["a:0"]
    assert set(came.values()) == {None}
    if kind is beam:
        texts = {d: (d.title(), [f"{d.title()} is in Kent."]) for d in ("ash", "bow", "cob")}
        scores, _ = walked(beam, BEAM, texts, question="what is it?", first="ash:0")
        assert scores["bow:0"] == pytest.approx(0)
    else:
        scores, _ = walked(pagerank, RANK)
        assert scores["levy:0"] > scores["rain:0"]  # mass flows over the bridge


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9])
def test_masses_are_those_of_power_iteration(damping):
    rng = np.random.default_rng(0)
    links = (rng.random((20, 12)) < 0.15).astype(float)  # passages, entities
    links[3], links[:, 5] = 0, 0  # nodes that lead nowhere
    whole = np.block([[np.zeros((12, 12)), links.T], [links, np.zeros((20, 20))]])
    total = whole.sum(1, keepdims=True)
    steps = np.divide(whole, total, out=np.zeros_like(whole), where=total > 0)
    restart = rng.random((4, 32))
    restart /= restart.sum(1, keepdims=True)
    graph = PassageGraph((), [""] * 20, dict.fromkeys(range(12)), np.array(np.nonzero(links)), (), 1.0, 1.0)
    found = pagerank.masses(graph.steps, restart, damping, 1e-10)
    alone = [pagerank.masses(graph.steps, restart[row : row + 1], damping, 1e-10) for row in range(4)]
    np.testing.assert_array_equal(found, np.concatenate(alone))
    for own, start in zip(found, restart, strict=True):
        steps[total[:, 0] == 0] = start
        mass = start
        for _ in range(1000):
            mass = damping * mass @ steps + (1 - damping) * start
        assert np.abs(own - mass).sum() <= 1e-10
    np.testing.assert_allclose(found.sum(1), 1)
    restart[1] = np.nan  # a question without any restart: it ends, and changes no other
    with_nan = pagerank.masses(graph.steps, restart, damping, 1e-10)
    np.testing.assert_array_equal(np.isnan(with_nan).all(1), [False, True, False, False])
    np.testing.assert_array_equal(with_nan[[0, 2, 3]], found[[0, 2, 3]])


@pytest.mark.parametrize(("text", "told"), [("Nothing is shared.", True), ("It stands in Kent.", False)])
def test_a_graph_that_leads_from_no_article_to_another_is_told(text, told):
    from scripts import find_mentions

    own = passages({"a": ("Ash", ["Ash is in Kent."]), "b": ("Bow", [text])})
    said, shown = [], own.with_columns(position=pl.int_range(pl.len()), group_id=pl.lit("g"))
    job = SimpleNamespace(counts={}, warn=said.append)
    rule = SimpleNamespace(joins=("of",), skipped=("it", "nothing"), longest=6, prune="none")
    ends = pl.DataFrame({"entity_id": [0, 1], "text": ["ash", "an island"]})
    edges = pl.DataFrame({"edge_id": [0], "h": [0], "t": [1]})
    sources = shown.select("passage_id", "doc_id", "position", edge_id=0, n=0)  # both say it: a phrase in two articles
    outputs, inputs = {}, {"passages": shown, "entities": ends, "edges": edges, "edge_sources": sources}
    find_mentions.run(SimpleNamespace(consolidation=rule), inputs, outputs, job)
    assert bool(said) == told
    assert (job.counts["names_in_several_articles"] == 0) == told
    assert job.counts["entities_in_several_articles"] > job.counts["names_in_several_articles"]
    assert set(outputs["mentions"]["role"]) == {ABOUT, NAME, PHRASE}
    assert not said or said == ["no name occurs in two articles: a walk over names reaches no passage"]
