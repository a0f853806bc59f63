"""The report's sections on the lemmas, also where a graph lacks some of the measures."""

import polars as pl

from secateur.report.sections.lemmas import growth_section, lemma_section

KEYS = {"corpus": "c", "dataset": "d", "system": "s", "order": "blind"}
ROWS = [
    ("growth_edges", 0.5, 40.0, 10),
    ("growth_edges", 1.0, 80.0, 20),
    ("exponent_edges", 1.0, 1.0, 2),
    ("bytes_edges", 1.0, 2e6, 80),
    ("cover_entities", 0.1, 0.4, 160),
    ("cover_relations", 0.1, 0.5, 80),
    ("touched", 200.0, 0.0123, 5),
    ("touched_bound", 200.0, 1.0, 5),
    ("survived", 50.0, 0.75, 5),
    ("tau_runs", 0.4, 30.0, 80),
    ("tau_edges", 0.4, 60.0, 5),
    ("window", 2.0, 0.3, 6),
    ("window_random", 2.0, 0.2, 6),
    ("window_single", 2.0, 0.4, 6),
    ("window_cut", 2.0, 0.5, 6),
]


def measures(rows: list[tuple]) -> pl.DataFrame:
    frame = pl.DataFrame(
        rows, schema={"measure": pl.String, "at": pl.Float64, "value": pl.Float64, "n": pl.Int64}, orient="row"
    )
    return frame.with_columns(**{key: pl.lit(value) for key, value in KEYS.items()})


def cells(part: dict) -> list[list[str]]:
    return [[cell["text"] for cell in row["cells"]] for row in part["table"]["rows"]]


def test_without_measures_there_are_no_sections():
    assert growth_section(measures([])) is None
    assert lemma_section(measures([])) is None
    assert growth_section(measures([row for row in ROWS if row[0].startswith("bytes")])) is None


def test_each_lemma_that_was_measured_has_its_part_with_its_n():
    parts = lemma_section(measures(ROWS))["parts"]
    assert [part["title"].split(":")[0] for part in parts] == [
        "Lemma 1",
        "Lemma 5",
        "Corollary 6",
        "Lemma 7",
        "Lemma 14, corollary 15",
    ]
    assert all("n = " in part["note"] for part in parts)


def test_questions_without_evidence_leave_recall_and_dilution_out():
    rows = [row for row in ROWS if not row[0].startswith("window")]
    titles = [part["title"] for part in lemma_section(measures(rows))["parts"]]
    assert not any(title.startswith("Lemma 14") for title in titles)


def test_dilution_is_relative_to_the_sentence_alone_and_stands_beside_the_claim():
    rows = cells(lemma_section(measures(ROWS))["parts"][-1])
    assert [row[1] for row in rows] == [".750", ".500", ".500", ".500"]


def test_one_corpus_is_shown_once_whatever_its_question_sets():
    twice = pl.concat([measures(ROWS), measures(ROWS).with_columns(dataset=pl.lit("other"))])
    assert len(growth_section(twice)["parts"][1]["table"]["rows"]) == len(
        growth_section(measures(ROWS))["parts"][1]["table"]["rows"]
    )
