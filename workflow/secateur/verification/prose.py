"""Figures in prose: each decimal number of a page is bound to a kept figure, or a comment says why it is not.

A comment speaks of the numbers between it and the comment before it, or the beginning of its paragraph, item or table (a
comment alone in its paragraph: of the table or paragraph above). It shows on no page.

    <!-- kept {experiment: multihop, order: blind, metric: passage_recall@5, columns: [hotpotqa, musique], rows: [beam, requery]} -->
    <!-- unkept -->   <!-- setting -->   <!-- published -->

`kept` names rows and columns as the marks of tables do (`report/results.py`), and its numbers follow row by row: a mean or a
difference each, its interval in parentheses behind it, then its p (`p .02 each`: of every cell; `at best`: the smallest).
`n 300, 100` are the numbers of questions. `part: p_holm` (or `p`, `n`) binds this part of each cell instead. Without `rows`
nothing is bound. A number agrees if the kept one rounds to it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from secateur.core.errors import SecateurError
from secateur.report.kept import valued
from secateur.report.results import MARKS, KeptColumn

__all__ = ["Checked", "checked"]

HIDDEN = re.compile(
    rf"{MARKS.pattern}|```.*?```|`[^`\n]*`|\]\([^)]*\)|<!-- (?!kept |unkept |setting |published ).*?-->", re.S
)
TOKEN = re.compile(
    r"<!-- (?P<label>kept|unkept|setting|published) (?P<mark>.*?)-->|(?P<edge>\n[ \t]*\n|\n(?=[ \t]*- |#))"
    r"|(?<![\w.+/-])(?P<number>[+-]?\d*\.\d+)(?![\w]|\.\d)",
    re.S,
)
COUNTS = re.compile(r"\bn (\d+(?:,\d{3})*(?:(?:, | and )\d+(?:,\d{3})*)*)")
SMALL = 1e-9


@dataclass
class Checked:
    """What is wrong with a page, and its number of figures by what they rest on."""

    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Written:
    """A number as it is written. role: value, low, high or p; of: the text behind it."""

    text: str
    line: int
    role: str
    below: bool
    after: str

    def agrees(self, kept: float | None) -> bool:
        if kept is None:
            return False
        if self.below:
            return kept < float(self.text)
        return abs(kept - float(self.text)) <= 0.5 * 10 ** -len(self.text.partition(".")[2]) + SMALL


def checked(path: Path, docs: Path, strict: bool = True) -> Checked:
    """Compares the numbers in the prose of a page with the kept figures. strict: numbers without a comment are problems."""
    result = Checked()
    text = path.read_text(encoding="utf-8")
    blank = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "`", m[0]), text)
    for label, mark, scope, line in _scopes(blank):
        numbers = list(_numbers(scope, line))
        values = sum(number.role == "value" for number in numbers)
        where = f"{path}, line {line + scope.count(chr(10))}"
        if label == "kept":
            try:
                _compare(yaml.safe_load(mark), scope, numbers, docs, where, result)
            except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
                result.problems.append(
                    f"{where}: the comment `kept {mark.strip()}` cannot be read ({error!r}). Fix: correct it"
                )
            except SecateurError as error:
                result.problems.append(f"{where}: {error}")
        elif label:
            result.counts[label] += values
        elif strict and numbers:
            written = ", ".join(number.text for number in numbers)
            result.problems.append(
                f"{path}, line {numbers[0].line}: {written}: no comment says what this rests on. Fix: write behind it "
                "`<!-- kept {...} -->`, `<!-- unkept -->`, `<!-- setting -->` or `<!-- published -->` (publication/prose.py)"
            )
    return result


def _scopes(text: str) -> Iterator[tuple[str, str, str, int]]:
    """(label, mark, text that it speaks of, line at which this begins); text without a comment has an empty label."""
    start, above = 0, (0, 0)  # of the open text; the paragraph above that no comment has spoken of
    for match in TOKEN.finditer(text + "\n\n"):
        if match["number"]:
            continue
        span = (start, match.start())
        if match["edge"] and not text[slice(*span)].strip():
            start = match.end()
            continue
        if match["label"] and not text[slice(*span)].strip():
            span, above = above, (0, 0)
        elif above[1]:
            yield "", "", text[slice(*above)], text.count("\n", 0, above[0]) + 1
            above = (0, 0)
        if match["edge"]:
            above = span
        else:
            yield match["label"], match["mark"], text[slice(*span)], text.count("\n", 0, span[0]) + 1
        start = match.end()
    if above[1]:
        yield "", "", text[slice(*above)], text.count("\n", 0, above[0]) + 1


def _numbers(scope: str, line: int) -> Iterator[_Written]:
    """The decimal numbers of a text with what each is."""
    end, role = 0, ""
    for match in TOKEN.finditer(scope):
        if not match["number"]:
            continue
        between, before = scope[end : match.start()], scope[: match.start()]
        p = re.search(r"\bp (is |of )?(< ?)?$", before)
        if p:
            role = "p"
        elif between.strip("*") == " (" and role == "value":
            role = "low"
        elif between == " to " and role == "low":
            role = "high"
        else:
            role = "value"
        end = match.end()
        here = line + scope.count("\n", 0, match.start())
        yield _Written(match["number"], here, role, bool(p and p[2]), scope[end : end + 9])


def _compare(
    mark: Mapping[str, Any], scope: str, numbers: list[_Written], docs: Path, where: str, result: Checked
) -> None:
    """Compares the numbers of one comment with its cells."""
    columns = [KeptColumn(docs, mark, spec) for spec in mark["columns"]]
    cells = [(f"{name}, {column.spec}", column, column.row(name)) for name in mark["rows"] for column in columns]
    lost = [label for label, _, cell in cells if cell is None]
    if lost:
        raise SecateurError(f"no difference is kept of {'; '.join(lost)}. Fix: correct the comment")
    part = mark.get("part")
    if part == "n":
        numbers = []
    elif part:
        numbers = [_Written(n.text, n.line, "value", n.below, n.after) for n in numbers]
    values = [n for n in numbers if n.role == "value"]
    if part != "n" and len(values) != len(cells):
        raise SecateurError(
            f"{len(values)} figures are written ({', '.join(n.text for n in values)}), and the comment names {len(cells)}. "
            "Fix: name each, row by row"
        )
    result.counts.update("derived" if valued(docs, column.experiment) else "kept" for _, column, _ in cells)
    written = [int(n.replace(",", "")) for counts in COUNTS.findall(scope) for n in re.split(", | and ", counts)]
    kept = list(dict.fromkeys(cell["n"] for *_, cell in cells))
    if list(dict.fromkeys(written)) not in ([], kept):
        result.problems.append(
            f"{where}: n {written} is written, {kept} is kept. Fix: write {', '.join(map(str, kept))}"
        )
    place = -1
    for n in numbers:
        place += n.role == "value"
        for label, column, cell in _about(n, cells, place):
            wanted = cell[part or _name(n, cell)]
            if not n.agrees(wanted):
                result.problems.append(
                    f"{where.partition(', line')[0]}, line {n.line}: {n.text} is written, docs/results/{column.experiment} has "
                    f"{'none' if wanted is None else f'{wanted:.4f}'} ({part or _name(n, cell)} of {label}). Fix: write that"
                )


def _name(number: _Written, cell: Mapping[str, Any]) -> str:
    """The column of a kept row that a number is of."""
    if number.role == "value":
        return "difference" if "difference" in cell else "value"
    return "p_holm" if number.role == "p" else number.role


def _about(number: _Written, cells: list, place: int) -> list:
    """The cells that a number is of."""
    if number.role == "p" and number.after.startswith(" each"):
        return cells
    if number.role == "p" and "at best" in number.after:
        return [min(cells, key=lambda cell: cell[2]["p_holm"])]
    return [cells[max(place, 0)]]
