"""One question of a dialogue, as lines for a terminal: what is gold, and which turns each scorer chose."""

from pathlib import Path

import polars as pl

from secateur.core import layout
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.planning.plan import Variant

__all__ = ["chosen_turns"]

WIDTH, SCORERS = 120, 8  # characters of a line; scorers of a system that are shown unless all are asked for


def chosen_turns(root: Path, own: list[Variant], question_id: str, full: bool) -> str:
    """own: the variants of a data set that choose turns."""
    folder = layout.folder(own[0].wildcards)
    questions, evidence = (
        read_table(TABLES[t], root / f"{folder}/questions/{t}.parquet") for t in ("questions", "evidence")
    )
    row = questions.row(by_predicate=pl.col("question_id") == question_id, named=True)
    gold = evidence.filter(pl.col("question_id") == question_id).sort("n")
    passages = read_table(TABLES["passages"], root / layout.passages(own[0].wildcards))
    said = {p: f"{s}: {t}" if s else t for p, s, t in passages.select("passage_id", "speaker", "text").iter_rows()}
    marked = set(gold["passage_id"].drop_nulls())
    lines = [
        f"{question_id} (data set {own[0].dataset}, group {row['group_id']}{', type ' + row['type'] if row['type'] else ''})",
        f"question  {row['text']}",
        f"answer    {row['answer'] or 'none given'}",
        "",
        f"GOLD TURNS: {gold.height}",
        *(_turn(p, t, said, marked) for p, t in gold.select("passage_id", "text").iter_rows()),
    ]
    for variant in own:
        lines += ["", *_system(root, variant, question_id, said, marked, full)]
    return "\n".join(lines)


def _system(
    root: Path, variant: Variant, question_id: str, said: dict[str, str], gold: set[str], full: bool
) -> list[str]:
    """What a system's scorers chose, the best of this question first."""
    picked = read_table(TABLES["selections"], root / layout.shown(variant.wildcards, True))
    figures = read_table(TABLES["question_metrics"], root / layout.selection(variant.wildcards))
    own = (pl.col("question_id") == question_id) & (pl.col("metric") == "f1_at_gold")
    f1 = figures.filter(own & pl.col("scorer").is_in(picked["scorer"].unique().implode())).sort(
        "answer_aware", "value", "scorer", descending=[False, True, False]
    )
    rest = "" if full or f1.height <= SCORERS else f"; the best {SCORERS} here, --full for all"
    found = [f"{variant.system}: F1 at gold size of {f1.height} scorers (* gold{rest})"]
    for scorer, value, aware in (
        f1.head(f1.height if full else SCORERS).select("scorer", "value", "answer_aware").iter_rows()
    ):
        found.append(f"  {value:.3f}  {scorer}{' (sees the answer)' if aware else ''}")
        rows = picked.filter((pl.col("question_id") == question_id) & (pl.col("scorer") == scorer)).sort("rank")
        found += [f"    {_turn(p, None, said, gold)}" for p in rows["passage_id"].drop_nulls()]
    return found


def _turn(passage: str | None, text: str | None, said: dict[str, str], gold: set[str]) -> str:
    """A turn in a line, marked where it is gold."""
    words = " ".join((said.get(passage or "") or text or "").split())
    head = f"{'*' if passage in gold else ' '} [{passage or 'does not resolve'}] "
    room = WIDTH - len(head) - 4
    return head + (words if len(words) <= room else f"{words[: room - 1]}…")
