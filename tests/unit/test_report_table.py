"""The table writer: the same cells as HTML, Markdown, LaTeX, CSV and text."""

import re
import shutil
import subprocess

import pytest

from secateur.report.table import Column, Number, Row, Table, csv, floated, html, latex, markdown, plain, tidy

COLUMNS = [Column("row"), Column("kind", align="left"), Column("recall", best="higher"), Column("tokens", 0, "lower")]
TABLE = Table(
    [*COLUMNS, Column("minus b", signed=True)],
    [
        Row(("a_1", "graph", Number(0.5, 0.4, 0.6, ("n 9",)), 1200, Number(-0.1, None, 0.2)), "ours"),
        Row(("<b>", "plain", 0.25, 900, None)),
    ],
    "A caption.",
)


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (
            markdown,
            "| row | kind | recall | tokens | minus b |\n| --- | --- | ---: | ---: | ---: |\n"
            "| a_1 | graph | **0.500** (0.400 to 0.600; n 9) | 1,200 | -0.100 (unbounded to +0.200) |\n"
            "| <b> | plain | 0.250 | **900** |  |",
        ),
        (
            latex,
            "% needs \\usepackage{booktabs}\n% A caption.\n\\begin{tabular}{llrrr}\n\\toprule\nrow & kind & recall & tokens & minus b \\\\\n\\midrule\n"
            "a\\_1 & graph & \\textbf{0.500} (0.400 to 0.600; n 9) & 1,200 & $-$0.100 (unbounded to +0.200) \\\\\n"
            "$<$b$>$ & plain & 0.250 & \\textbf{900} &  \\\\\n\\bottomrule\n\\end{tabular}",
        ),
        (
            csv,
            "row,kind,recall,recall low,recall high,tokens,minus b,minus b low,minus b high\n"
            "a_1,graph,0.5,0.4,0.6,1200,-0.1,,0.2\n<b>,plain,0.25,,,900,,,",
        ),
    ],
)
def test_a_table_is_written_with_its_intervals_and_the_best_in_bold(write, expected):
    assert write(TABLE) == expected


def test_text_has_the_same_cells_and_a_table_without_rows_says_so():
    heads, first, second = plain(TABLE).splitlines()
    cells = ["a_1", "graph", "0.500 (0.400 to 0.600; n 9)", "1,200", "-0.100 (unbounded to +0.200)"]
    assert re.split(r"\s{2,}", first) == cells
    assert re.split(r"\s{2,}", second) == ["<b>", "plain", "0.250", "900", "-"]
    assert heads.index("kind") == first.index("graph")
    assert plain(Table(COLUMNS, [])) == "no rows"


def test_html_escapes_text_and_sets_rows_and_the_best_apart():
    page = html(TABLE)
    for part in ('<tr class="ours">', "<b>0.500</b>", "0.400 to 0.600", "&lt;b&gt;", "A caption."):
        assert part in page


def test_a_constant_column_moves_to_the_caption_and_an_empty_one_goes():
    columns, rows = map(Column, ("row", "n", "x", "none")), [Row(("a", 9, 0.5, None)), Row(("b", 9, 0.25, None))]
    same = tidy(Table([*columns], rows))
    assert (same.heads, same.caption) == (["row", "x"], "n: 9 in all rows.")
    assert tidy(Table([Column("row"), Column("n")], [Row(("a", 9))])).heads == ["row", "n"]  # of one row nothing is


@pytest.mark.parametrize(("columns", "blocks"), [(1, [1]), (6, [6]), (7, [4, 4]), (12, [5, 5, 4])])
def test_html_has_at_most_six_columns_side_by_side_and_every_block_the_labels_of_the_rows(columns, blocks):
    rows = [Row(tuple(float(n + r) for n in range(columns))) for r in range(2)]
    heads = [Column(f"c{n}") for n in range(columns)]
    parts = html(Table(heads, rows)).split("<table>")[1:]
    assert [part.count('scope="col"') for part in parts] == blocks
    assert all('<th scope="col">c0</th>' in part for part in parts)
    labelled = [re.findall("c[0-9]+", part) for part in html(Table(heads, rows, labels=2)).split("<table>")[1:]]
    assert all(names[:2] == ["c0", "c1"][:columns] for names in labelled)
    assert {name for names in labelled for name in names} == {f"c{n}" for n in range(columns)}


def test_a_long_table_shows_its_first_rows_and_folds_the_whole():
    long = Table([Column("row"), Column("x")], [Row((f"r{n}", n)) for n in range(5)])
    opened, folded = html(long, 2).split("<details>")
    assert (opened.count("<tr"), folded.count("<tr")) == (3, 6)
    assert "all 5 rows" in folded
    assert "<details>" not in html(long, 5)


SIGNS = ("* starred", "[optional]", "a_b^c~#1 {x} \\", 'mine|"x" <= y')
SIGNS += ("−5 ≥ × – — …", "café naïve “quoted” ‘x’ · €", "Δ → ★")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
def test_latex_compiles_whatever_a_row_is_called(tmp_path):
    table = Table(COLUMNS[:2], [Row((name, name)) for name in SIGNS], "50 % & a_b: † > c")
    head, end = r"\documentclass{article}\usepackage{booktabs}\begin{document}", r"\end{document}"
    (tmp_path / "table.tex").write_text("\n".join([head, floated(table), end]), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


def test_latex_says_which_engine_sets_letters_beyond_latin_and_starts_no_row_with_an_argument():
    notes = [latex(Table(COLUMNS[:1], [Row((name,))])).splitlines()[0] for name in ("Ångström", "Москва", "東京")]
    assert ["XeLaTeX" in note for note in notes] == [False, True, True]
    lines = latex(Table(COLUMNS[:2], [Row(("[a]", "* b")), Row(("* c", ""))])).splitlines()
    assert lines[5:7] == ["{[}a] & {*} b \\\\", "{*} c &  \\\\"]
