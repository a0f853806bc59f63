"""Kept figures: small tables of finished experiments in `docs/results`, which pages and paper tables quote.

`docs/results/EXPERIMENT/metrics.parquet` and `comparisons.parquet` hold the rows that a page may quote, rounded to four
digits, `equal_quality.parquet` the tokens at equal quality. Their Parquet metadata name the command with its overrides, the
commit and the digests of the tables they were taken from.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from secateur.config.limits import command
from secateur.core.artifacts import atomic, file_digest, read_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.comparison import PRIMARY
from secateur.report.format import MEMORY

__all__ = ["COMPARED", "SUBSETS", "keep", "kept_experiments", "kept_source", "kept_table", "write_kept"]

COMPARED = ("metrics", "comparisons")  # the tables that pages quote
PAIRED_CLAIMS = ("evidence_recall", "evidence_coverage", "token_recall", "semantic", "answer_gain")
# Kept as METRIC@claim, the mean over the budgets of `eval.claim`.
CLAIMED = (*PAIRED_CLAIMS, "qualified_kept", "tokens")
RANKING = ("passage_recall@2", "passage_recall@5", "passage_recall@10", "all_gold@5")
ANSWERS = ("rouge_l", "token_f1", "read_gain", "read_evidence_recall", "read_tokens")
POLICY = tuple(f"policy_{of}" for of in ("utility", "accuracy", "tokens", "seconds"))
FAITHFUL = "policy_faithfulness:"  # and who measured it
OWN = "answer_gain_own@"  # and the budget of its control
PAIRED = ("f1_at_gold", "rouge_l", "token_f1", "read_gain", "policy_utility", "passage_recall@5")
SUBSETS = ("all", "cat1-4", "named", "bridge", "first", "later")  # of comparisons; metrics keep every subset
DIGITS = 4


def keep(results: Path, docs: Path, name: str) -> Path:
    """Writes docs/results/NAME from the tables of a finished experiment. Raises SecateurError if it has not finished."""
    home = results / "experiments" / name
    if not (home / "run.json").exists():
        raise SecateurError(f"{home}: not there. Fix: {command(name)}")
    metrics = read_table(TABLES["metrics"], home / "metrics.parquet")
    comparisons = read_table(TABLES["comparisons"], home / "comparisons.parquet")
    base = pl.col("metric").str.strip_suffix("@claim")
    claimed = base.is_in(CLAIMED) & pl.col("metric").str.ends_with("@claim")
    quotable = claimed | base.is_in(["f1_at_gold", *RANKING, *ANSWERS, *POLICY, *MEMORY])
    own = pl.col("metric").str.starts_with(OWN)
    quotable |= base.str.starts_with(FAITHFUL) | own
    paired = own | pl.col("metric").is_in([*(f"{m}@claim" for m in PAIRED_CLAIMS), *PAIRED])
    paired |= pl.col("axis") == PRIMARY
    equal = read_table(TABLES["equal_quality"], home / "equal_quality.parquet")
    rows = {
        "metrics": metrics.filter(quotable & ~pl.col("published")),
        "comparisons": comparisons.filter(paired & pl.col("subset").is_in(SUBSETS) & (pl.col("axis") != "named")),
    }
    if equal.height:
        rows["equal_quality"] = equal
    else:
        _path(docs, name, "equal_quality").unlink(missing_ok=True)  # of an earlier run
    record = read_json(home / "run.json")
    source = {key: record[key] or "unknown" for key in ("commit", "finished")} | {
        "record": file_digest(home / "run.json")
    }
    source |= {"command": command(name, record.get("overrides", ()))}
    for table, frame in rows.items():
        digest = {"digest": file_digest(home / f"{table}.parquet")}
        write_kept(frame.with_columns(pl.col(pl.Float64).round(DIGITS)), docs, name, table, source | digest)
    return docs / "results" / name


def write_kept(frame: pl.DataFrame, docs: Path, name: str, table: str, source: Mapping[str, str]) -> None:
    """Writes one kept table with its source in the metadata."""
    with atomic(_path(docs, name, table)) as temporary:
        frame.write_parquet(temporary, compression="zstd", compression_level=19, metadata=dict(source))


def kept_experiments(docs: Path) -> list[str]:
    """Names of the experiments whose figures are kept."""
    return sorted(path.parent.name for path in docs.glob("results/*/metrics.parquet"))


def kept_table(docs: Path, name: str, table: str) -> pl.DataFrame:
    """Kept rows of `metrics` or `comparisons`; no rows for an experiment that is not kept."""
    path, empty = _path(docs, name, table), TABLES[table].empty()
    return pl.read_parquet(path).select(empty.columns).cast(dict(empty.schema)) if path.exists() else empty


def kept_source(docs: Path, name: str) -> dict[str, str]:
    """Command, commit, time and digest behind the kept metrics. Raises SecateurError for an experiment that is not kept."""
    path = _path(docs, name, "metrics")
    if not path.exists():
        raise SecateurError(f"{path}: not there. Fix: secateur keep {name}")
    return {key: value for key, value in pl.read_parquet_metadata(path).items() if key != "ARROW:schema"}


def _path(docs: Path, name: str, table: str) -> Path:
    return docs / "results" / name / f"{table}.parquet"
