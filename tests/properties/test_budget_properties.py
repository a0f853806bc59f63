"""Layer 2 of consolidation, the index for many entities, and pruning hold what they promise for any input."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.graph.consolidation import screen
from secateur.graph.consolidation.compress import Budget, compress, same_tokens
from secateur.graph.consolidation.groups import range_pairs
from secateur.graph.consolidation.guards import blocked_by
from secateur.graph.consolidation.neighbours import approximate_pairs
from secateur.graph.consolidation.prune import prune_edges
from secateur.graph.consolidation.remap import remap_mentions

quick = settings(max_examples=40)
FLOOR = 0.8


def clustered(seed: int, clusters: int, each: int, spread: float) -> np.ndarray:
    """(clusters * each, 16) unit vectors, those of a cluster beside each other; centres are orthogonal."""
    rng = np.random.default_rng(seed)
    found = np.repeat(np.eye(16)[:clusters], each, axis=0) + spread * rng.normal(size=(clusters * each, 16)) / 4
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def free(a: int, b: int) -> bool:
    """No guard."""
    return False


def compressed(vectors, entities, blocked=free, members=None, seed=7) -> dict[int, list[int]]:
    members = members or {n: [n] for n in range(len(vectors))}
    return compress(vectors, range_pairs(vectors, FLOOR), members, Budget(entities, FLOOR, 10, seed), blocked)


shapes = st.tuples(st.integers(0, 999), st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.05, 0.6, 1.0]))


@quick
@given(shape=shapes, entities=st.integers(1, 40))
def test_every_entity_stays_in_one_group_and_no_member_is_below_the_floor(shape, entities):
    vectors = clustered(*shape)
    found = compressed(vectors, entities)
    assert sorted(n for group in found.values() for n in group) == list(range(len(vectors)))
    assert all(keep in group for keep, group in found.items())
    assert all((vectors[group] @ vectors[keep]).min() >= FLOOR - 1e-6 for keep, group in found.items())


@quick
@given(shape=shapes, entities=st.integers(1, 40))
def test_a_representative_is_the_medoid_of_its_group(shape, entities):  # lemma 11
    vectors = clustered(*shape)
    for keep, group in compressed(vectors, entities).items():
        total = (vectors[group].astype(float) @ vectors[group].astype(float).T).sum(1)
        assert total[group.index(keep)] >= total.max() - 1e-4


@quick
@given(seed=st.integers(0, 999), clusters=st.integers(1, 8), each=st.integers(2, 8), spare=st.integers(0, 30))
def test_a_budget_that_tight_clusters_can_meet_is_met(seed, clusters, each, spare):
    """And no more is merged than it takes."""
    vectors = clustered(seed, clusters, each, 0.05)
    assert len(compressed(vectors, clusters + spare)) == min(clusters + spare, len(vectors))


@quick
@given(shape=shapes)
def test_below_the_budget_nothing_changes(shape):
    vectors = clustered(*shape)
    members = {n: [n] for n in range(len(vectors))}
    assert compressed(vectors, len(vectors)) == members


@quick
@given(shape=shapes, entities=st.integers(1, 40))
def test_the_same_seed_gives_the_same_groups(shape, entities):
    vectors = clustered(*shape)
    assert compressed(vectors, entities) == compressed(vectors, entities)


@quick
@given(seed=st.integers(0, 999), each=st.integers(2, 8), entities=st.integers(1, 10))
def test_guards_hold_across_whole_groups(seed, each, entities):
    vectors = clustered(seed, 2, each, 0.05)
    texts = [f"report of {2020 + n % 2}" if n < each else f"{'non-' * (n % 2)}smoker" for n in range(len(vectors))]
    pairs = same_tokens(texts, range_pairs(vectors, FLOOR))
    members = {n: [n] for n in range(len(vectors))}

    def blocked(a: int, b: int) -> bool:
        return blocked_by(texts[a], texts[b]) is not None

    for near in (range_pairs(vectors, FLOOR), pairs):  # the guard holds by itself; the filter only saves work
        found = compress(vectors, near, members, Budget(entities, FLOOR, 10, 7), blocked)
        assert not any(blocked(a, b) for group in found.values() for a in group for b in group)
    assert each == 2 or entities >= len(vectors) or len(found) < len(vectors)


@quick
@given(seed=st.integers(0, 999), entities=st.integers(1, 6))
def test_groups_of_layer_1_move_as_a_whole(seed, entities):
    vectors = clustered(seed, 2, 6, 0.05)
    members = {0: [0, 1, 7]} | {n: [n] for n in (2, 3, 4, 5, 6, 8, 9, 10, 11)}  # 7 lies far off, as an acronym may
    found = compressed(vectors, entities, members=members)
    assert [group for group in found.values() if 7 in group] == [[0, 1, 7]]


@quick
@given(shape=shapes, tau=st.floats(0.5, 0.97))
def test_the_index_finds_no_wrong_pair_and_with_all_cells_probed_every_one(shape, tau):
    vectors = clustered(*shape)
    i, j, near = approximate_pairs(vectors, tau, probes=len(vectors))
    exact = range_pairs(vectors, tau)
    found, wanted = (set(zip(a.tolist(), b.tolist(), strict=True)) for a, b in ((i, j), exact[:2]))
    edge = {(a, b) for a, b in found ^ wanted if abs(float(vectors[a] @ vectors[b]) - tau) < 1e-5}
    assert found - edge == wanted - edge
    assert (near >= np.float32(tau) - 1e-6).all()
    assert sorted(found) == list(zip(i.tolist(), j.tolist(), strict=True))


@quick
@given(shape=shapes, numbers=st.integers(2, 4), tau=st.floats(0.5, 0.97))
def test_a_product_of_sketches_is_no_less_than_that_of_their_vectors(shape, numbers, tau):
    vectors = clustered(*shape)
    with patch.multiple(screen, MANY=0, NEAR=0, SKETCH=numbers, SAMPLE=4):
        sketches = screen._sketch(vectors, np.arange(len(vectors)))[0](vectors)
        found = range_pairs(vectors, tau)
    assert sketches.shape[1] == (numbers if vectors.shape[1] > 2 * numbers else vectors.shape[1])
    assert (sketches @ sketches.T >= vectors @ vectors.T - screen.ROUNDING).all()
    assert all(np.array_equal(a, b) for a, b in zip(found, range_pairs(vectors, tau), strict=True))


@st.composite
def graphs(draw):
    """(edges, sources, runs): each mention of an edge has a source and stands in a run."""
    triples = draw(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=12, unique=True))
    ids = draw(st.lists(st.integers(0, len(triples) - 1), min_size=1, max_size=40))
    edges = pl.DataFrame(triples, schema=dict.fromkeys("hrt", pl.Int32), orient="row").with_row_index("edge_id")
    rows = [("d", n // 3, n % 3, f"p{n // 3}", e, n // 4) for n, e in enumerate(ids)]
    schema = {"doc_id": pl.String, "position": pl.Int32, "n": pl.Int32, "passage_id": pl.String, "edge_id": pl.Int32}
    mentions = pl.DataFrame(rows, schema=schema | {"run_id": pl.Int32}, orient="row")
    mentions = mentions.unique(["passage_id", "edge_id"], keep="first", maintain_order=True)
    runs = mentions.select("run_id", "n", "edge_id", "passage_id").with_columns(
        n=pl.int_range(pl.len(), dtype=pl.Int32)
    )
    return edges.cast({"edge_id": pl.Int32}), mentions.drop("run_id"), runs


def pruning(prune: str, **keys) -> SimpleNamespace:
    """Keys of `consolidation` that prune."""
    return SimpleNamespace(prune=prune, seed=7, **keys)


@quick
@given(graph=graphs(), least=st.integers(1, 4))
def test_what_is_kept_and_the_tombstones_are_all_edges_by_content(graph, least):
    edges, sources, runs = graph
    kept, renamed, gone = prune_edges(edges, sources, pruning("frequency", min_mentions=least))
    content = pl.concat([kept.select("h", "r", "t"), gone.select("h", "r", "t")])
    assert sorted(content.rows()) == sorted(edges.select("h", "r", "t").rows())
    assert gone.filter(pl.col("count") >= least).is_empty()
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
        kept, renamed, gone = prune_edges(edges, sources, pruning(rule, keep=share))
        assert kept.height + gone.height == edges.height and renamed.height == kept.height
        assert abs(kept.height - share * edges.height) < 1 + 1e-6
        content[share] = set(kept.select("h", "r", "t").rows())
    assert content[min(shares)] <= content[max(shares)]
