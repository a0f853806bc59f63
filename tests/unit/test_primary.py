"""Primary families: every declared pair differs in one named thing, and Holm's correction covers the family alone."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from secateur.config import plugins
from secateur.config.compose import names, option
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.evaluation.comparison import AXES, PRIMARY
from secateur.evaluation.primary import primary_family
from secateur.evaluation.resampling import holm
from secateur.graph.retrieval.ranking import GraphRanking
from secateur.planning.contents import _family
from secateur.planning.plan import experiment, variants
from secateur.planning.primary import primary_tests
from secateur.ranking.group import Group, Questions
from secateur.ranking.mentions import mentions_of
from secateur.report.finding import both_ways
from secateur.report.leaderboard import primary_table

CONF = Path(__file__).parents[2] / "conf"
CFG = SimpleNamespace(permutations=500, permutations_at_floor=0, min_units=5, seed=7)

SECOND = {"lines", "adds", "weight", "decay"}  # the second question of `two_step`
DIFFERS = {  # the word of a declaration: the settings that may differ, and no other
    "edges": {"anywhere"},
    "steps": {"kind", "width", "step", "mention", "entities", "fade"},
    "graph": {"kind", "w_run", "w_line", "walk", "keep", *SECOND},  # `keep`: more passages than any budget holds
}
SPOKEN = {"k1": "lexical.k1", "b": "lexical.b", "title": "lexical.title", "w_bm25": "bm25", "w_dense": "dense"}


def ranking_of(variant) -> dict:
    """All settings of a ranking, those of both families under one name."""
    shared = {"embedder": variant["embedder"], "neighbour": variant["pick"].endswith("+neighbour")}
    if variant["family"] == "lexical":
        rankers = option(CONF, "rankers", variant["rankers"])
        spec = {"keep": rankers.keep} | dict(rankers.scorers[variant["pick"].removesuffix("+neighbour")])
        lexical = {f"lexical.{name}": value for name, value in spec.pop("lexical").items()}
        return shared | spec | lexical | {"bm25": 1, "lexical.kind": lexical["lexical.kind"]}
    retriever, consolidation = (option(CONF, group, variant[group]) for group in ("retriever", "consolidation"))
    walk = dict(retriever.walk)
    settings = {new: getattr(retriever, old) for old, new in SPOKEN.items()} | {"lexical.kind": "lucene"}
    settings |= {name: walk.pop(name) for name in ("named", "longest")}
    settings |= {"keep": retriever.passages, "joins": list(consolidation.joins), "skipped": list(consolidation.skipped)}
    assert (retriever.phrases, consolidation.longest) == (False, settings["longest"])
    return shared | settings | {"kind": "graph", "walk": walk, "w_run": retriever.w_run, "w_line": retriever.w_line}


DECLARED = [name for name in names(CONF, "experiment") if experiment(CONF, name).primary]


@pytest.mark.parametrize("name", DECLARED)
def test_the_rows_of_a_declared_pair_differ_in_one_named_thing(name):
    planned = {(v.dataset, v.system, v.order): v for v in variants(CONF, name)}
    for pair in experiment(CONF, name).primary:
        if pair["differs"] not in DIFFERS:
            continue
        places = [(dataset, order) for dataset, system, order in planned if system == pair["row"]]
        assert places
        for dataset, order in places:
            row, minus = (planned[dataset, pair[side], order] for side in ("row", "minus"))
            assert [axis for axis in AXES if dict(row.axes)[axis] != dict(minus.axes)[axis]] == ["ranker"]
            left, right = ranking_of(row), ranking_of(minus)
            differing = {key for key in left.keys() | right.keys() if left.get(key) != right.get(key)}
            assert differing <= DIFFERS[pair["differs"]], f"{pair['row']} minus {pair['minus']}"
            assert left["named"] == right["named"] > 0


@pytest.mark.parametrize("pair", experiment(CONF, "locomo").primary, ids=lambda pair: pair["row"])
def test_declared_scores_of_ecs_differ_in_scores_of_the_language_model_alone(pair):
    (ecs,) = {v["rankers"] for v in variants(CONF, "locomo") if v.system == "ecs"}
    rankers = option(CONF, "rankers", ecs)
    row, minus = (set(rankers.utilities[pair[side].removeprefix("ecs/")]["of"]) for side in ("row", "minus"))
    assert row > minus and row - minus <= set(rankers.scores)


def test_a_walk_is_no_plain_ranking_to_which_others_are_compared():
    families = {variant.system: _family(variant) for variant in variants(CONF, "multihop")}
    assert (families["requery"], families["named_two_step"]) == ("graph", "lexical")


def declared(name: str, *overrides: str, **more) -> list[dict]:
    def options(group, value):
        return option(CONF, group, value, overrides)

    return primary_tests(options("experiment", name), variants(CONF, name, overrides), options, name, **more)


def test_a_pair_is_tested_under_each_option_of_an_axis():
    tests = declared("multihop_readers", "experiment.axes.reader=[qwen2_5_0_5b]")
    expected = [("requery", "named_two_step"), ("requery:qwen2_5_0_5b", "named_two_step:qwen2_5_0_5b")]
    assert [(t["row"], t["minus"]) for t in tests] == expected


@pytest.mark.parametrize(
    ("name", "systems", "count"),
    [
        ("locomo", "[rankers]", 0),
        ("multihop", "[beam,named_two_step]", 2),
        ("multihop", "[beam]", 0),
        ("locomo", "[rankers,ecs]", 6),
    ],
)
def test_an_experiment_that_is_narrowed_has_the_tests_of_the_rows_it_keeps(name, systems, count):
    narrowed = (f"experiment.systems={systems}", "experiment.axes={}", "experiment.exclude=[{order: aware}]")
    assert len(declared(name, *narrowed, is_whole=False)) == count


TEXTS = [  # article, title, sentence
    ("a", "Free Guy", "Free Guy is a comedy film."),
    ("a", "Free Guy", "It was directed by Shawn Levy."),
    ("b", "Shawn Levy", "He was born in Montreal."),
    ("c", "Montreal", "Montreal has a port."),
    ("d", "Rain", "Somebody was born in the rain."),
]
QUESTIONS = ["Where was the director of Free Guy born?", "Does Montreal have a port?", "Who was born?"]


def embed(texts) -> np.ndarray:
    counts = np.array([[text.lower().count(letter) for letter in "abdeghimnorsty"] for text in texts], np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_without_its_graph_beam_is_named_two_step_without_its_second_question():
    docs, titles, texts = zip(*TEXTS, strict=True)
    retriever = option(CONF, "retriever", "beam+walk,depth=0+w_line=0+w_run=0")
    consolidation = option(CONF, "consolidation", "default")
    ids = [str(n) for n in range(len(texts))]
    passages = pl.DataFrame(
        {"passage_id": ids, "doc_id": docs, "title": titles, "text": texts, "speaker": None, "position": range(5)}
    )
    edges = pl.DataFrame(schema={"passage_id": pl.String, "run_id": pl.Int32, "n": pl.Int32})
    mentions = mentions_of(passages, {}, consolidation)
    graph = GraphRanking(retriever, 0, passages, None, edges, mentions, SimpleNamespace(embed=embed))
    walked, _ = graph.scores(QUESTIONS, None)
    spec = option(CONF, "rankers", "multihop").scorers["named_two_step"] | {"weight": 0}
    group = Group(texts, titles, np.unique(docs, return_inverse=True)[1], embed, ids)
    settings = plugins.settings("ranker", spec, "conf/rankers/multihop")
    asked = plugins.load("ranker", spec["kind"]).score(settings, group, Questions(QUESTIONS), 0)
    np.testing.assert_allclose(walked, asked, atol=1e-6)
    assert np.ptp(walked) > 5  # the bonus for names is in both


GOOD = {"row": "graph_zsum", "minus": "title_zsum", "differs": "ranker", "metrics": "[evidence_recall@claim]"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row": "grpah_zsum"}, r"conf/experiment/mine\d+\.yaml: primary\[0\]\.row names grpah_zsum, .*did you mean 'graph_zsum'"),
        ({"minus": "two_step"}, r"primary\[0\]\.minus names two_step, allowed: graph_zsum, .*Fix"),
        ({"metrics": "[evidence_recal@claim]"}, r"primary\[0\]\.metrics names evidence_recal@claim, .*did you mean 'evidence_recall"),
        ({"metrics": "[evidence_recall@65]"}, r"primary\[0\]\.metrics names evidence_recall@65, allowed: .*evidence_recall@64, "),
        ({"metrics": "[answer_gain@claim]"}, r"primary\[0\]\.metrics names answer_gain@claim, allowed"),
        ({"metrics": "[passage_recall@5]"}, r"primary\[0\]\.metrics names passage_recall@5, allowed"),
        ({"differs": "form"}, r"primary\[0\]\.differs is 'form', but graph_zsum and title_zsum differ in ranker"),
        ({"row": "'graph_zsum:lines'"}, r"primary\[0\]\.differs is 'ranker', but graph_zsum:lines and title_zsum differ in ranker, form"),
        ({"minus": None}, r"primary\[0\] lacks minus; allowed: row, minus, differs, metrics"),
        ({"axis": "reader"}, r"primary\[0\] has axis; allowed"),
        ({"under": "readr"}, r"primary\[0\]\.under names readr, .*did you mean 'reader'"),
    ],
)  # fmt: skip
def test_a_pair_that_does_not_fit_names_its_file_and_key(write, changes, message):
    pair = ", ".join(f"{key}: {value}" for key, value in (GOOD | changes).items() if value)
    with pytest.raises(SecateurError, match=message):
        write(systems="[graph_zsum, title_zsum]", axes="{assembly: [lines]}", primary=f"[{{{pair}}}]")


SCORES = {"row": "ecs/fitted:free", "minus": "ecs/fitted:lexical"}
SCORES |= {"differs": "language_model", "metrics": ["f1_at_gold"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row": "esc/fitted:free"}, r"primary\[0\]\.row names esc, allowed: .*did you mean 'ecs'"),
        ({"row": "ecs/fitted:fre"}, r"primary\[0\]\.row names fitted:fre, .*did you mean 'fitted:free'"),
        ({"minus": "rankers"}, r"primary\[0\]\.minus names rankers, allowed: ecs"),
        ({"minus": "ecs/fitted:aware"}, r"primary\[0\]\.minus names fitted:aware, allowed: fitted:lexical"),
        ({"under": "reader"}, r"primary\[0\]\.under names reader, allowed: none"),
        ({"differs": "reader"}, r"primary\[0\]\.differs names reader, allowed: language_model"),
        ({"metrics": ["answer_gain@claim"]}, r"primary\[0\]\.metrics names answer_gain@claim, allowed: f1_at_gold"),
    ],
)
def test_scores_that_do_not_fit_are_named(changes, message):
    spec = replace(experiment(CONF, "locomo"), primary=(SCORES | changes,))
    with pytest.raises(SecateurError, match=message):
        primary_tests(spec, variants(CONF, "locomo"), lambda group, name: option(CONF, group, name), "locomo")


def figures(**values: float) -> pl.DataFrame:
    """Figures of 12 questions for each system: its value, more on every other question."""
    rows = [
        (system, "blind", None, False, metric, f"q{n}", f"c{n}", value * (1 + n % 3))
        for system, value in values.items()
        for metric in ("a", "b")
        for n in range(12)
    ]
    columns = ("system", "order", "scorer", "answer_aware", "metric", "question_id", "cluster_id", "value")
    return pl.DataFrame(rows, columns, orient="row", schema_overrides={"scorer": pl.String})


TESTS = [{"row": row, "minus": "twin", "metric": metric} for row in ("walk", "beam") for metric in ("a", "b")]


def family():
    parts = {"one": figures(walk=0.2, beam=0.1, twin=0.1), "two": figures(walk=0.3, twin=0.1)}
    return primary_family({name: (part, "all", "test") for name, part in parts.items()}, TESTS, CFG)


def test_p_is_adjusted_over_the_tests_of_all_data_sets_and_metrics():
    found, missing = family()
    assert problems(TABLES["comparisons"], found) == []
    assert found["axis"].unique().to_list() == [PRIMARY]
    assert missing == ["beam minus twin, a on two", "beam minus twin, b on two"]
    assert found.height == 6
    tested = found.filter(pl.col("difference") > 0)
    np.testing.assert_allclose(tested["p_holm"], holm(tested["p"].to_numpy()))  # four tests; beam equals its twin
    assert set(found.filter(system="beam")["p_holm"]) == {1}


def test_a_set_is_resampled_by_its_own_clusters_though_another_has_the_same_ids():
    questions = figures(walk=0.3, twin=0.1)
    articles = questions.with_columns(cluster_id=pl.col("question_id").str.tail(1))
    parts = {"one": (questions, "all", "test"), "two": (articles, "all", "test")}
    found, _ = primary_family(parts, TESTS[:1], CFG)
    assert found.select("dataset", "units").rows() == [("one", 12), ("two", 10)]


def test_scores_of_one_system_are_tested_where_both_see_the_answer_or_neither():
    free = figures(ecs=0.1).with_columns(scorer=pl.lit("plain"))
    aware = free.with_columns(answer_aware=pl.lit(True))
    joined = aware.with_columns(scorer=pl.lit("joined"), value=pl.col("value") * 2)
    test = {"row": "ecs/joined", "minus": "ecs/plain", "metric": "a"}
    found, missing = primary_family({"one": (pl.concat([aware, free, joined]), "all", "test")}, [test], CFG)
    assert problems(TABLES["comparisons"], found) == [] == missing
    pairs = found.select("system", "scorer", "baseline_scorer", "answer_aware")
    assert pairs.rows() == [("ecs", "joined", "plain", True)]


def test_the_family_is_a_table_of_its_own_and_no_pair_of_other_tables():
    found, _ = family()
    drawn = primary_table(found, 5, (64, 512))
    expected = [("one", "walk", "twin"), ("one", "beam", "twin"), ("two", "walk", "twin")]
    assert (drawn.heads[3:], [row.cells[:3] for row in drawn.rows]) == (["a", "b"], expected)
    assert "(6): p after Holm over these alone" in drawn.caption
    assert both_ways(found).is_empty()
    assert both_ways(found, family=True).height == 12
    none, missing = primary_family({"one": (figures(walk=0.2), "all", "test")}, [], CFG)
    assert (none.height, missing, primary_table(none, 5, (64, 512))) == (0, [], None)
