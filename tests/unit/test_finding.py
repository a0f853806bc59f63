"""The finding: the paired difference of each system and its best baseline, and its sentence."""

import pytest
from tests.support.report_rows import CLAIM, metric, pair

from secateur.core.tables.catalog import TABLES
from secateur.report.finding import findings, lines, sentence, small_print

FAMILIES = {"graph_zsum": "graph", "apr": "graph", "title_zsum": "lexical", "rankers": "lexical"}
FAMILIES |= {"oracle_evidence": "control", "ecs": "utility", "myrag": "imported", "mine": "yours"}
MEANS = {"graph_zsum": 0.6, "title_zsum": 0.5}


def found(rows: list[dict], pairs: list[dict], told=lines, families=FAMILIES):
    return told(TABLES["metrics"].frame(rows), TABLES["comparisons"].frame(pairs), families, 10)


def of(means: dict[str, float], *pairs: dict):
    return found([metric(name, CLAIM, value) for name, value in means.items()], list(pairs))


BM25 = metric("rankers", CLAIM, 0.55, "bm25")
OVER_BM25 = pair(baseline="rankers", baseline_scorer="bm25", difference=0.05)
TURNED = pair("title_zsum", "graph_zsum", difference=-0.1, low=None, high=-0.02)
OF_GOLD = [pair(), pair(baseline="oracle_evidence"), pair("oracle_evidence")]


@pytest.mark.parametrize(
    ("means", "pairs", "expected"),
    [
        (MEANS, [pair(), OVER_BM25], [("graph_zsum", "rankers · bm25", 0.05, 0.02, 0.2)]),
        (MEANS, [pair(), OVER_BM25 | {"n": 10}], [("graph_zsum", "title_zsum", 0.1, 0.02, 0.2)]),  # on fewer questions
        (MEANS, [TURNED], [("graph_zsum", "title_zsum", 0.1, 0.02, None)]),  # whichever row was listed first
        # Only pairs that differ in the ranker alone count, over all questions, in a metric of findings.
        (MEANS, [pair(axis="form"), pair(metric="evidence_recall@64"), pair(subset="F1")], []),
        # Neither two graphs, nor two plain rankings, nor gold evidence.
        (MEANS | {"apr": 0.6}, [pair(baseline="apr")], []),
        (MEANS, [pair("title_zsum", "rankers", baseline_scorer="bm25")], []),
        (MEANS | {"oracle_evidence": 0.9}, OF_GOLD, [("graph_zsum", "title_zsum", 0.1, 0.02, 0.2)]),
    ],
)
def test_a_line_is_a_systems_difference_to_the_best_plain_ranking_of_its_kind(means, pairs, expected):
    made = found([*(metric(name, CLAIM, value) for name, value in means.items()), BM25], pairs)
    assert [(line.name, line.baseline, line.difference, line.low, line.high) for line in made] == expected


UP, DOWN = "+0.100, 95 % CI +0.020 to +0.200", "−0.100, 95 % CI −0.200 to −0.020"
LOWER = pair(difference=-0.1, low=-0.2, high=-0.02, p_holm=0.01)
UNCLEAR = f"graph_zsum and {{}} do not differ significantly in evidence after Holm: {UP}, unadjusted, n = 20."


@pytest.mark.parametrize(
    ("own", "said", "verdict"),
    [
        (pair(p_holm=0.004, n=40), f"graph_zsum holds more evidence than {{}}: {UP}, n = 40.", "significant at .05"),
        (LOWER, f"graph_zsum holds less evidence than {{}}: {DOWN}, n = 20.", "significant at .05"),
        (pair(p_holm=1.0), UNCLEAR, "not significant (unadjusted interval) at .05"),
    ],
)
def test_the_sentence_states_the_difference_and_the_small_print_its_test(own, said, verdict):
    made = of(MEANS, own)
    assert sentence("toy", made) == "toy: " + said.format("the best baseline (title_zsum)")
    of_test = f"after Holm (p {own['p_holm']:.4f}), {own['n']} questions in 20 units, 64 to 512 tokens."
    assert small_print(made, [64, 512]) == f"graph_zsum minus title_zsum: {verdict} {of_test}"


@pytest.mark.parametrize(
    ("n", "units", "more"), [(19, 19, "1 more questions"), (50, 9, "1 more documents with questions")]
)
def test_of_too_little_the_difference_is_stated_without_a_verdict(n, units, more):
    made = of(MEANS, pair(n=n, units=units, p_holm=0.0001))
    stated = f"toy: graph_zsum minus title_zsum: {UP}, n = {n}; about {more} are needed for a verdict."
    assert (sentence("toy", made), small_print(made, [64, 512])) == (stated, "")


@pytest.mark.parametrize(
    "pairs",
    [
        [pair(p_holm=0.01, n=500), pair("apr", n=12, units=12)],  # too few questions behind the higher mean
        [pair(p_holm=0.01), pair("apr", difference=-0.05, low=-0.1, high=0.02)],  # significantly ahead counts first
    ],
)
def test_the_sentence_is_about_what_is_significantly_ahead_rather_than_higher(pairs):
    assert sentence("toy", of(MEANS | {"apr": 0.9}, *pairs)).startswith("toy: graph_zsum ")


def test_what_sees_the_answer_is_not_what_the_sentence_is_about():
    rows = [metric(name, "f1_at_gold", v, c) for name, c, v in (("ecs", "free", 0.5), ("rankers", "bm25", 0.4))]
    rows += [row | {"answer_aware": True, "value": row["value"] + 0.3} for row in rows]
    free = pair("ecs", "rankers", scorer="free", baseline_scorer="bm25", metric="f1_at_gold", axis="strongest")
    made = found(rows, [free | {"answer_aware": True}, free])
    assert [line.aware for line in made] == [False, True]
    assert sentence("toy", made).startswith("toy: ecs · free and the best baseline (rankers · bm25) do not differ")


@pytest.mark.parametrize("p", [0.01, 0.06])
def test_the_small_print_names_a_higher_row_and_gold_evidence_is_none(p):
    made = of(MEANS | {"title_zsum:dense": 0.65, "oracle_evidence": 0.9}, pair(p_holm=p))
    assert small_print(made, [64, 512]).endswith(" The highest mean is that of title_zsum:dense.")
    assert "highest" not in small_print(of(MEANS, pair(p_holm=p)), [64, 512])


AT = {name: f"{name}_recall@myrag" for name in ("evidence", "token")}


def of_myrag(*pairs: dict):
    """The findings of an experiment with contexts made elsewhere, under the name myrag."""
    names = ("myrag", "mine", "graph_zsum", "title_zsum")
    rows = [metric(s, m, 0.5) for s in names for m in (CLAIM, *AT.values())]
    rows += [metric(s, f"tokens@{at}", 251.0) for s in names for at in ("claim", "myrag")]
    return list(found(rows, list(pairs), findings))


@pytest.mark.parametrize(
    ("pairs", "metric_of_it"),
    [
        ([pair("myrag", metric=AT["evidence"]), pair("myrag", metric=AT["token"])], AT["evidence"]),
        ([pair("myrag", metric=AT["token"])], AT["token"]),  # rewritten contexts hold no passage word for word
        ([pair("mine")], CLAIM),
        ([], CLAIM),
    ],
)
def test_the_finding_is_at_the_tokens_of_a_row_that_was_made_elsewhere(pairs, metric_of_it):
    ((_, made, said),) = of_myrag(pair(), pair(metric=AT["evidence"]), pair(metric=AT["token"]), *pairs)
    assert {line.metric for line in made} == {metric_of_it}
    own = metric_of_it.endswith("@myrag")
    assert (", at 251 and 251 tokens" in said) is own
    assert (", each question at the tokens of myrag" in small_print(made, [64, 512])) is own
    assert (", 64 to 512 tokens" in small_print(made, [64, 512])) is (not own)


def test_the_finding_is_about_the_users_row_and_stands_beside_our_best_one():
    lower = pair("myrag", metric=AT["evidence"], difference=-0.2, low=-0.3, high=-0.1, p_holm=0.01)
    ours = pair("myrag", "graph_zsum", metric=AT["evidence"], difference=-0.3, low=-0.4, high=-0.2, p_holm=0.2)
    ((_, made, said),) = of_myrag(pair(metric=AT["evidence"], p_holm=0.001), lower, ours)
    assert said.startswith("toy: myrag holds less evidence than the best baseline (title_zsum): −0.200, ")
    assert " Minus our best row (graph_zsum): −0.300, 95 % CI −0.400 to −0.200, unadjusted, not significant" in said
    assert [line.name for line in made] == ["myrag", "graph_zsum"]


def test_each_row_of_the_user_has_a_sentence():
    ((_, _, said),) = of_myrag(pair("myrag", metric=AT["evidence"]), pair("mine"))
    assert said.count("toy: ") == 2
    assert "toy: mine " in said


def test_a_plugin_metric_is_a_finding_where_nothing_else_was_compared():
    families = {"mine": "yours", "bm25": "lexical"}
    rows, compared = [metric(s, "any_gold@claim", 0.5) for s in families], pair("mine", "bm25", metric="any_gold@claim")
    assert " in any gold after Holm: " in sentence("toy", found(rows, [compared], families=families))
