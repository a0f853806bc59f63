"""Figures derived again from kept values by question, and pages compared with what is kept."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import problems
from secateur.evaluation.compared import Measured, comparisons, means
from secateur.evaluation.comparison import Row
from secateur.evaluation.subsets import Units
from secateur.report.kept import DIGITS, P_DIGITS, by_question, derived, kept_table, quotable, valued, write_kept
from secateur.verification.prose import checked
from secateur.verification.verify import drifted, verified

COUNT = 24
TESTS = [{"row": "ours", "minus": "plain", "metric": "evidence_recall@64"}]
EVAL = {"against": ["bm25"], "permutations": 300, "permutations_at_floor": 2000, "seed": 7}
CONFIG = {f"eval.{key}": value for key, value in EVAL.items()}
CONFIG |= {"extra.matched_baselines": {"fitted": ["lexical"], "elsewhere": ["x"]}, "extra.primary": TESTS}
SOURCE = {"command": "make run EXPERIMENT=toy", "commit": "0123456789abcdef", "finished": "2026-01-01"}
RECALL = "evidence_recall@claim"


def row(system: str, scorer: str | None = None, **axes: str) -> Row:
    return Row(system, "blind", scorer, False, tuple(sorted(axes.items())), system == "rankers")


ROWS = [
    row("rankers", "bm25", ranker="bm25"), row("rankers", "zsum", ranker="zsum"), row("ours", ranker="graph"),
    row("plain", ranker="plain"), row("ecs", "fitted", ranker="a"), row("ecs", "lexical", ranker="b"),
]  # fmt: skip


def measured(name: str = "toy") -> Measured:
    """Values with ties and gaps in documents of several questions, of which two are equal."""
    rng, parts = np.random.default_rng(3), []
    ids = [f"q{n:02}" for n in rng.permutation(COUNT)]
    for place, one in enumerate(ROWS):
        for metric, hop in ((RECALL, None), (RECALL, "bridge"), ("evidence_recall@64", None), ("refused", None)):
            values = rng.integers(0, 4, COUNT) / 3 + place / 7
            part = pl.DataFrame({"question_id": ids, "value": values}).head(COUNT - place)
            system, order, scorer, aware = one.key
            texts = {"system": system, "order": order, "scorer": scorer, "metric": metric, "hop": hop}
            typed = {key: pl.lit(value, pl.String) for key, value in texts.items()}
            parts.append(part.with_columns(**typed, answer_aware=aware))
    firsts = ["q00" if question == "q01" else question for question in ids]
    table = pl.DataFrame({"question_id": ids, "first": firsts, "cluster_id": firsts})
    return Measured(name, "all", pl.concat(parts), ROWS, {"all": set(ids), "first": set(ids[:9])}, Units(table, 0, 0))


def kept(docs, sets, config=CONFIG):
    known = (config["extra.matched_baselines"], config["extra.primary"], SimpleNamespace(**EVAL))
    made = quotable(means(sets), comparisons(sets, *known)[0])
    for name, frame in made.items():
        floats = frame.select(pl.col(pl.Float64)).columns
        rounded = [pl.col(c).round(P_DIGITS if c.startswith("p") else DIGITS) for c in floats]
        write_kept(frame.with_columns(rounded), docs, "toy", name, SOURCE)
    values, settings = by_question(sets, config)
    for name, frame in values.items():
        write_kept(frame, docs, "toy", name, SOURCE | settings)
    return made


@pytest.fixture
def root(tmp_path):
    kept(tmp_path / "docs", [measured(), measured("other")])
    return tmp_path


def test_the_same_figures_come_from_kept_values_to_the_bit(tmp_path):
    made = kept(tmp_path, [measured(), measured("other")])
    again = derived(tmp_path, "toy")
    for name in ("metrics", "comparisons"):
        assert problems(TABLES[name], made[name]) == []
        assert again[name].equals(made[name])
    assert set(made["metrics"]["subset"]) == {"all", "first", "bridge"}
    assert {"primary", "ranker", "strongest", "language_model"} <= set(made["comparisons"]["axis"])
    assert "named" not in set(made["comparisons"]["axis"])  # but Holm counts it
    assert set(made["metrics"]["metric"]) == {RECALL}
    assert valued(tmp_path, "toy") and not valued(tmp_path, "elsewhere")


def test_kept_figures_are_verified_and_without_values_this_is_said(root):
    ((line, wrong),) = verified(root / "docs")
    assert wrong == [] and line.endswith("all as kept") and "rows derived in" in line
    (root / "docs/results/toy/values.parquet").unlink()
    assert list(verified(root / "docs")) == [("toy: no values by question kept", [])]


@pytest.mark.parametrize(
    ("table", "column", "by"), [("metrics", "low", 1e-4), ("metrics", "n", 1), ("comparisons", "p_holm", 2e-6)]
)
def test_a_changed_digit_is_found_with_file_row_and_fix(root, table, column, by):
    frame = kept_table(root / "docs", "toy", table)
    changed = pl.when(pl.int_range(pl.len()) == 0).then(pl.col(column) + by).otherwise(column).alias(column)
    write_kept(frame.with_columns(changed), root / "docs", "toy", table, SOURCE)
    ((line, (wrong,)),) = verified(root / "docs")
    assert "1 of them differ" in line
    found = f"{column} is {frame[column][0] + by}"[:20]
    assert all(part in wrong for part in (f"toy/{table}.parquet: toy, ", "blind, ", found, "Fix: make keep NAME=toy"))


def test_rows_that_are_missing_or_too_many_are_found(root):
    frame = kept_table(root / "docs", "toy", "metrics")
    extra = frame.head(1).with_columns(system=pl.lit("ghost"))
    write_kept(pl.concat([frame.slice(1), extra]), root / "docs", "toy", "metrics", SOURCE)
    ((_, wrong),) = verified(root / "docs")
    assert sorted("kept, not derived" in text for text in wrong) == [False, True]
    assert sum("derived, not kept" in text for text in wrong) == 1


def test_subsets_and_rows_of_one_set_do_not_leak_into_another(tmp_path):
    other = measured("other")
    kept(tmp_path, [measured(), replace(other, rows=other.rows[:3], subsets={"all": other.subsets["all"]})])
    again = derived(tmp_path, "toy")["metrics"].filter(dataset="other")
    assert set(again["subset"]) == {"all", "bridge"} and set(again["system"]) == {"rankers", "ours"}


def prose(root, text: str, strict: bool = True):
    page = root / "page.md"
    page.write_text(text, encoding="utf-8")
    return checked(page, root / "docs", strict)


def mark(*rows: str, **more: str) -> str:
    told = "".join(f", {key}: {value}" for key, value in more.items())
    return f"<!-- kept {{experiment: toy, order: blind, metric: {RECALL}, columns: [toy], rows: [{', '.join(rows)}]{told}}} -->"


def figures(root, system: str = "ours") -> dict:
    (one,) = kept_table(root / "docs", "toy", "metrics").filter(dataset="toy", subset="all", system=system).to_dicts()
    return one


def pair(root, axis: str = "ranker") -> dict:
    rows = kept_table(root / "docs", "toy", "comparisons").filter(dataset="toy", subset="all", metric=RECALL, axis=axis)
    return rows.filter(system="plain", baseline="ours").to_dicts()[0]


def test_numbers_that_agree_are_counted_as_derived_and_those_of_code_tables_and_versions_are_no_figures(root):
    one, two = figures(root), pair(root)
    text = f"On `0.99` by Qwen2.5-0.5B, ours has {one['value']:.3f} ({one['low']:.2f} to {one['high']:.2f}), n {one['n']}. {mark('ours')} "
    text += f"It loses {two['difference']:+.3f} ({two['low']:+.3f} to {two['high']:+.3f}), p {two['p_holm']:.2f}. {mark('plain - ours')}\n"
    made = prose(root, text)
    assert made.problems == []
    assert made.counts == {"derived": 2}


@pytest.mark.parametrize("what", ["value", "low", "n"])
def test_a_stale_number_is_named_with_line_written_and_kept_value(root, what):
    one = figures(root)
    one[what] += 1
    text = f"First.\n\n- ours has {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f}), n {one['n']} {mark('ours')}\n"
    (problem,) = prose(root, text).problems
    written = str(one[what]) if what == "n" else f"{one[what]:.3f}"
    assert "page.md, line 3: " in problem and written in problem and "Fix: write" in problem
    assert (str(figures(root)[what]) if what == "n" else f"{figures(root)[what]:.4f}") in problem


def test_p_each_speaks_of_every_cell_and_at_best_of_the_smallest(root):
    two = mark("plain - ours", "ours - plain")
    by, p = pair(root)["difference"], pair(root)["p_holm"]
    numbers = f"{by:+.3f} and {-by:+.3f}"
    for text in (f"p {p:.3f} each", f"p {p:.3f} after Holm at best", f"p < {p + 0.001:.4f}"):
        assert prose(root, f"They differ by {numbers}, {text} {two}\n").problems == []
    assert len(prose(root, f"They differ by {numbers}, p {p + 0.1:.3f} each {two}\n").problems) == 2
    assert len(prose(root, f"They differ by {numbers}, p < {p / 2:.4f} {two}\n").problems) == 1
    assert prose(root, f"p is {p:.4f} {mark('plain - ours', part='p_holm')}\n").problems == []
    assert prose(root, f"(n {figures(root)['n']} {mark('ours', part='n')})\n").problems == []


@pytest.mark.parametrize("label", ["unkept", "setting", "published"])
def test_a_number_rests_on_a_comment_of_its_own_paragraph_item_or_table(root, label):
    text = f"- A is .5 (.4 to .6). <!-- {label} -->\n- B is .7.\n\nC is .1, D +.2.\n\n| .3 |\n\n<!-- {label} -->\n"
    made = prose(root, text)
    assert made.counts == {label: 2}
    found = [problem.split("page.md, ")[1].partition(": no")[0] for problem in made.problems]
    assert found == ["line 2: .7", "line 4: .1, +.2"]
    assert prose(root, "B is .7.\n", strict=False).problems == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"ours .5 and .6 {mark('ours')}", "2 figures are written (.5, .6), and the comment names 1"),
        (f"ours .5 {mark('our')}", "did you mean 'ours'?"),
        (f"ours .5 {mark('ours').replace(RECALL, 'token_recall@claim')}", "0 rows 'ours'"),
        (f"ours .5 {mark('ours').replace('toy, order', 'gone, order')}", "Fix: make keep NAME=gone"),
        ("ours .5 <!-- kept {experiment: toy, rows: [ours]} -->", "cannot be read"),
        ("ours .5 <!-- kept {experiment: [toy -->", "cannot be read"),
    ],
)
def test_a_comment_that_binds_nothing_says_why(root, text, said):
    (problem,) = prose(root, f"{text}\n").problems
    assert said in problem and "page.md, line 1" in problem and "Fix: " in problem


def test_a_page_whose_table_has_drifted_is_named_with_the_line(root):
    table = f"<!-- figures\nexperiment: toy\norder: blind\ncolumns: {{recall: toy {RECALL}}}\nrows: [ours]\n-->\nold\n<!-- end -->\n"
    (root / "README.md").write_text("Nothing.\n")
    (root / "docs/results.md").write_text(f"Page.\n\n{table}\nB is .7. <!-- unkept -->\n")
    (_, none), (line, (wrong,)) = drifted(root)
    assert none == [] and "1 unkept" in line
    assert wrong.startswith("docs/results.md, line 9: found 'old', derived '| row |")
    assert wrong.endswith("Fix: make docs")
