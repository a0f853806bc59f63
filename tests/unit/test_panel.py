"""`secateur panel`: how alike two readers rank the same rows."""

import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_compare import COUNT, experiment

from secateur.core.artifacts import read_json, write_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.report.panel import lines, panel, ranks_alike

FORMS = ("whole", "dense", "lines", "words")
HERE = Path()


def rows(worth: dict[str, tuple[float, ...]]) -> tuple[dict, dict]:
    """Figures of each form under each reader, spread over the questions alike, and the axes of the rows."""
    spread = [math.sin(n) / 10 for n in range(COUNT)]
    found, axes = {}, {}
    for reader, means in worth.items():
        for form, mean in zip(FORMS, means, strict=True):
            name = form if reader == "small" else f"{form}:{reader}"
            found[(name, "blind", None)] = [mean + x * (1 + FORMS.index(form)) for x in spread]
            axes[name] = {"reader": reader, "form": form}
    return found, axes


def agreed(root: Path, large: tuple[float, ...], **options) -> dict:
    found, axes = rows({"small": (0.4, 0.3, 0.2, 0.1), "large": large})
    experiment(root, "two", found, **options, **axes)
    (only,) = panel(root, "two", "evidence_recall@claim")
    return only


def test_readers_that_rank_alike_correlate_wholly_and_part_on_nothing(tmp_path):
    found = agreed(tmp_path, (0.8, 0.7, 0.5, 0.1))
    assert found["correlation"] == pytest.approx(1)
    assert (found["rows"], found["pairs"], found["n"], found["units"]) == (4, 6, COUNT, COUNT)
    assert found["both_alike"] > 0
    assert found["both_contrary"] == 0
    assert found["parted"] == []
    assert found["readers"] == ["large", "small"]


def test_a_pair_that_they_put_contrariwise_is_named_with_what_it_differs_in(tmp_path):
    found = agreed(tmp_path, (0.8, 0.9, 0.5, 0.1))
    assert 0 < found["correlation"] < 1
    assert found["both_contrary"] == 1
    (pair,) = found["parted"]
    assert (pair["a"], pair["b"], pair["axes"]) == ("whole", "dense", ["form"])
    assert pair["means"][0] < 0 < pair["means"][1]
    said = lines(found, "evidence_recall@claim")
    assert said[0] == "toy, order-blind: 4 rows by evidence_recall@claim, large and small"
    assert re.fullmatch(r"  they part on      whole less dense \(form\): -0\.10\d and \+0\.\d{3}", said[-1])


def test_few_units_tell_nothing(tmp_path):
    found = agreed(tmp_path, (0.8, 0.9, 0.5, 0.1), min_units=COUNT + 1)
    assert found["correlation"] is None
    assert found["parted"] == []
    assert "too few to tell" in lines(found, "evidence_recall@claim")[-1]


def test_rows_of_one_reader_are_refused_with_what_is_needed(tmp_path):
    found, axes = rows({"small": (0.4, 0.3, 0.2, 0.1)})
    experiment(tmp_path, "one", found, **axes)
    with pytest.raises(SecateurError, match=r"one has no 3 rows whose evidence_recall@claim two readers.*crossed"):
        panel(tmp_path, "one", "evidence_recall@claim")


def test_figures_that_stand_in_several_files_are_all_read(tmp_path):
    """A variant has a file of evidence and one of gains, and gains may be in shards."""
    found, axes = rows({"small": (0.4, 0.3, 0.2, 0.1), "large": (0.8, 0.7, 0.5, 0.1)})
    experiment(tmp_path, "two", found, **axes)
    record = tmp_path / "results/experiments/two/run.json"
    config = read_json(record)
    parts = []
    for variant in config["config"]["extra.variants"]:
        whole = pl.read_parquet(tmp_path / variant["file"])
        for n, half in enumerate((whole.head(COUNT // 2), whole.tail(COUNT - COUNT // 2))):
            path = f"{variant['file']}.{n}"
            write_table(TABLES["question_metrics"], half, tmp_path / path)
            parts.append(variant | {"file": path})
    config["config"]["extra.variants"] = parts
    write_json(record, config)
    (only,) = panel(tmp_path, "two", "evidence_recall@claim")
    assert only["n"] == COUNT
    assert only["correlation"] == pytest.approx(1)


def test_a_row_that_one_reader_lacks_is_left_out(tmp_path):
    found, axes = rows({"small": (0.4, 0.3, 0.2, 0.1), "large": (0.8, 0.7, 0.5, 0.1)})
    del found[("words:large", "blind", None)]
    experiment(tmp_path, "two", found, **{k: v for k, v in axes.items() if k != "words:large"})
    (only,) = panel(tmp_path, "two", "evidence_recall@claim")
    assert (only["rows"], only["pairs"]) == (3, 3)


@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 2)), min_size=3, max_size=8), st.floats(0.1, 3))
def test_only_ranks_count(values, scale):
    one = np.array([values])
    wanted = 1.0 if len(set(values)) > 1 else 0.0
    np.testing.assert_allclose(ranks_alike(one, np.exp(one) * scale), wanted, atol=1e-9)
    np.testing.assert_allclose(ranks_alike(one, -one), -wanted, atol=1e-9)
