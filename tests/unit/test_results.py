"""Figures kept of an experiment, and the page's tables made from them."""

import json

import pytest

from secateur.core.errors import SecateurError
from secateur.report.results import _once, _read, _written, filled

ROW = {
    "dataset": "toy",
    "order": "blind",
    "scorer": None,
    "subset": "all",
    "n": 12,
    "units": 3,
    "low": 0.1,
    "high": 0.3,
}
PAIR = ROW | {"baseline": "plain", "baseline_scorer": None, "axis": "ranker", "difference": 0.05, "p_holm": 0.04}
KEPT = {
    "command": "make run EXPERIMENT=toy",
    "commit": "0123456789abcdef",
    "digests": {"metrics": "fedcba9876543210"},
    "metrics": [
        ROW | {"system": "ours", "metric": "evidence_recall@claim", "value": 0.25},
        ROW | {"system": "ours", "metric": "tokens@claim", "value": 99.6},
        ROW | {"system": "plain", "metric": "evidence_recall@claim", "value": 0.2},
        ROW | {"system": "plain", "order": "aware", "metric": "evidence_recall@claim", "value": 0.9},
        ROW | {"system": "sessions", "dataset": "talk", "metric": "memory_evidence_recall_gain", "value": 0.125},
    ],
    "comparisons": [
        PAIR | {"system": "ours", "metric": "evidence_recall@claim"},
        PAIR | {"system": "ours", "metric": "token_recall@claim", "low": None, "high": None},
        PAIR | {"system": "moved", "metric": "token_recall@claim", "difference": 0.0, "low": 0.0, "high": 0.0},
    ],
}


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/toy.json").write_text(_written(KEPT))
    return tmp_path


def page(mark: str) -> str:
    return f"Before.\n\n<!-- figures: {mark} -->\nold\n<!-- end -->\n\nAfter.\n"


def test_a_table_is_made_anew_between_its_marks_and_nothing_else_is_touched(docs):
    made = filled(page("toy toy:blind"), docs)
    assert made.startswith("Before.\n\n<!-- figures: toy toy:blind -->\n")
    assert made.endswith("<!-- end -->\n\nAfter.\n")
    assert "old" not in made
    assert "| ours | 0.250 (0.100 to 0.300) | 100 |" in made
    assert "0.900" not in made  # of the other order
    assert "moved" not in made  # the same in every question
    assert "| ranker | ours | plain | +0.050 (+0.100 to +0.300) p 0.0400 |" in made
    assert "+0.050 (unbounded to unbounded) p 0.0400" in made
    assert "`make run EXPERIMENT=toy`, commit 0123456789, metrics fedcba9876." in made
    assert filled(made, docs) == made


def test_a_table_of_many_rows_shows_the_pairs_of_one_of_them(docs):
    kept = KEPT | {"metrics": [*KEPT["metrics"], ROW | {"system": "other", "metric": "tokens@claim", "value": 7.0}]}
    kept["comparisons"] = [*KEPT["comparisons"], PAIR | {"system": "other", "metric": "evidence_recall@claim"}]
    (docs / "results/toy.json").write_text(_written(kept))
    made = filled(page("toy toy:blind ours"), docs)  # among its pairs is none with `other`
    assert "| ours |" in made
    assert "| plain |" in made
    assert "other" not in made
    assert "other" in filled(page("toy toy:blind plain"), docs)
    with pytest.raises(SecateurError, match="has no figures of data set 'toy' in order blind of row nobody"):
        filled(page("toy toy:blind nobody"), docs)


def test_a_mark_may_name_a_subset_and_whether_the_answer_is_seen(docs):
    rows = [
        {"system": name, "metric": "f1_at_gold", "subset": subset, "answer_aware": aware, "order": None, "value": value}
        for name, subset, aware, value in [
            ("free", "cat1-4", False, 0.5),
            ("told", "cat1-4", True, 0.625),
            ("free", "F20", False, 0.375),
        ]
    ]
    kept = KEPT | {"metrics": [ROW | row for row in rows], "comparisons": []}
    (docs / "results/talk.json").write_text(_written(kept))
    free, told = (filled(page(f"talk toy:{sight}"), docs) for sight in ("without_answer", "with_answer"))
    assert "| free | 0.500" in free
    assert "told" not in free
    assert "| told | 0.625" in told
    assert "0.375" in filled(page("talk toy::F20"), docs)


def test_what_is_kept_is_read_again_and_has_a_line_a_row_under_one_of_columns(tmp_path):
    text = _written(KEPT)
    (tmp_path / "toy.json").write_text(text)
    assert _read(tmp_path / "toy.json") == KEPT
    assert json.loads(text)["metrics"][0] == list(KEPT["metrics"][0])
    assert len(text.splitlines()) == 2 + 3 + sum(len(KEPT[table]) + 3 for table in ("metrics", "comparisons"))


def test_lines_of_one_scorer_that_say_the_same_are_shown_once():
    lines = [["a · dpo", "0.1"], ["a · fixed", "0.2"], ["b · dpo", "0.3"], ["b · fixed", "0.2"]]
    assert _once(lines) == [["a · dpo", "0.1"], ["a · fixed", "0.2"], ["b · dpo", "0.3"]]


def test_figures_of_memory_are_lines(docs):
    assert "| evidence recall that memory gives at equal tokens sent | 0.125 (0.100 to 0.300) | 12 |" in filled(
        page("toy talk"), docs
    )


def test_a_page_without_a_mark_stays_as_it_is(docs):
    assert filled("Nothing.\n", docs) == "Nothing.\n"


def test_a_mark_of_an_experiment_that_was_not_kept_says_what_to_do(docs):
    with pytest.raises(SecateurError, match=r"other.json: not there. Fix: secateur keep other"):
        filled(page("other toy"), docs)


def test_a_mark_that_names_nothing_is_told(docs):
    with pytest.raises(SecateurError, match=r"toy.json has no figures of data set 'tyo' in order blind.*toy"):
        filled(page("toy tyo:blind"), docs)
