"""Paths are written from options and read back from wildcards, and two of them are never the same."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.config.compose import names
from secateur.core import layout
from secateur.planning.plan import variants

CONF = Path(__file__).parents[2] / "conf"
quick = settings(max_examples=60)
option = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True).filter(lambda name: name not in ("none", "text", "own"))
scorer = st.from_regex(r"[a-z][a-z0-9_]{0,8}(\.[0-9]+)?(_b0\.75)?(\+neighbour)?", fullmatch=True)
AXES = sorted({axis for own in (*layout.FAMILIES.values(), layout.RECALLED, layout.WRITTEN) for axis in own})


@st.composite
def sources(draw) -> dict[str, str]:
    """Every option of a variant that has contexts."""
    found = {axis: draw(option) for axis in AXES} | {"family": draw(st.sampled_from(list(layout.FAMILIES)))}
    found |= {"corpus": draw(option), "dataset": draw(option), "imported": draw(option)}
    found["memory"] = draw(st.sampled_from([layout.NONE, found["memory"]]))
    found["reranker"] = draw(st.sampled_from([layout.NONE, "pmi_q"]))
    found["pick"] = {"graph": "graph", "imported": layout.IMPORTED}.get(found["family"]) or draw(scorer)
    found["book"] = layout.book(found) if draw(st.booleans()) else layout.TEXT
    if found["family"] == layout.IMPORTED:
        found |= {"memory": layout.NONE, "reranker": layout.NONE, "book": layout.TEXT}
    return found


def said(options: dict[str, str]) -> set[str]:
    own = {"family", "pick", "reranker", "book", "memory", *layout.WRITTEN}
    own |= set(layout.FAMILIES[options["family"]])
    own |= set(layout.RECALLED) if options["memory"] != layout.NONE else set()
    return own | (set(layout.GRAPH) if options["book"] not in (layout.TEXT, layout.OWN) else set())


@quick
@given(sources())
def test_options_are_read_back_from_the_path_they_were_written_to_and_written_to_it_again(options):
    path = layout.source(options)
    found = layout.options_of({"corpus": options["corpus"], "dataset": "d", "source": path})
    assert {axis: found[axis] for axis in said(options)} == {axis: options[axis] for axis in said(options)}
    assert (found["corpus"], found["dataset"]) == (options["corpus"], "d")
    assert found["lm"] == options["lm"]  # who reads, and not who scored
    assert layout.source(found) == path
    assert re.fullmatch(layout.SOURCE, path)


@quick
@given(sources())
def test_what_a_study_names_by_itself_stands(options):
    learnt = layout.source(options | {"memory": layout.NONE})
    found = layout.options_of({"source": learnt, "memory": "gold", "ecs": "quick"})
    assert found["memory"] == "gold"
    if options["family"] != "utility":
        assert found["ecs"] == "quick"


def test_a_ranking_by_itself_says_its_own_options():
    found = layout.options_of({"ranking": "utility/minilm.utility.smollm2.default"})
    expected = {"ranking": "utility/minilm.utility.smollm2.default", "family": "utility"}
    expected |= {"embedder": "minilm", "rankers": "utility", "lm": "smollm2", "ecs": "default"}
    assert found == expected


@pytest.fixture(scope="module")
def found():
    every = [v for name in names(CONF, "experiment") for v in variants(CONF, name)]
    return list(dict.fromkeys(every))


def test_the_contexts_of_every_variant_are_read_back_and_a_reranked_source_from_the_reranked_rankings(found):
    for variant in (v for v in found if v.kind == "documents"):
        options = variant.wildcards
        read = layout.options_of({"corpus": variant.corpus, "source": layout.source(options)})
        assert {axis: read[axis] for axis in said(options)} == {axis: options[axis] for axis in said(options)}
        path = layout.ranked_file(layout.options_of(options | {"source": layout.source(options)}))
        assert ("/reranked/" in path) == (variant["reranker"] != layout.NONE)
        assert path.endswith("/rankings.parquet")


def test_figures_of_all_kinds_have_paths_of_their_own(found):
    for variant in (v for v in found if v.kind == "documents" and not v.study):
        options = variant.wildcards
        paths = [layout.figures(options, None), *layout.gains(options, 2), layout.answered(options)]
        assert len(set(paths)) == 4
        assert all(path.startswith(f"results/{variant.corpus}/{variant.dataset}/") for path in paths)


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({"family": "graph", "order": "aware", "pick": "graph"}, "aware"),
        ({"family": "lexical", "pick": "zsum"}, "blind"),
        ({"family": "lexical", "pick": "zsum+neighbour", "order": "blind"}, "aware"),
        ({"family": "lexical", "pick": layout.ALL}, None),
        ({"family": "utility", "pick": layout.ALL}, None),
    ],
)
def test_what_rows_may_know_of_the_order_of_the_text(options, order):
    assert layout.order_of(options) == order
