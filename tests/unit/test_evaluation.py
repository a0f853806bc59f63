"""Evidence recall on blocks that can be scored by hand."""

import numpy as np
import pytest

from secateur.evaluation.evidence import Block, Gold, block_metrics, f1_at_gold, prefix_lengths, semantic

# Content words: bear, eat, sockeye, salmon (evidence) · bear, eat (question), so sockeye and salmon are new.
BEARS = Gold("What do bears eat?", {"p1": "The bears eat sockeye salmon."}, ("The bears eat sockeye salmon.",))


def block(*lines: tuple[str, str, bool]) -> Block:
    return Block(*([line[n] for line in lines] for n in range(3)))


EMPTY = block()


def figures(gold: Gold, shown: Block, least: float = 0.5) -> tuple[float, ...]:
    found = block_metrics(gold, shown, least)
    return tuple(found[name] for name in ("exact", "exact_pointer", "held", "novel"))


# --- budgets -----------------------------------------------------------------------------------


def test_units_are_appended_until_the_first_that_overflows():
    assert prefix_lengths(np.array([30, 40, 10]), [64, 70, 79, 80, 1000]) == [1, 2, 2, 3, 3]


def test_a_unit_after_the_overflow_is_left_out_though_it_would_fit():
    assert prefix_lengths(np.array([10, 1000, 1]), [64]) == [1]


def test_a_budget_below_the_first_unit_holds_nothing():
    assert prefix_lengths(np.array([65]), [64]) == [0]


def test_an_empty_ranking_fills_no_budget():
    assert prefix_lengths(np.zeros(0, np.int64), [64, 128]) == [0, 0]


# --- one gold sentence -------------------------------------------------------------------------


def test_an_empty_block_scores_nothing():
    assert figures(BEARS, EMPTY) == (0, 0, 0, 0)


def test_the_whole_sentence_scores_everything():
    assert figures(BEARS, block(("The bears eat sockeye salmon.", "p1", True))) == (1, 1, 1, 1)


def test_edges_count_when_they_keep_half_of_the_new_words():
    assert figures(BEARS, block(("bears: eat salmon", "p1", False))) == (1, 1, 0.75, 0.5)


def test_edges_with_fewer_new_words_are_a_pointer_only():
    assert figures(BEARS, block(("bears: eat salmon", "p1", False)), least=0.51) == (0, 1, 0.75, 0.5)


def test_words_the_question_gives_make_no_sentence_present():
    assert figures(BEARS, block(("bears: eat", "p1", False))) == (0, 1, 0.5, 0)


def test_lines_of_one_provenance_count_together():
    shown = block(("bears: eat salmon", "p1", False), ("salmon: sockeye", "p1", False))
    assert figures(BEARS, shown, least=1.0) == (1, 1, 1, 1)


def test_words_under_another_provenance_are_novel_but_not_held():
    assert figures(BEARS, block(("bears: eat sockeye salmon", "p2", False))) == (0, 0, 0, 1)


def test_the_whole_text_of_another_passage_makes_no_gold_present():
    assert figures(BEARS, block(("The bears eat sockeye salmon.", "p2", True))) == (0, 0, 0, 1)


def test_gold_whose_words_the_question_gives_needs_its_provenance_and_has_no_novel():
    gold = Gold("Do the bears eat?", {"p1": "Bears eat."}, ("Bears eat.",))
    assert block_metrics(gold, EMPTY, 0.5) == {"exact": 0, "exact_pointer": 0, "held": 0}
    assert block_metrics(gold, block(("bears: sleep", "p1", False)), 0.5) == {
        "exact": 1,
        "exact_pointer": 1,
        "held": 0.5,
    }


def test_gold_without_content_words_holds_nothing_unless_it_is_whole():
    gold = Gold("Why?", {"p1": "It was so."}, ("It was so.",))
    assert block_metrics(gold, block(("it: was", "p1", False)), 0.5)["held"] == 0
    assert block_metrics(gold, block(("It was so.", "p1", True)), 0.5)["held"] == 1


# --- several, and unresolved -------------------------------------------------------------------


def test_several_golds_are_averaged_and_their_words_pooled():
    texts = {"p1": "The bears eat sockeye salmon.", "p2": "Rivers freeze.", "p3": "Rivers thaw."}
    gold = Gold("What do bears eat?", texts, tuple(texts.values()))
    shown = block(("The bears eat sockeye salmon.", "p1", True), ("rivers: roar", "p2", False))
    # p2 keeps river of {river, freeze}: exact by half; novel: {sockeye, salmon, river} of 5
    assert figures(gold, shown) == pytest.approx((2 / 3, 2 / 3, (1 + 1 / 2 + 0) / 3, 3 / 5))


def test_evidence_that_does_not_resolve_is_measured_by_its_words_only():
    gold = Gold("What do bears eat?", {}, ("Salmon is eaten.",))
    assert block_metrics(gold, block(("bears: eat salmon", "p1", False)), 0.5) == {"novel": 0.5}


def test_inflection_and_case_are_of_no_account():
    assert figures(BEARS, block(("BEAR: eats SALMONS, sockeyes", "p1", False)))[3] == 1


# --- semantic, F1 ------------------------------------------------------------------------------


def test_semantic_is_the_mean_of_each_golds_best_cosine():
    gold = np.array([[1, 0], [0, 1]], np.float32)
    units = np.array([[0.6, 0.8], [1, 0], [1, 0]], np.float32)
    assert semantic(gold, units) == pytest.approx((1 + 0.8) / 2)


def test_semantic_of_an_empty_block_is_zero():
    assert semantic(np.eye(2, dtype=np.float32), np.zeros((0, 2), np.float32)) == 0


@pytest.mark.parametrize(
    ("selected", "gold", "expected"),
    [(["a"], ["a"], 1), (["a", "b"], ["a"], 2 / 3), (["a"], ["b"], 0), ([], ["a"], 0), ([], [], 0)],
)
def test_f1_at_gold_by_hand(selected, gold, expected):
    assert f1_at_gold(selected, gold) == pytest.approx(expected)
