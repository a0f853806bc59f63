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


@given(ROWS, st.tuples(*[st.integers(1, 90)] * 3), st.lists(st.integers(0, 9), min_size=8, max_size=8))
def test_each_token_is_in_one_block_with_its_prefix_its_tail_and_its_own_sequence_up_to_itself(rows, trunks, tails):
    lengths, hung, tails = [length for length, _ in rows], [place for _, place in rows], tails[: len(rows)]
    found, before = blocks(lengths, hung, trunks, tails), sum(trunks) + sum(tails)
    assert [n for block in found for n in range(block.rows.start, block.rows.stop)] == list(range(sum(lengths)))
    assert all(block.rows.stop - block.rows.start <= BLOCK for block in found)
    start, after = 0, sum(trunks)
    for (length, place), tail in zip(rows, tails, strict=True):
        behind = range(sum(trunks[:place]), sum(trunks[: place + 1])) if place is not None else range(0)
        for token in range(start, start + length):
            (own,) = [block for block in found if block.rows.start <= token < block.rows.stop]
            assert range(own.prefix.start, own.prefix.stop) == behind
            assert own.between.start <= after and own.between.stop >= after + tail
            assert own.own.start <= before + start and own.own.stop > before + token
        start, after = start + length, after + tail


def test_short_sequences_behind_one_prefix_are_one_block_and_a_long_one_is_cut():
    assert blocks([20, 30, 20], [0, 0, 0], [9], [1, 0, 2]) == [
        Block(slice(0, 50), slice(0, 9), slice(9, 10), slice(12, 62)),
        Block(slice(50, 70), slice(0, 9), slice(10, 12), slice(62, 82)),
    ]
    assert blocks([BLOCK + 6], [None], [], [0]) == [
        Block(slice(0, BLOCK), slice(0, 0), slice(0, 0), slice(0, BLOCK)),
        Block(slice(BLOCK, BLOCK + 6), slice(0, 0), slice(0, 0), slice(0, BLOCK + 6)),
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
    for said, tokens, n in zip(logits.float().log_softmax(-1), own, hung, strict=True):
        alone = naive(lm, (() if n is None else prefixes[n]) + tokens)[-1]
        far = np.abs(said.numpy() - alone)
        assert far.max() < 1e-4 if dtype == torch.float32 else far.mean() < 0.05


def test_a_token_after_a_prefix_and_a_tail_of_its_own_says_what_it_says_alone(tiny_lm, naive):
    lm, rng = tiny_lm(), np.random.default_rng(5)
    contexts = [tuple(map(int, rng.integers(5, 200, n))) for n in (70, 4)]
    filled, paths = lm.prefill(contexts), [(), (), (), ()]
    hung, tails = [0, 0, 1, None], [NOTHING] * 4
    for _ in range(3):
        tokens = [int(token) for token in rng.integers(5, 200, len(hung))]
        said, tails = lm.step(tokens, [NOTHING if n is None else filled[n] for n in hung], tails)
        paths = [(*path, token) for path, token in zip(paths, tokens, strict=True)]
        for own, path, n in zip(said.log_softmax(-1), paths, hung, strict=True):
            alone = naive(lm, (() if n is None else contexts[n]) + path)[-1]
            assert np.abs(own.numpy() - alone).max() < 1e-4
    assert [tail.length for tail in tails] == [3] * 4
