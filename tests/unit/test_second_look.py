"""The second look: features, trees, the model's file, folds, and the ranker that reads them."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from secateur.commands.fitting import fit as fit_command
from secateur.config import compose, plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.models.locate import locate
from secateur.ranking import rank
from secateur.ranking import second_look as module
from secateur.ranking.group import Group, Questions
from secateur.ranking.look import Look, Seen
from secateur.ranking.scorers import second_look
from secateur.ranking.second_look import Example, Model, fit, levelled, looked
from secateur.ranking.trees import fitted

CONF = Path(__file__).parents[2] / "conf"
TEXTS = [
    "Free Guy is a film that Shawn Levy directed.",
    "Shawn Levy was born in Montreal.",
    "Montreal is a city on the Saint Lawrence.",
    "The Big Fire is a film about a fire in Ghent.",
    "Ghent has a harbour. It was founded by monks.",
    "A harbour is where ships rest.",
]
TITLES = ["Free Guy", "Shawn Levy", "Montreal", "The Big Fire", "Ghent", "Harbour"]
QUESTIONS = ["Where was the director of Free Guy born?", "Who founded the city of The Big Fire?", "What is a harbour?"]
GOLD = [frozenset({0, 1}), frozenset({3, 4}), frozenset({5})]


def embed(texts):
    """Bags of letter trigrams of length one: deterministic, and alike for texts that share words."""
    vectors = np.zeros((len(texts), 64), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for n in range(len(text) - 2):
            row[sum(text[n : n + 3].lower().encode()) % 64] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


def group(order=range(6)) -> Group:
    order = list(order)
    return Group([TEXTS[n] for n in order], [TITLES[n] for n in order], np.arange(len(order)), embed)


@pytest.fixture(scope="module")
def settings():
    spec = compose.option(CONF, "rankers", "multihop").scorers["second_look"]
    return plugins.settings("ranker", spec, "conf/rankers", "second_look")


@pytest.fixture(scope="module")
def example(settings) -> Example:
    """Each question eight times, so that trees have something to split."""
    return Example(Look(settings, group(), 7), QUESTIONS * 8, GOLD * 8)


@pytest.fixture(scope="module")
def model(example) -> Model:
    return fit([example], 2)


def test_trees_equal_scikit_learn():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 5)).astype(np.float32)
    labels = features[:, 0] * features[:, 1] > 0.2
    trees = fitted(features, labels, (0, 1), max_iter=20)
    own = [HistGradientBoostingClassifier(random_state=seed, max_iter=20).fit(features, labels) for seed in (0, 1)]
    expected = np.mean([one.predict_proba(features) for one in own], 0)[:, 1]
    assert np.allclose(trees.probabilities(features), expected, atol=1e-6)


def test_the_model_survives_its_file(model, tmp_path):
    path = tmp_path / "model.npz"
    replace(model, level=(0.25, 1.5)).save(path)
    read = Model.load(path)
    assert (read.share, read.level) == (model.share, (0.25, 1.5))
    for one, other in zip(model.passes, read.passes, strict=True):
        assert all(np.array_equal(array, other.arrays("p")[name]) for name, array in one.arrays("p").items())


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_another_file_is_refused(content, tmp_path):
    if content is not None:
        (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(SecateurError, match="holds no model of a second look"):
        Model.load(tmp_path / "model.npz")


def ranked_alone(look: Look, question: str) -> dict:
    """The rankings of one question."""
    return {name: part[0] for name, part in look.rankings([question]).items()}


def test_a_model_learns_what_it_was_shown(model, example):
    for question, gold in zip(QUESTIONS, GOLD, strict=True):
        seen, p = looked(model, example.look, question, ranked_alone(example.look, question))
        assert set(seen.places[np.argsort(-p, kind="stable")[: len(gold)]].tolist()) == gold


def test_the_share_is_the_mean_of_one_over_gold_passages(model):
    assert model.share == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)


def test_a_question_never_meets_a_model_that_was_fitted_on_it(monkeypatch):
    trained: list[set[int]] = []
    half = SimpleNamespace(probabilities=lambda features: np.full(len(features), 0.5))
    monkeypatch.setattr(module, "_fitted", lambda seen, labels: trained.append({id(s) for s in seen}) or half)
    seen = [Seen(np.array([n]), np.zeros((1, 3), np.float32)) for n in range(10)]
    module._by_folds(seen, [np.array([True])] * 10, [n % 5 for n in range(10)])
    assert trained == [{id(one) for n, one in enumerate(seen) if n % 5 != fold} for fold in range(5)]


def test_a_question_alone_equals_itself_in_company(settings):
    together = second_look.score(settings, group(), Questions(QUESTIONS), 7)
    for n, question in enumerate(QUESTIONS):
        alone = second_look.score(settings, group(), Questions([question]), 7)
        assert np.array_equal(alone[0], together[n])


def test_scores_are_shares_of_what_was_looked_at_and_below_minus_one_elsewhere(settings):
    narrow = replace(settings, candidates=1, width=1, entities=1)
    scores = second_look.score(narrow, group(), Questions(QUESTIONS), 7)
    share = Model.load(Path(locate(settings.weights))).share
    looked_at = scores >= 0
    assert looked_at.any(1).all() and not looked_at.all()
    assert (scores[looked_at] <= share).all() and (scores[~looked_at] <= -1).all()


def test_where_articles_are_long_the_first_step_orders_and_probabilities_go_by_its_places(settings):
    one = Group(TEXTS, [TITLES[0]] * 6, np.zeros(6, np.int64), embed)
    questions = Questions(QUESTIONS)
    short, long = (second_look.score(replace(settings, article=most), one, questions, 7) for most in (6, 5))
    first = Look(settings, one, 7).rankings(QUESTIONS)["first"]
    assert np.array_equal(np.argsort(-long, 1, kind="stable"), np.argsort(-first, 1, kind="stable"))
    assert np.array_equal(np.sort(long), np.sort(short))
    rows = [{"passage_id": f"p{n}", "position": n, "text": text} for n, text in enumerate(TEXTS)]
    passages = TABLES["passages"].frame([row | {"doc_id": "d", "group_id": "g"} for row in rows])
    assert [*second_look.check(settings, None, passages, False)] == []
    (warning,) = second_look.check(replace(settings, article=5), None, passages, False)
    assert warning.startswith("1 of 1 groups have more than 5 passages an article")


def test_no_feature_depends_on_the_order_of_passages(settings):
    """Places, ids and ties apart, the candidates of a question are described alike wherever they stand."""
    order = [3, 5, 1, 0, 4, 2]
    for question in QUESTIONS:
        seen = []
        for places in (range(6), order):
            look = Look(settings, group(places), 7)
            scores = ranked_alone(look, question)
            one = look.seen(question, scores, look.first_chain(scores))
            named = [list(places)[n] for n in one.places.tolist()]
            seen.append(one.features[np.argsort(named)])
        assert np.allclose(seen[0], seen[1], atol=1e-4)


@pytest.mark.parametrize("texts", [["One passage alone."], ["Same.", "Same.", "Same."], ["", "A text."]])
def test_few_and_equal_passages_are_ranked(settings, texts):
    few = Group(texts, [""] * len(texts), np.arange(len(texts)), embed)
    scores = second_look.score(settings, few, Questions(["What is a passage?"]), 7)
    assert scores.shape == (1, len(texts)) and np.isfinite(scores).all()


def test_the_next_chain_is_the_most_probable(settings):
    look = Look(settings, group(), 7)
    scores = ranked_alone(look, QUESTIONS[0])
    seen = look.seen(QUESTIONS[0], scores, look.first_chain(scores))
    p = np.linspace(0, 1, len(seen.places))
    chain = look.next_chain(seen, p)
    assert chain.places == seen.places[::-1][: settings.width].tolist()
    assert chain.weights == sorted(p.tolist(), reverse=True)[: settings.width]
    assert chain.probabilities[int(seen.places[-1])] == 1


def test_a_level_moves_probabilities_and_keeps_their_order(model, example):
    doubtful = replace(model, level=(-4.0, 0.5))
    own, (before, after) = levelled(doubtful, [example])
    assert after < before
    for question in QUESTIONS:
        scores = ranked_alone(example.look, question)
        shipped, levelled_to = (looked(one, example.look, question, scores)[1] for one in (doubtful, own))
        assert np.array_equal(np.argsort(-shipped, kind="stable"), np.argsort(-levelled_to, kind="stable"))
        assert levelled_to.max() > shipped.max()
    assert own.share == model.share


def test_a_level_that_would_turn_the_order_round_is_refused(model, example):
    wrong = Example(example.look, example.questions, [frozenset(range(6)) - gold for gold in example.gold])
    with pytest.raises(SecateurError, match="a level cannot mend an order"):
        levelled(model, [wrong])


def test_a_run_with_another_embedder_warns(monkeypatch):
    told = []
    ctx = SimpleNamespace(warn=told.append, counts={}, cache=None, log=None, progress=lambda *_: [])
    spec = compose.option(CONF, "rankers", "multihop").scorers["second_look"]
    rankers = SimpleNamespace(scorers={"second_look": spec}, suffixes=(), keep=5, neighbour=0.5)
    monkeypatch.setattr(rank, "Embedder", lambda *_: SimpleNamespace(tell_split=lambda *_: None))
    passages, questions = TABLES["passages"].empty(), TABLES["questions"].empty()
    for model, warnings in ((second_look.FITTED_WITH, 0), ("another/model", 1)):
        told.clear()
        cfg = SimpleNamespace(rankers=rankers, embedder=SimpleNamespace(model=model))
        rank.rank(cfg, passages, questions, None, ctx)
        assert sum("another/model" in text for text in told) == warnings
    assert ctx.counts["vectors_not_fitted_second_look"] == 1


def test_secateur_fit_writes_a_model_and_refuses_too_few_questions(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "mine"
    folder.mkdir()
    passages = [{"id": str(n), "doc": str(n), "title": TITLES[n], "text": TEXTS[n]} for n in range(6)]
    asked = [
        {"id": str(n), "question": QUESTIONS[n % 3] + " " * n, "evidence": sorted(map(str, GOLD[n % 3]))}
        for n in range(12)
    ]
    for name, rows in (("passages", passages), ("questions", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.chdir(CONF.parent)
    fit_command(folder, tmp_path / "own.npz", 10)
    assert "fitted on 12 questions" in capsys.readouterr().out
    assert Model.load(tmp_path / "own.npz").level != (0.0, 1.0)
    with pytest.raises(SecateurError, match="12 questions have evidence in its passages, 40 are needed"):
        fit_command(folder, tmp_path / "none.npz", 40)
    assert not (tmp_path / "none.npz").exists()
