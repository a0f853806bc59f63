"""Where sentences end: boundaries set by hand, in eleven languages, and what no stop may cut."""

import json
from pathlib import Path

import pytest

from secateur.datasets.sentences import sentences

DATA = Path(__file__).parents[1] / "data/sentences.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
LANGUAGES = sorted({row["lang"] for row in ROWS})


def f1(rows: list[dict]) -> float:
    """F1 of the boundaries between two sentences, by where the second begins."""
    right = found = wanted = 0
    for row in rows:
        text = row["text"]
        starts = {start for _, start, _ in sentences(text) if start and "\n" not in text[:start][-1:]}
        gold = {end + len(text[end:]) - len(text[end:].lstrip()) for end in row["ends"]}
        right, found, wanted = right + len(starts & gold), found + len(starts), wanted + len(gold)
    return 2 * right / (found + wanted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_boundaries_are_those_set_by_hand_and_offsets_those_of_the_text(language):
    rows = [row for row in ROWS if row["lang"] == language]
    assert sum(len(row["ends"]) for row in rows) >= 50
    assert f1(rows) >= (0.98 if language == "en" else 0.95)
    for row in rows:
        assert all(row["text"][start:end] == text == text.strip() != "" for text, start, end in sentences(row["text"]))


@pytest.mark.parametrize(
    "sentence",
    [
        "Gen. Robert E. Lee met Olave St. Clair.",
        "J. K. Rowling, J.R.R. Tolkien and George W. Bush met at 5 p.m. on Monday.",
        "Acme Inc. paid $3.5 million vs. approx. 2 million at No. 10, e.g. in the U.S. Army.",
        "Yahoo! Inc. bought it, i.e. all of it (see Fig. 2 and pp. 3).",
        '"Stop!" cried the guard... and ran.',
        "Der Dr. Meier kam am 3. Mai z. B. nach St. Veit, d. h. ca. 5 km weit.",
        "А. С. Пушкин жил в г. Москва, т. е. здесь.",
        "Version 1.2.3 of file.txt is at http://a.b/c.d today.",
    ],
)
def test_no_stop_within_a_sentence_cuts_it(sentence):
    assert [text for text, *_ in sentences(f"{sentence} It rained. {sentence}")] == [sentence, "It rained.", sentence]


def test_closing_marks_stay_with_their_sentence():
    quoted = [text for text, *_ in sentences('He said "Go." (She left.) It rained.')]
    assert quoted == ['He said "Go."', "(She left.)", "It rained."]


@pytest.mark.parametrize("mark", [".", "!", "…", "！", '. "', "(x. "])
def test_a_long_run_of_marks_is_read_in_a_moment(mark):
    assert len([*sentences(mark * 50_000)]) <= 50_000
