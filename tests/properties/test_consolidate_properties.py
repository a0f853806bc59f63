"""Consolidation and pruning hold their lemmas for any entities, edges and groups."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.graph.consolidation import screen
from secateur.graph.consolidation.compress import Budget, compress, same_tokens
from secateur.graph.consolidation.groups import alias_groups, medoids, range_pairs
from secateur.graph.consolidation.guards import blocked_by
from secateur.graph.consolidation.neighbours import approximate_pairs
from secateur.graph.consolidation.prune import prune_edges
from secateur.graph.consolidation.remap import remap_edges, remap_mentions

quick = settings(max_examples=50)
FLOOR = 0.8


def clustered(seed: int, clusters: int, each: int, spread: float) -> np.ndarray:
    """(clusters * each, 16) unit vectors, those of a cluster beside each other; centres are orthogonal."""
    rng = np.random.default_rng(seed)
    found = np.repeat(np.eye(16)[:clusters], each, axis=0) + spread * rng.normal(size=(clusters * each, 16)) / 4
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


seeds, sizes, limits = st.integers(0, 999), st.integers(1, 8), st.integers(1, 40)
points = st.builds(clustered, seeds, sizes, sizes, st.sampled_from([0.05, 0.6, 1.0]))
taus = st.floats(0.5, 0.97)


def links(i, j) -> set[tuple[int, int]]:
    return set(zip(i.tolist(), j.tolist(), strict=True))


def alone(count: int) -> dict[int, list[int]]:
    return {n: [n] for n in range(count)}


def compressed(vectors, entities, members=None, near=None, blocked=lambda a, b: False) -> dict[int, list[int]]:
    near = range_pairs(vectors, FLOOR) if near is None else near
    return compress(vectors, near, members or alone(len(vectors)), Budget(entities, FLOOR, 10, 7), blocked)


@quick
@given(vectors=points, tau=st.floats(0.5, 0.99))
def test_the_range_graph_is_exact(vectors, tau):
    cosine = np.triu((vectors[:, None, :] * vectors[None, :, :]).sum(2), 1)
    i, j, near = range_pairs(vectors, tau)
    certain, possible = (links(*np.nonzero(cosine >= tau + slack)) for slack in (1e-5, -1e-5))
    assert certain <= links(i, j) <= possible
    assert all(near >= np.float32(tau))


@quick
@given(vectors=points, tau=taus)
def test_the_index_finds_no_wrong_pair_and_with_all_cells_probed_every_one(vectors, tau):
    i, j, near = approximate_pairs(vectors, tau, probes=len(vectors))
    found, wanted = links(i, j), links(*range_pairs(vectors, tau)[:2])
    edge = {(a, b) for a, b in found ^ wanted if abs(float(vectors[a] @ vectors[b]) - tau) < 1e-5}
    assert found - edge == wanted - edge
    assert (near >= np.float32(tau) - 1e-6).all()
    assert sorted(found) == list(zip(i.tolist(), j.tolist(), strict=True))


@quick
@given(vectors=points, numbers=st.integers(2, 4), tau=taus)
def test_a_product_of_sketches_is_no_less_than_that_of_their_vectors(vectors, numbers, tau):
    with patch.multiple(screen, MANY=0, NEAR=0, SKETCH=numbers, SAMPLE=4):
        sketches = screen._sketch(vectors, np.arange(len(vectors)))[0](vectors)
        found = range_pairs(vectors, tau)
    assert (sketches @ sketches.T >= vectors @ vectors.T - screen.ROUNDING).all()
    assert all(np.array_equal(a, b) for a, b in zip(found, range_pairs(vectors, tau), strict=True))


@quick
@given(vectors=points, tau=st.floats(0.8, 0.97))
def test_alias_groups_are_disjoint_and_every_pair_of_a_group_is_linked(vectors, tau):
    names = [f"entity{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(len(vectors))]
    made, rule = alias_groups(names, vectors, range_pairs(vectors, tau), link=tau - 0.02, guarded=True)
    members = [m for group in made for m in group]
    assert len(members) == len(set(members))
    assert set(members) == set(rule)
    for group in made:
        inside = vectors[group] @ vectors[group].T
        assert inside.min() >= tau - 0.02 - 1e-5 or {rule[m] for m in group} == {"form"}


@quick
@given(vectors=points)
def test_the_medoid_minimises_the_distortion_of_its_group(vectors):  # lemma 11, for cosine
    (chosen,) = medoids(vectors, [list(range(len(vectors)))])
    distortion = (1 - vectors.astype(float) @ vectors.astype(float).T).sum(1)
    assert distortion[chosen] <= distortion.min() + screen.ROUNDING * len(vectors) + 1e-5  # of float32 sums


@quick
@given(vectors=points, entities=limits)
def test_compressed_groups_hold_every_entity_once_at_a_medoid_above_the_floor_and_always_the_same(vectors, entities):
    found = compressed(vectors, entities)
    assert sorted(n for group in found.values() for n in group) == list(range(len(vectors)))
    for keep, group in found.items():
        cosine = vectors[group].astype(float) @ vectors[group].astype(float).T
        own = group.index(keep)
        assert cosine[own].min() >= FLOOR - 1e-6
        assert cosine[own].sum() >= cosine.sum(1).max() - 1e-4  # lemma 11
    assert compressed(vectors, entities) == found
    assert compressed(vectors, len(vectors)) == alone(len(vectors))


@quick
@given(seed=seeds, clusters=sizes, each=st.integers(2, 8), spare=st.integers(0, 30))
def test_a_budget_that_tight_clusters_can_meet_is_met(seed, clusters, each, spare):
    """And no more is merged than it takes."""
    vectors = clustered(seed, clusters, each, 0.05)
    assert len(compressed(vectors, clusters + spare)) == min(clusters + spare, len(vectors))


@quick
@given(seed=seeds, each=st.integers(2, 8), entities=st.integers(1, 10))
def test_guards_hold_across_whole_groups(seed, each, entities):
    vectors = clustered(seed, 2, each, 0.05)
    texts = [f"report of {2020 + n % 2}" if n < each else f"{'non-' * (n % 2)}smoker" for n in range(len(vectors))]
    pairs = range_pairs(vectors, FLOOR)

    def blocked(a: int, b: int) -> bool:
        return blocked_by(texts[a], texts[b]) is not None

    for near in (pairs, same_tokens(texts, pairs)):  # the guard holds by itself; the filter only saves work
        found = compressed(vectors, entities, None, near, blocked)
        assert not any(blocked(a, b) for group in found.values() for a in group for b in group)
    assert each == 2 or entities >= len(vectors) or len(found) < len(vectors)


@quick
@given(seed=seeds, entities=st.integers(1, 6))
def test_groups_of_layer_1_move_as_a_whole(seed, entities):
    vectors = clustered(seed, 2, 6, 0.05)
    members = {0: [0, 1, 7]} | {n: [n] for n in (2, 3, 4, 5, 6, 8, 9, 10, 11)}  # 7 lies far off, as an acronym may
    found = compressed(vectors, entities, members)
    assert [group for group in found.values() if 7 in group] == [[0, 1, 7]]


@st.composite
def graphs(draw):
    """(edges over eight entities, sources, runs): each mention of an edge has a source and stands in a run."""
    triple = st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7)).filter(lambda t: t[0] != t[2])
    triples = draw(st.lists(triple, min_size=1, max_size=25, unique=True))
    ids = draw(st.lists(st.integers(0, len(triples) - 1), min_size=1, max_size=40))
    edges = pl.DataFrame(triples, schema=dict.fromkeys("hrt", pl.Int32), orient="row")
    edges = edges.with_columns(
        edge_id=pl.int_range(pl.len(), dtype=pl.Int32), line_id=pl.int_range(pl.len(), dtype=pl.Int32)
    )
    rows = [(f"d{n // 9}", n // 3, n % 3, f"p{n // 3}", e, n // 4) for n, e in enumerate(ids)]
    numbers = dict.fromkeys(("position", "n", "edge_id", "run_id"), pl.Int32)
    columns = ["doc_id", "position", "n", "passage_id", "edge_id", "run_id"]
    mentions = pl.DataFrame(rows, {name: numbers.get(name, pl.String) for name in columns}, orient="row")
    mentions = mentions.unique(["passage_id", "edge_id"], keep="first", maintain_order=True)
    runs = mentions.select("run_id", "n", "edge_id", "passage_id")
    return edges, mentions.drop("run_id"), runs.with_columns(n=pl.int_range(pl.len(), dtype=pl.Int32))


aliases = st.dictionaries(st.integers(4, 7), st.integers(0, 3), max_size=4).map(
    lambda own: pl.DataFrame({"entity_id": [*own], "representative_id": [*own.values()]}).cast(pl.Int32)
)


@quick
@given(graph=graphs(), aliases=aliases)
def test_the_quotient_only_reduces_edges_and_sequences(graph, aliases):  # lemma 9
    edges, _, mentions = graph
    merged, kept = remap_edges(edges, aliases)
    sequence = remap_mentions(mentions, kept, ["run_id", "passage_id"])
    assert merged.height <= edges.height
    assert sequence.height <= mentions.height
    assert merged.select("h", "r", "t").is_unique().all()
    assert set(sequence["edge_id"]) <= set(merged["edge_id"])
    assert set(kept["edge_id"]) == set(edges["edge_id"])
    assert set(sequence["passage_id"]) == set(mentions["passage_id"])  # provenance is never dropped


@quick
@given(graph=graphs(), aliases=aliases)
def test_a_merged_edge_keeps_its_earliest_line_so_nothing_is_embedded_anew_and_ids_are_places(graph, aliases):
    edges, *_ = graph
    merged, kept = remap_edges(edges, aliases)
    earliest = kept.group_by("kept").agg(pl.col("edge_id").min()).sort("kept")["edge_id"]
    assert merged["line_id"].to_list() == earliest.to_list()  # lemma 10
    assert merged["edge_id"].to_list() == list(range(merged.height))
    merged, kept = remap_edges(edges, aliases.clear())  # without aliases nothing changes
    assert merged.equals(edges)
    assert (kept["kept"] == kept["edge_id"]).all()


def pruned(edges, sources, prune: str, **keys) -> tuple[pl.DataFrame, ...]:
    return prune_edges(edges, sources, SimpleNamespace(prune=prune, seed=7, **keys))


@quick
@given(graph=graphs(), least=st.integers(1, 4))
def test_what_is_kept_and_the_tombstones_are_all_edges_by_content(graph, least):
    edges, sources, runs = graph
    kept, renamed, gone = pruned(edges, sources, "frequency", min_mentions=least)
    content = pl.concat([kept.select("h", "r", "t"), gone.select("h", "r", "t")])
    assert sorted(content.rows()) == sorted(edges.select("h", "r", "t").rows())
    assert kept["edge_id"].to_list() == list(range(kept.height))
    mentions = {e: sources.filter(pl.col("edge_id") == e).height for e in edges["edge_id"]}
    assert {e: n for e, n in mentions.items() if n < least} == dict(gone.select("edge_id", "count").rows())
    for table, within in ((sources, ["passage_id"]), (runs, ["run_id", "passage_id"])):
        left = remap_mentions(table, renamed, within)
        assert left.height == table.filter(~pl.col("edge_id").is_in(gone["edge_id"].implode())).height
        assert set(left["edge_id"]) == {new for old, new in renamed.rows() if old in set(table["edge_id"])}


@quick
@given(graph=graphs(), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)), rule=st.sampled_from(["links", "random"]))
def test_a_share_of_the_edges_is_kept_and_a_larger_share_keeps_them_too(graph, shares, rule):
    edges, sources, _ = graph
    content = {}
    for share in sorted(shares):
        kept, _, gone = pruned(edges, sources, rule, keep=share)
        assert kept.height + gone.height == edges.height
        assert abs(kept.height - share * edges.height) < 1 + 1e-6
        content[share] = set(kept.select("h", "r", "t").rows())
    assert content[min(shares)] <= content[max(shares)]
