"""Attention in blocks: every token is in one block, which holds all that it may see; and the model says the same."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from secateur.models.attention import BLOCK, Block, blocks
from secateur.models.causal import NOTHING

ROWS = st.lists(st.tuples(st.integers(1, 3 * BLOCK), st.one_of(st.none(), st.integers(0, 2))), min_size=1, max_size=8)


@given(ROWS, st.tuples(*[st.integers(1, 90)] * 3))
def test_each_token_is_in_one_block_with_its_prefix_and_its_own_sequence_up_to_itself(rows, trunks):
    lengths, hung = [length for length, _ in rows], [place for _, place in rows]
    found = blocks(lengths, hung, trunks)
    assert [n for block in found for n in range(block.rows.start, block.rows.stop)] == list(range(sum(lengths)))
    assert all(block.rows.stop - block.rows.start <= BLOCK for block in found)
    start = 0
    for length, place in rows:
        behind = range(sum(trunks[:place]), sum(trunks[: place + 1])) if place is not None else range(0)
        for token in range(start, start + length):
            (own,) = [block for block in found if block.rows.start <= token < block.rows.stop]
            assert range(own.prefix.start, own.prefix.stop) == behind
            assert own.own.start <= sum(trunks) + start and own.own.stop > sum(trunks) + token
        start += length


def test_short_sequences_behind_one_prefix_are_one_block_and_a_long_one_is_cut():
    assert blocks([20, 30, 20], [0, 0, 0], [9]) == [
        Block(slice(0, 50), slice(0, 9), slice(9, 59)),
        Block(slice(50, 70), slice(0, 9), slice(59, 79)),
    ]
    assert blocks([BLOCK + 6], [None], []) == [
        Block(slice(0, BLOCK), slice(0, 0), slice(0, BLOCK)),
        Block(slice(BLOCK, BLOCK + 6), slice(0, 0), slice(0, BLOCK + 6)),
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_says_in_blocks_what_it_says_of_each_sequence_alone(tiny_lm, naive, dtype):
    lm, rng = tiny_lm(), np.random.default_rng(3)
    lm.model = deepcopy(lm.model).to(dtype)  # others read the one that is handed out
    prefixes = [tuple(map(int, rng.integers(5, 200, n))) for n in (70, 4)]
    filled = lm.prefill(prefixes)
    own = [tuple(map(int, rng.integers(5, 200, n))) for n in (3, 5, 2, 100, 7)]
    hung = [0, 0, 1, None, 1]
    ends = np.cumsum([len(one) for one in own]) - 1
    logits = lm.logits(own, [NOTHING if n is None else filled[n] for n in hung], ends.tolist())
    for said, tokens, n in zip(logits.log_softmax(-1), own, hung, strict=True):
        alone = naive(lm, (() if n is None else prefixes[n]) + tokens)[-1]
        far = np.abs(said.numpy() - alone)
        assert far.max() < 1e-4 if dtype == torch.float32 else far.mean() < 0.05
