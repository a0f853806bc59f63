"""Attention in blocks: every token is in one block, which holds all that it may see; and the model says the same."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from secateur.models import attention
from secateur.models.attention import BLOCK, Block, blocks, by_lengths
from secateur.models.causal import NOTHING
from secateur.models.decoding import Rows

ROWS = st.lists(st.tuples(st.integers(1, 3 * BLOCK), st.one_of(st.none(), st.integers(0, 2))), min_size=1, max_size=8)

TRUNKS = st.tuples(*[st.integers(1, 90)] * 3)


def behind(place: int | None, trunks) -> range:
    return range(0) if place is None else range(sum(trunks[:place]), sum(trunks[: place + 1]))


@given(ROWS, TRUNKS)
def test_each_token_is_in_one_block_with_its_prefix_and_its_own_sequence_up_to_itself(rows, trunks):
    lengths, hung = [length for length, _ in rows], [place for _, place in rows]
    found, before, start = blocks(lengths, hung, trunks), sum(trunks), 0
    assert [n for block in found for n in range(block.rows.start, block.rows.stop)] == list(range(sum(lengths)))
    assert all(block.rows.stop - block.rows.start <= BLOCK for block in found)
    for length, place in rows:
        for token in range(start, start + length):
            (own,) = [block for block in found if block.rows.start <= token < block.rows.stop]
            assert range(own.prefix.start, own.prefix.stop) == behind(place, trunks)
            assert own.own.start <= before + start and own.own.stop > before + token
        start += length


@given(ROWS, TRUNKS)
def test_by_lengths_each_sequence_has_the_keys_of_its_prefix_and_its_own(rows, trunks):
    lengths, hung = [length for length, _ in rows], [place for _, place in rows]
    plan = by_lengths(lengths, hung, trunks, "cpu")
    keys = torch.arange(sum(trunks) + sum(lengths)) if plan.gather is None else plan.gather
    start = 0
    for n, (length, place) in enumerate(rows):
        own = range(sum(trunks) + start, sum(trunks) + start + length)
        assert keys[plan.key_ends[n] : plan.key_ends[n + 1]].tolist() == [*behind(place, trunks), *own]
        assert plan.query_ends[n : n + 2].tolist() == [start, start + length]
        start += length
    seen = [length + len(behind(place, trunks)) for length, place in rows]
    assert plan.longest == (max(lengths), max(seen))


def test_short_sequences_behind_one_prefix_are_one_block_and_a_long_one_is_cut():
    expected = [Block(slice(0, 50), slice(0, 9), slice(9, 59)), Block(slice(50, 70), slice(0, 9), slice(59, 79))]
    assert blocks([20, 30, 20], [0, 0, 0], [9]) == expected
    assert blocks([BLOCK + 6], [None], []) == [
        Block(slice(0, BLOCK), slice(0, 0), slice(0, BLOCK)),
        Block(slice(BLOCK, BLOCK + 6), slice(0, 0), slice(0, BLOCK + 6)),
    ]


def spelled_out(query, key, value, query_ends, key_ends, longest_query, longest_key, scale, window_size, enable_gqa):
    """What `varlen_attn` documents, sequence by sequence: PyTorch has it for GPUs alone."""
    left, right = window_size
    assert right == 0 and longest_query == query_ends.diff().max() and longest_key == key_ends.diff().max()
    assert query.is_contiguous() and key.is_contiguous() and value.is_contiguous()
    assert enable_gqa == (query.shape[1] != key.shape[1])
    outputs = []
    for n in range(len(query_ends) - 1):
        q, k, v = (x[ends[n] : ends[n + 1]] for x, ends in ((query, query_ends), (key, key_ends), (value, key_ends)))
        k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
        at, keys = torch.arange(len(k) - len(q), len(k))[:, None], torch.arange(len(k))
        seen = (keys <= at) & ((keys >= at - left) | (left < 0))
        weights = (torch.einsum("qhd,khd->hqk", q, k) * scale).masked_fill(~seen, -torch.inf).softmax(-1)
        outputs.append(torch.einsum("hqk,khd->qhd", weights, v))
    return torch.cat(outputs)


def answers(lm, seed: int):
    """Log-distributions at the ends of five sequences, of which four continue prefixes; and their tokens."""
    rng = np.random.default_rng(seed)
    prefixes = [tuple(map(int, rng.integers(5, 200, n))) for n in (70, 4)]
    own, hung = [tuple(map(int, rng.integers(5, 200, n))) for n in (3, 5, 2, 100, 7)], [0, 0, 1, None, 1]
    filled = lm.prefill(prefixes)
    ends = np.cumsum([len(tokens) for tokens in own]) - 1
    logits = lm.logits(own, [NOTHING if n is None else filled[n] for n in hung], ends.tolist())
    whole = [(() if n is None else prefixes[n]) + tokens for tokens, n in zip(own, hung, strict=True)]
    return logits.float().log_softmax(-1).numpy(), whole


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma3_text", "gemma2"])
def test_a_model_says_by_lengths_what_it_says_of_each_sequence_alone(tiny_lm, naive, monkeypatch, kind):
    bounded = kind == "gemma2"  # a layer that bounds its scores is read with a mask
    monkeypatch.setattr(attention, "varlen_attention", None if bounded else spelled_out)
    lm = tiny_lm(kind)
    lm.by_lengths = True
    for said, tokens in zip(*answers(lm, 4), strict=True):
        assert np.abs(said - naive(lm, tokens)[-1]).max() < 1e-4
    assert lm.by_lengths != bounded


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma3_text", "gemma2"])
def test_rows_that_are_continued_together_say_what_each_says_alone(tiny_lm, naive, kind):
    lm, rng = tiny_lm(kind), np.random.default_rng(5)
    contexts = [tuple(map(int, rng.integers(5, 200, n))) for n in (70, 4)]
    filled = lm.prefill(contexts)
    paths = [contexts[0], contexts[0], contexts[1], ()]
    rows = Rows(lm, [filled[0], filled[0], filled[1], NOTHING], 4)
    for step in range(4):
        if step == 2:
            rows.keep([2, 0])
            paths = [paths[2], paths[0]]
        tokens = [int(token) for token in rng.integers(5, 200, len(paths))]
        paths = [(*path, token) for path, token in zip(paths, tokens, strict=True)]
        for said, path in zip(rows.step(tokens).log_softmax(-1), paths, strict=True):
            assert np.abs(said.numpy() - naive(lm, path)[-1]).max() < 1e-4


def test_rows_without_a_prefix_begin_with_their_first_token(tiny_lm, naive):
    lm = tiny_lm()
    rows = Rows(lm, [NOTHING, NOTHING], 2)
    for paths in ([(7,), (9,)], [(7, 8), (9, 10)]):
        said = rows.step([path[-1] for path in paths]).log_softmax(-1)
        assert all(np.abs(one.numpy() - naive(lm, p)[-1]).max() < 1e-4 for one, p in zip(said, paths, strict=True))
