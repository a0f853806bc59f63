"""Derives kept figures again from the kept values by question, and compares both, and pages with them."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import polars as pl

from secateur.report.kept import COMPARED, DIGITS, P_DIGITS, derived, kept_experiments, kept_table
from secateur.report.results import quoted
from secateur.verification.prose import checked

__all__ = ["PROSE", "drifted", "verified"]

PROSE = {"README.md": False, "docs/results.md": True}  # page: whether each of its decimal numbers rests on something
SMALL = 1e-9


def verified(docs: Path) -> Iterator[tuple[str, list[str]]]:
    """(line, differences) of each experiment whose figures are kept."""
    for name in kept_experiments(docs):
        start, again = perf_counter(), derived(docs, name)
        if again is None:
            yield f"{name}: no values by question kept", []
            continue
        wrong = [text for table in COMPARED for text in _differences(docs, name, table, again[table])]
        rows = sum(again[table].height for table in COMPARED)
        outcome = f"{len(wrong)} of them differ" if wrong else "all as kept"
        yield f"{name}: {rows:,} rows derived in {perf_counter() - start:.1f} s, {outcome}", wrong


def _differences(docs: Path, name: str, table: str, again: pl.DataFrame) -> Iterator[str]:
    """Each row that is kept and not derived, derived and not kept, or that differs in its last kept digit."""
    kept = kept_table(docs, name, table)
    file = docs / "results" / name / f"{table}.parquet"
    numbers = [c for c, kind in kept.schema.items() if kind.is_numeric()]
    key = [c for c in kept.columns if c not in numbers]
    fix = f"Fix: make keep NAME={name}"
    sides = (kept.with_columns(kept=pl.lit(True)), again.select(kept.columns).with_columns(derived=pl.lit(True)))
    joined = sides[0].join(sides[1], on=key, how="full", nulls_equal=True, coalesce=True, suffix=" again")
    for row in joined.iter_rows(named=True):
        label = ", ".join(str(row[c]) for c in key if row[c] is not None)
        if not (row["kept"] and row["derived"]):
            yield f"{file}: {label}: {'kept, not derived' if row['kept'] else 'derived, not kept'}. {fix}"
            continue
        for column in numbers:
            value, anew = row[column], row[f"{column} again"]
            digits = P_DIGITS if column.startswith("p") else DIGITS
            if (value is None) != (anew is None) or (
                value is not None and abs(value - anew) > 0.5 * 10**-digits + SMALL
            ):
                yield f"{file}: {label}: {column} is {value}, derived {anew if anew is None else round(anew, digits + 2)}. {fix}"


def drifted(root: Path) -> Iterator[tuple[str, list[str]]]:
    """(line, differences) of each page with tables of kept figures or with prose that is bound to them."""
    docs = root / "docs"
    for path in (root / "README.md", *sorted(docs.glob("*.md"))):
        name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
        now, wrong = quoted(text, docs), []
        if now != text:
            pairs = zip(text.splitlines(), now.splitlines(), strict=False)
            line, (old, new) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            wrong = [f"{name}, line {line}: found {old!r}, derived {new!r}. Fix: make docs"]
        if name in PROSE:
            prose = checked(path, docs, PROSE[name])
            of = ("derived", "kept", "unkept", "published", "setting")
            words = ("derived", "kept without values", "unkept", "published", "settings")
            counts = ", ".join(f"{prose.counts[key]} {word}" for key, word in zip(of, words, strict=True))
            yield f"{name}: figures in prose: {counts}", wrong + prose.problems
        elif wrong:
            yield name, wrong
