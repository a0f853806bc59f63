"""Evidence in contexts that can be scored by hand."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from secateur.config import compose
from secateur.contexts.table import NOTHING, Read, reads
from secateur.core.tables.catalog import TABLES
from secateur.datasets.schema import classes, of_classes
from secateur.evaluation.evidence import Case, Gold, gold_of
from secateur.evaluation.metric import measure_all

METRICS = compose.option(Path(__file__).parents[2] / "conf", "eval", "default").metrics
UNDER = ("evidence_recall", "provenance_recall", "evidence_coverage")

# Content words: bear, eat, sockeye, salmon (evidence) · bear, eat (question), so sockeye and salmon are new.
SENTENCE = "The bears eat sockeye salmon."
BEARS = Gold("What do bears eat?", {"p1": SENTENCE}, (SENTENCE,))


def context(*lines: tuple[str, str | None, bool], tokens: int = 9) -> Read:
    return Read(*([line[n] for line in lines] for n in range(3)), tokens)


def read_metrics(gold: Gold, shown: Read, sourced: bool = True, least: float | None = None) -> dict[str, float]:
    spec = METRICS if least is None else [{"kind": "evidence_recall", "min_content": least}, *UNDER[1:], "token_recall"]
    (found,) = measure_all([Case(gold, shown, sourced, searched=True)], (), spec, "conf/eval/default")
    return dict(found)


# --- one gold passage ----------------------------------------------------------------------------


def figures(gold: Gold, shown: Read, least: float = 0.5) -> tuple[float, ...]:
    found = read_metrics(gold, shown, least=least)
    return tuple(found[name] for name in (*UNDER, "token_recall"))


@pytest.mark.parametrize(
    ("lines", "least", "expected"),
    [
        ([], 0.5, (0, 0, 0, 0)),
        ([(SENTENCE, "p1", True)], 0.5, (1, 1, 1, 1)),
        ([("bears: eat salmon", "p1", False)], 0.5, (1, 1, 0.75, 0.5)),  # half of the new words
        ([("bears: eat salmon", "p1", False)], 0.51, (0, 1, 0.75, 0.5)),  # a pointer only
        ([("bears: eat", "p1", False)], 0.5, (0, 1, 0.5, 0)),  # words that the question gives
        ([("bears: eat salmon", "p1", False), ("salmon: sockeye", "p1", False)], 1.0, (1, 1, 1, 1)),
        ([("bears: eat sockeye salmon", "p2", False)], 0.5, (0, 0, 0, 1)),  # another provenance: read, not covered
        ([(SENTENCE, "p2", True)], 0.5, (1, 1, 1, 1)),  # its words, under another name
        ([("He says: the bears eat", None, False), (" sockeye salmon, always", "p2", False)], 0.5, (1, 1, 1, 1)),
        ([("The bears eat red sockeye salmon.", None, False)], 0.5, (0, 0, 0, 1)),  # with a gap
        ([("BEAR: eats SALMONS, sockeyes", "p1", False)], 0.5, (1, 1, 1, 1)),
    ],
)
def test_evidence_of_one_gold_passage(lines, least, expected):
    assert figures(BEARS, context(*lines) if lines else NOTHING, least) == expected


def test_gold_whose_words_the_question_gives_needs_its_provenance_and_has_no_token_recall():
    gold = Gold("Do the bears eat?", {"p1": "Bears eat."}, ("Bears eat.",))
    assert read_metrics(gold, NOTHING) == dict.fromkeys(UNDER, 0) | {"tokens": 0}  # and it holds no qualifier
    expected = {"evidence_recall": 1, "provenance_recall": 1, "evidence_coverage": 0.5, "tokens": 9}
    assert read_metrics(gold, context(("bears: sleep", "p1", False))) == expected


# --- several, and unresolved -----------------------------------------------------------------------


def test_several_golds_are_averaged_and_their_words_pooled():
    texts = {"p1": SENTENCE, "p2": "Rivers freeze.", "p3": "Rivers thaw."}
    gold = Gold("What do bears eat?", texts, tuple(texts.values()))
    shown = context((SENTENCE, "p1", True), ("rivers: roar", "p2", False))
    # p2 keeps river of {river, freeze}: there by half; token recall: {sockeye, salmon, river} of 5
    assert figures(gold, shown) == pytest.approx((2 / 3, 2 / 3, (1 + 1 / 2 + 0) / 3, 3 / 5))


def test_evidence_that_does_not_resolve_and_a_context_that_names_no_passage_are_measured_by_words_alone():
    gold = Gold("What do bears eat?", {}, ("Salmon is eaten.",))
    assert read_metrics(gold, context(("bears: eat salmon", "p1", False))) == {"token_recall": 0.5, "tokens": 9}
    (found,) = measure_all([Case(BEARS, context((SENTENCE, None, False)))], (), METRICS, "conf/eval/default")
    assert found == {"token_recall": 1, "tokens": 9}  # of a system whose other contexts name some
    assert read_metrics(BEARS, NOTHING, sourced=False) == {"token_recall": 0, "tokens": 0}


def held(passage: str, text: str, quotation: str | None) -> bool:
    """Whether a text that names no passage holds the gold one, word for word."""
    quoted = {"p1": (quotation,)} if quotation else {}
    gold = Gold("What do bears eat?", {"p1": passage}, (quotation or passage,), quoted)
    return Case(gold, context((text, None, False)), searched=True).holds("p1", 1.0)


LONG = SENTENCE + " They do so in summer, by day."


@pytest.mark.parametrize(
    ("passage", "quotation", "text", "expected"),
    [
        (LONG, SENTENCE, "... and the bears eat sockeye salmon. They", True),  # a piece that is cut inside the passage
        (LONG, SENTENCE, "the bears eat sock", False),
        (LONG, SENTENCE, "eat sockeye salmon", False),
        ("No way.", None, "He said: No way. Then", True),  # a few words: as a sentence of their own alone
        ("No way.", None, "there is no way to tell", False),
        ("Opening hours", None, "Opening hours\nThe mill is open.", True),  # or as a line, whatever ends it
        ("Opening hours", None, "Opening hours\u2028The mill is open.", True),
    ],
)
def test_what_stands_in_a_text_word_for_word_is_held(passage, quotation, text, expected):
    assert held(passage, text, quotation) is expected


@pytest.mark.parametrize("shown", [NOTHING, context(("", None, False), tokens=0), context(("***", None, False))])
def test_a_context_in_which_nothing_fits_is_measured_and_gold_without_words_stands_in_no_text(shown):
    gold = Gold("What do bears eat?", {"p1": SENTENCE, "p2": "***"}, (SENTENCE, "***"))
    (found,) = measure_all([Case(gold, shown, searched=bool(any(shown.lines)))], (), METRICS, "conf/eval/default")
    assert (found["evidence_recall"], found["provenance_recall"]) == (0, 0)


def test_passages_of_equal_text_are_one_class_and_gold_is_found_under_either_name():
    columns = {"passage_id": ["a", "b", "c", "d", "e"], "doc_id": ["1", "2", "3", "4", "5"], "position": [0] * 5}
    columns |= {"group_id": ["g", "g", "g", "h", "g"], "speaker": [None, None, None, None, "Ann"]}
    passages = pl.DataFrame(columns | {"text": [SENTENCE, f"  {SENTENCE.upper()}", "C++.", SENTENCE, SENTENCE]})
    assert classes(passages) == {"a": "a", "b": "a", "c": "c", "d": "d", "e": "e"}
    questions = pl.DataFrame({"question_id": ["q"], "position": [0], "text": ["What do bears eat?"]})
    evidence = pl.DataFrame({"question_id": ["q"], "n": [0], "text": [None], "passage_id": ["b"]})
    merged = of_classes(passages, evidence.cast({"text": pl.String}))
    assert merged[0]["passage_id"].to_list() == ["a"]
    assert gold_of(questions, *merged, passages)["q"].passages.keys() == {"a"}


def test_symbols_count_by_what_they_say():
    schema = TABLES["contexts"].empty().schema
    rows = [
        ("q", "graph", False, 64, 0, "ids", None, False, [], '{"e":["bears"],', None, 12),
        ("q", "graph", False, 64, 1, "ids", "p1", False, [3], "[0,1,2]]}", "bears eat sockeye salmon", 12),
    ]
    ((key, read),) = reads(pl.DataFrame(rows, schema=schema, orient="row"))
    assert key == ("q", "graph", 64)
    assert figures(BEARS, read, least=1.0) == (1, 1, 1, 1)
    assert read.tokens == 12


# --- negation and quantity -------------------------------------------------------------------------

FED = "Colistin was never given without 2 tablets of food."
DOSED = Gold("How?", {"p1": FED, "p2": "Colistin acts."}, (FED,))
SAFE = Gold("Which drug?", {"p1": "Aspirin is not safe here."}, ("Aspirin is not safe here.",))


@pytest.mark.parametrize(
    ("gold", "lines", "expected"),
    [
        (DOSED, [(FED, "p1", True)], (1, 1)),
        (DOSED, [("Colistin given without 2 tablets food.", "p1", False)], (1, 0)),
        (DOSED, [("Colistin never given 2 tablets food.", "p1", False)], (1, 0)),
        (DOSED, [("Colistin never given without tablets food.", "p1", False)], (1, 0)),
        (DOSED, [("Colistin given 2 tablets food.", "p1", False), ("never without", "p2", False)], (1, 0)),
        (DOSED, [("Colistin given 2 tablets food.", "p1", False), ("never without", "p1", False)], (1, 1)),
        (DOSED, [("never without 2", "p1", False)], (0, 0)),  # the passage is not there
        (SAFE, [("Aspirin is safe here.", "p1", False)], (1, 0)),
        (SAFE, [("Aspirin isn\u2019t safe here.", "p1", False)], (1, 1)),
        (SAFE, [("Aspirin can't be safe here.", "p1", False)], (1, 1)),
    ],
)
def test_a_passage_is_kept_with_the_negations_and_numbers_that_stand_under_it(gold, lines, expected):
    found = read_metrics(gold, context(*lines))
    assert (found["qualified_recall"], found["qualified_kept"]) == expected


# --- semantic, floors, F1 ------------------------------------------------------------------------------

VECTORS = {"gold one": (1, 0), "gold two": (0, 1), "near both": (0.6, 0.8), "near one": (1, 0)}


def semantic(shown: Read, *others: Read) -> dict[str, float]:
    """Under an embedder of known vectors."""
    gold = Gold("?", {}, ("gold one", "gold two"))
    elsewhere = [Case(gold, other) for other in others]
    embed = lambda texts: np.array([VECTORS[text] for text in texts])  # noqa: E731
    (found,) = measure_all([Case(gold, shown)], elsewhere, ["semantic"], "conf/eval/default", embed)
    return dict(found)


BOTH = context(("near both", None, False), ("near one", None, False), ("near one", None, False))


def test_semantic_is_the_mean_of_each_golds_best_cosine_and_its_floor_that_of_another_questions_context():
    assert semantic(NOTHING) == {"semantic": 0}
    assert semantic(BOTH) == {"semantic": pytest.approx((1 + 0.8) / 2)}
    expected = {"semantic": pytest.approx(0.9), "semantic_floor": pytest.approx(0.5)}
    assert semantic(BOTH, context(("near one", None, False))) == expected


def test_only_metrics_that_text_alone_can_please_have_a_floor():
    case = Case(BEARS, context((SENTENCE, "p1", True)))
    (found,) = measure_all([case], [Case(BEARS, NOTHING)], METRICS, "conf/eval/default")
    assert {name for name in found if name.endswith("_floor")} == {"token_recall_floor"}
    assert (found["token_recall"], found["token_recall_floor"]) == (1, 0)


# --- gold and long rows -----------------------------------------------------------------------------------

STATED = pl.DataFrame(
    {"question_id": ["q1", "q2", "q1"], "n": [1, 0, 0], "text": ["two, as stated", "Lost.", None],
     "passage_id": ["p2", None, "p1"]}
)  # fmt: skip


def test_gold_stands_in_file_order_as_stated_or_as_its_passage_and_unresolved_has_its_text_alone():
    passages = pl.DataFrame({"passage_id": ["p1", "p2"], "text": ["One.", "Two."]})
    asked = pl.DataFrame({"question_id": ["q2", "q1", "q3"], "text": ["B?", "A?", "C?"], "position": [1, 0, 2]})
    gold = gold_of(asked, STATED, passages)
    assert list(gold) == ["q1", "q2"]  # where there is evidence
    assert (gold["q1"].question, gold["q1"].texts) == ("A?", ("One.", "two, as stated"))
    assert list(gold["q1"].passages.items()) == [("p1", "One."), ("p2", "Two.")]
    assert (gold["q2"].passages, gold["q2"].texts) == ({}, ("Lost.",))
