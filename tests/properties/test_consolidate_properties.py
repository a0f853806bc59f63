"""Consolidation holds its lemmas for any entities, edges and alias groups."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.graph.consolidation.groups import alias_groups, medoids, range_pairs
from secateur.graph.consolidation.remap import remap_edges, remap_mentions
from secateur.graph.consolidation.screen import ROUNDING

quick = settings(max_examples=60)


@st.composite
def unit_vectors(draw, most: int = 40):
    """Clustered unit vectors, so that pairs on both sides of a threshold occur."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    count = draw(st.integers(1, most))
    centres = rng.normal(size=(max(1, count // 4), 16))
    vectors = centres[rng.integers(len(centres), size=count)] + draw(st.sampled_from([0.05, 0.2, 0.4])) * rng.normal(
        size=(count, 16)
    )
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@quick
@given(vectors=unit_vectors(), tau=st.floats(0.5, 0.99))
def test_the_range_graph_is_exact(vectors, tau):
    cosine = (vectors[:, None, :] * vectors[None, :, :]).sum(2)
    i, j, near = range_pairs(vectors, tau)
    found = set(zip(i.tolist(), j.tolist(), strict=True))
    certain = {(a, b) for a in range(len(vectors)) for b in range(a + 1, len(vectors)) if cosine[a, b] >= tau + 1e-5}
    possible = {(a, b) for a in range(len(vectors)) for b in range(a + 1, len(vectors)) if cosine[a, b] >= tau - 1e-5}
    assert certain <= found <= possible
    assert all(near >= np.float32(tau))


@quick
@given(vectors=unit_vectors(), tau=st.floats(0.8, 0.97))
def test_groups_are_disjoint_and_every_pair_of_a_group_is_linked(vectors, tau):
    names = [f"entity{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(len(vectors))]
    made, rule = alias_groups(names, vectors, range_pairs(vectors, tau), link=tau - 0.02, guarded=True)
    members = [m for group in made for m in group]
    assert len(members) == len(set(members))
    assert set(members) == set(rule)
    for group in made:
        inside = vectors[group] @ vectors[group].T
        assert inside.min() >= tau - 0.02 - 1e-5 or {rule[m] for m in group} == {"form"}


@quick
@given(vectors=unit_vectors())
def test_the_medoid_minimises_the_distortion_of_its_group(vectors):  # lemma 11, for cosine
    (chosen,) = medoids(vectors, [list(range(len(vectors)))])
    distortion = (1 - vectors.astype(float) @ vectors.astype(float).T).sum(1)
    assert distortion[chosen] <= distortion.min() + ROUNDING * len(vectors) + 1e-5  # of float32 sums


@st.composite
def graphs(draw):
    """(edges, mentions, aliases) over eight entities and three relations."""
    triple = st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7)).filter(lambda t: t[0] != t[2])
    edges = draw(st.lists(triple, min_size=1, max_size=25, unique=True))
    ids = draw(st.lists(st.integers(0, len(edges) - 1), min_size=1, max_size=40))
    represented = draw(st.dictionaries(st.integers(4, 7), st.integers(0, 3), max_size=4))
    frame = pl.DataFrame(edges, schema=["h", "r", "t"], orient="row").cast(pl.Int32).with_row_index("edge_id")
    frame = frame.with_columns(pl.col("edge_id").cast(pl.Int32), line_id=pl.col("edge_id").cast(pl.Int32))
    mentions = pl.DataFrame(
        [(n // 5, n % 5, e, f"p{n // 7}") for n, e in enumerate(ids)],
        schema={"run_id": pl.Int32, "n": pl.Int32, "edge_id": pl.Int32, "passage_id": pl.String},
        orient="row",
    )
    alias = pl.DataFrame(
        list(represented.items()), schema={"entity_id": pl.Int32, "representative_id": pl.Int32}, orient="row"
    )
    return frame, mentions, alias


@quick
@given(graph=graphs())
def test_the_quotient_only_reduces_edges_and_sequences(graph):  # lemma 9
    edges, mentions, aliases = graph
    merged, kept = remap_edges(edges, aliases)
    sequence = remap_mentions(mentions, kept, ["run_id", "passage_id"])
    assert merged.height <= edges.height
    assert sequence.height <= mentions.height
    assert merged.select("h", "r", "t").is_unique().all()
    assert set(sequence["edge_id"]) <= set(merged["edge_id"])
    assert set(kept["edge_id"]) == set(edges["edge_id"])
    assert set(sequence["passage_id"]) == set(mentions["passage_id"])  # provenance is never dropped


@quick
@given(graph=graphs())
def test_a_merged_edge_keeps_its_earliest_line_so_nothing_is_embedded_anew(graph):  # lemma 10
    edges, _, aliases = graph
    merged, kept = remap_edges(edges, aliases)
    earliest = kept.group_by("kept").agg(pl.col("edge_id").min()).sort("kept")["edge_id"]
    assert merged["line_id"].to_list() == earliest.to_list()


@quick
@given(graph=graphs())
def test_ids_stay_dense_because_readers_take_them_for_places(graph):
    edges, _, aliases = graph
    merged, _ = remap_edges(edges, aliases)
    assert merged["edge_id"].to_list() == list(range(merged.height))


@quick
@given(graph=graphs())
def test_without_aliases_nothing_changes(graph):
    edges, _, aliases = graph
    merged, kept = remap_edges(edges, aliases.clear())
    assert merged.equals(edges)
    assert (kept["kept"] == kept["edge_id"]).all()
