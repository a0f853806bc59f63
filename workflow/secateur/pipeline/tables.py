"""Every table of the pipeline, declared once: schema, key, row checks, and a line on each column.

A table is checked when it is written and again when it is read. Its version and the digest of its
declaration travel in the Parquet metadata, so that a reader never takes an old table for a new one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from secateur.pipeline.errors import SecateurError

__all__ = ["TABLES", "Column", "Table", "TableError", "check", "read_table", "read_tables", "write_table"]

META = b"secateur.table"
VECTOR = pa.list_(pa.float16(), 1)  # stands for a fixed-size list of whatever dimension the frame has
EXAMPLES = 3  # keys named for each problem


class TableError(SecateurError):
    """A table that breaks its declaration."""


@dataclass(frozen=True)
class Column:
    """One column: Arrow type, meaning, and whether it may be null."""

    type: pa.DataType
    doc: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One table's declaration.

    `checks` map a sentence to an expression that is true for good rows, or to columns whose rows are distinct.
    """

    name: str
    version: int
    doc: str
    writer: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    checks: Mapping[str, pl.Expr | tuple[str, ...]] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with the declaration's identity in its metadata."""
        identity = f"{self.name}@{self.version}:{self.digest}".encode()
        fields = [pa.field(name, c.type, c.nullable) for name, c in self.columns.items()]
        return pa.schema(fields, metadata={META: identity})

    @property
    def digest(self) -> str:
        """Digest of what a reader relies on: names, types, nullability, key and checks; not the docs."""
        parts = [self.name, str(self.version), ",".join(self.key)]
        parts += [f"{name}:{c.type}:{c.nullable}" for name, c in self.columns.items()]
        parts += [f"{claim}:{_expression(check)}" for claim, check in self.checks.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def empty(self) -> pl.DataFrame:
        """A frame without rows."""
        return pl.from_arrow(self.schema.empty_table())


def _expression(check: pl.Expr | tuple[str, ...]) -> pl.Expr:
    """True for good rows."""
    if isinstance(check, pl.Expr):
        return check
    return (pl.col(check[0]) if len(check) == 1 else pl.struct(check)).is_unique()


def _rows(mask: pl.Series, frame: pl.DataFrame, key: tuple[str, ...]) -> str:
    """`12 rows (e.g. a, b, c)` for the rows where the mask is true, by key; whole where a table has none."""
    bad = frame.filter(mask).head(EXAMPLES).select(key or frame.columns)
    named = ", ".join("/".join(str(value) for value in row) for row in bad.iter_rows())
    count = int(mask.sum())
    return f"{count} row{'s' if count != 1 else ''} (e.g. {named})"


def problems(table: Table, frame: pl.DataFrame) -> list[str]:
    """All the ways in which a frame breaks its declaration, each in a clause."""
    from secateur.pipeline.distinct import (
        all_distinct,  # a check moves no byte, so it is in no digest, like all of this module
    )

    missing = [c for c in table.columns if c not in frame.columns]
    extra = [c for c in frame.columns if c not in table.columns]
    found = [f"column {c} missing" for c in missing] + [f"column {c} not declared" for c in extra]
    if missing:
        return found
    for name, column in table.columns.items():
        if not column.nullable and frame[name].null_count():
            found.append(f"{name} null in {_rows(frame[name].is_null(), frame, table.key)}")
    if table.key and not all_distinct(frame, table.key):
        twice = frame.select(pl.struct(table.key).is_duplicated()).to_series()
        if twice.any():
            found.append(f"key {', '.join(table.key)} duplicated in {_rows(twice, frame, table.key)}")
    for claim, declared in table.checks.items():
        if isinstance(declared, tuple) and all_distinct(frame, declared):
            continue
        try:
            bad = frame.select(~_expression(declared).fill_null(True)).to_series()
        except pl.exceptions.PolarsError as error:  # a column of a wrong type
            found.append(f"({claim}) cannot be checked: {str(error).splitlines()[0]}")
            continue
        if bad.any():
            found.append(f"not ({claim}) in {_rows(bad, frame, table.key)}")
    return found


def check(table: Table, frame: pl.DataFrame, where: str, fix: str) -> None:
    """Raise a TableError that lists every problem at once, or return."""
    found = problems(table, frame)
    if found:
        count = f"{len(found)} problem{'s' if len(found) > 1 else ''}"
        raise TableError(
            f"{table.name}@{table.version} written by {table.writer} ({where}): {count}; {'; '.join(found)}. Fix: {fix}"
        )


def write_table(table: Table, frame: pl.DataFrame, path: Path) -> int:
    """Check a frame, sort it by its key, write it as zstd Parquet; the number of rows."""
    check(table, frame, str(path), f"this is a bug in the stage {table.writer} or its input; its log names both")
    frame = frame.select(list(table.columns))
    if table.key and not (len(table.key) == 1 and frame[table.key[0]].is_sorted()):
        frame = frame.sort(table.key)
    try:
        arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        arrow = arrow.cast(_sized(table.schema, arrow.schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"{table.name}@{table.version} ({path}): a column has the wrong type: {error}") from error
    pq.write_table(arrow, path, compression="zstd", use_dictionary=False, column_encoding=_encodings(table))
    return frame.height


def _sized(schema: pa.Schema, actual: pa.Schema) -> pa.Schema:
    """The declared schema with each VECTOR in the dimension at hand."""
    for n, column in enumerate(schema):
        if column.type == VECTOR:
            width = getattr(actual.field(column.name).type, "list_size", 1)  # a list of any size fails the cast
            schema = schema.set(n, column.with_type(pa.list_(pa.float16(), width)))
    return schema


def _encodings(table: Table) -> dict[str, str]:
    """How each column is laid out before it is compressed; measured on the tables of STEM.

    The first integer of a key rises, other numbers share their upper bytes, strings repeat in neighbouring rows.
    """
    found = {}
    for name, column in table.columns.items():
        if pa.types.is_string(column.type):
            found[name] = "DELTA_LENGTH_BYTE_ARRAY"
        elif column.type == VECTOR:
            found[f"{name}.list.element"] = "BYTE_STREAM_SPLIT"
        elif pa.types.is_integer(column.type) and table.key[:1] == (name,):
            found[name] = "DELTA_BINARY_PACKED"
        elif pa.types.is_primitive(column.type) and not pa.types.is_boolean(column.type):
            found[name] = "BYTE_STREAM_SPLIT"
    return found


def read_table(table: Table, path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table after checking that it was written under today's declaration.

    Raises TableError where the file is absent, is no Parquet file, or was written by another version.
    """
    path = Path(path)
    fix = f"run the pipeline again, it rebuilds {table.name} with {table.writer}"
    if not path.exists():
        raise TableError(f"{path}: no such table. Fix: {fix}")
    try:
        metadata = pq.read_schema(path).metadata or {}
    except pa.ArrowInvalid as error:
        raise TableError(f"{path}: not a readable Parquet file ({error}). Fix: delete it and {fix}") from error
    identity, expected = metadata.get(META, b"no table identity").decode(), table.schema.metadata[META].decode()
    if identity != expected:
        raise TableError(f"{path}: holds {identity}, this version reads {expected}. Fix: {fix}")
    frame = pl.from_arrow(pq.read_table(path, columns=columns))
    if columns is None:
        check(table, frame, str(path), fix)
    return frame


def read_tables(table: Table, paths: list[Path]) -> pl.DataFrame:
    """Several shards of one table as one frame, in the order given."""
    return pl.concat([read_table(table, path) for path in paths]) if paths else table.empty()


# --- the declarations --------------------------------------------------------------------------

_s, _i32, _i64, _f32, _f64, _b = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()
_not_empty = {"text not empty": pl.col("text").str.strip_chars().str.len_chars() > 0}
_split = {"split in train, dev, test": pl.col("split").is_in(["train", "dev", "test"])}


def _declare(*tables: Table) -> dict[str, Table]:
    return {table.name: table for table in tables}


TABLES: dict[str, Table] = _declare(
    Table(
        "passages",
        1,
        "The smallest citable pieces of source text: a dialogue turn, a sentence.",
        "prepare_corpus",
        ("doc_id", "position"),
        {
            "passage_id": Column(_s, "unique id"),
            "doc_id": Column(_s, "document or conversation the passage stands in"),
            "title": Column(_s, "the document's title, where the source has one", True),
            "group_id": Column(_s, "what a question may look at: a conversation, a book, a corpus"),
            "session_id": Column(_s, "dialogue session", True),
            "position": Column(_i32, "place in the document's reading order, from 0"),
            "text": Column(_s, "the passage as written"),
            "speaker": Column(_s, "who says it", True),
            "date": Column(_s, "when it was said or written, as the source puts it", True),
            "start": Column(_i32, "first character in the document, where the source is one text", True),
            "end": Column(_i32, "one past the last character", True),
        },
        _not_empty | {"passage_id unique": ("passage_id",)},
    ),
    Table(
        "questions",
        1,
        "The questions of one data set.",
        "prepare_dataset",
        ("question_id",),
        {
            "question_id": Column(_s, "unique id"),
            "group_id": Column(_s, "the group of passages it is asked of"),
            "cluster_id": Column(_s, "unit of resampling: conversation, book, or article of the first gold evidence"),
            "position": Column(_i32, "place in the file, from 0"),
            "text": Column(_s, "the question"),
            "answer": Column(_s, "gold answer as text", True),
            "type": Column(_s, "the source's category", True),
            "split": Column(_s, "train, dev or test"),
        },
        _not_empty | _split,
    ),
    Table(
        "evidence",
        1,
        "Gold evidence: one row for each text or passage that a question's answer rests on.",
        "prepare_dataset",
        ("question_id", "n"),
        {
            "question_id": Column(_s, "the question"),
            "n": Column(_i32, "place in the question's evidence, from 0"),
            "text": Column(
                _s, "the evidence as the source states it; the passage's text where only an id is given", True
            ),
            "passage_id": Column(_s, "the passage it resolves to, null where it does not", True),
        },
        {"text or passage_id": pl.col("text").is_not_null() | pl.col("passage_id").is_not_null()},
    ),
    Table(
        "dataset_statistics",
        1,
        "What a data set looks like: sizes, lengths in word pieces, evidence.",
        "describe_dataset",
        ("statistic", "of"),
        {
            "statistic": Column(
                _s,
                "passages_per_group, sessions_per_group, candidates_per_question, evidence_per_question, "
                "evidence_sessions_per_question, one_evidence (a share), questions (the share of a type), "
                "tokens_per_passage, tokens_per_session or answer_tokens",
            ),
            "of": Column(_s, "a question type; none: questions without one; all: everything"),
            "n": Column(_i64, "groups, sessions, passages, questions or answers behind the row"),
            "mean": Column(_f64, "mean; a share where the statistic is one"),
            "least": Column(_f64, "smallest value"),
            "median": Column(_f64, "median"),
            "most": Column(_f64, "largest value"),
        },
        {"n at least 1": pl.col("n") >= 1},
    ),
    Table(
        "triples",
        1,
        "Triples in text order, with their provenance.",
        "extract_triples",
        ("doc_id", "position", "n"),
        {
            "doc_id": Column(_s, "document (for questions: the question)"),
            "position": Column(_i32, "the passage's place in the document"),
            "n": Column(_i32, "place in the passage, from 0"),
            "passage_id": Column(_s, "the passage (for questions: the question)"),
            "head": Column(_s, "normalised surface form"),
            "relation": Column(_s, "normalised surface form"),
            "tail": Column(_s, "normalised surface form"),
            "head_original": Column(_s, "as written"),
            "relation_original": Column(_s, "as written"),
            "tail_original": Column(_s, "as written"),
            "resolved": Column(_b, "true where a pronoun head was replaced by its antecedent"),
        },
        {
            "head not empty": pl.col("head").str.len_chars() > 0,
            "relation not empty": pl.col("relation").str.len_chars() > 0,
            "tail not empty": pl.col("tail").str.len_chars() > 0,
        },
    ),
    Table(
        "entities",
        1,
        "Codebook E: one row for each distinct entity.",
        "build_codebook",
        ("entity_id",),
        {
            "entity_id": Column(_i32, "dense id, by first appearance"),
            "text": Column(_s, "normalised surface form"),
            "count": Column(_i32, "mentions"),
            "embedding": Column(VECTOR, "unit vector"),
        },
        {"text unique": ("text",)},
    ),
    Table(
        "relations",
        1,
        "Codebook R: one row for each distinct relation.",
        "build_codebook",
        ("relation_id",),
        {
            "relation_id": Column(_i32, "dense id, by first appearance"),
            "text": Column(_s, "normalised surface form"),
            "count": Column(_i32, "mentions"),
            "embedding": Column(VECTOR, "unit vector"),
        },
        {"text unique": ("text",)},
    ),
    Table(
        "edges",
        1,
        "Codebook M: the distinct edges.",
        "build_codebook, consolidate",
        ("edge_id",),
        {
            "edge_id": Column(_i32, "dense id, by first appearance"),
            "h": Column(_i32, "head entity"),
            "r": Column(_i32, "relation"),
            "t": Column(_i32, "tail entity"),
            "line_id": Column(_i32, "its line's vector in `lines`; a merged edge has that of its earliest original"),
        },
        {
            "h, r, t unique": ("h", "r", "t"),
            "edge_id dense": pl.col("edge_id").max() == pl.len() - 1,
        },
    ),
    Table(
        "lines",
        1,
        "Vectors of the lines `h r t`, one for each edge as extracted.",
        "build_codebook",
        ("line_id",),
        {
            "line_id": Column(_i32, "the edge's id in the codebook"),
            "embedding": Column(VECTOR, "unit vector"),
        },
    ),
    Table(
        "edge_sources",
        1,
        "Every edge's provenance, in text order: the sequence F of edge ids.",
        "build_codebook",
        ("doc_id", "position", "n"),
        {
            "doc_id": Column(_s, "document"),
            "position": Column(_i32, "the passage's place in the document"),
            "n": Column(_i32, "the triple's place in the passage"),
            "passage_id": Column(_s, "passage"),
            "edge_id": Column(_i32, "edge"),
        },
    ),
    Table(
        "aliases",
        1,
        "Which entity each entity is shown as, and why; reversible.",
        "consolidate",
        ("entity_id",),
        {
            "entity_id": Column(_i32, "an entity that is not its own representative"),
            "representative_id": Column(_i32, "the medoid of its group"),
            "text": Column(_s, "its surface form"),
            "representative": Column(_s, "the representative's"),
            "cosine": Column(_f32, "between the two"),
            "rule": Column(_s, "forced, acronym, form, cosine or budget"),
        },
        {"representative_id is another": pl.col("entity_id") != pl.col("representative_id")},
    ),
    Table(
        "tombstones",
        1,
        "Edges that were pruned; empty unless `consolidation.prune` says otherwise.",
        "consolidate",
        ("edge_id",),
        {
            "edge_id": Column(_i32, "its id among the remapped edges before pruning"),
            "h": Column(_i32, "head entity"),
            "r": Column(_i32, "relation"),
            "t": Column(_i32, "tail entity"),
            "count": Column(_i32, "mentions"),
            "reason": Column(_s, "the prune policy"),
        },
        {"h, r, t unique": ("h", "r", "t")},
    ),
    Table(
        "runs",
        1,
        "Locally coherent segments of a document's edge sequence.",
        "build_runs",
        ("run_id",),
        {
            "run_id": Column(_i32, "dense id, in text order"),
            "doc_id": Column(_s, "document"),
            "channel": Column(_s, "facts, questions or answers"),
            "size": Column(_i32, "number of edges"),
        },
        {"size at least 1": pl.col("size") >= 1},
    ),
    Table(
        "run_edges",
        1,
        "The edges of each run in text order, with their passages.",
        "build_runs",
        ("run_id", "n"),
        {
            "run_id": Column(_i32, "run"),
            "n": Column(_i32, "place in the run, from 0"),
            "edge_id": Column(_i32, "edge"),
            "passage_id": Column(_s, "the passage this mention of the edge stands in"),
        },
    ),
    Table(
        "candidates",
        1,
        "Runs that survive the coarse and the fine stage, with every score term.",
        "propose_candidates",
        ("question_id", "channel", "rank"),
        {
            "question_id": Column(_s, "question"),
            "channel": Column(_s, "facts, questions or answers"),
            "rank": Column(_i32, "by fine score, from 0"),
            "run_id": Column(_i32, "run"),
            "coarse": Column(_f32, "symbol-space score"),
            "rel_top": Column(_f32, "RelTopT"),
            "coverage": Column(_f32, "Coverage"),
            "pairs": Column(_f32, "ManyToMany"),
            "distinct": Column(_f32, "Distinct1to1"),
            "whole": Column(_f32, "WholeChunk"),
            "fine": Column(_f32, "weighted sum of the five"),
        },
    ),
    Table(
        "ranked",
        1,
        "Source sentences by ranking score.",
        "propose_candidates",
        ("question_id", "rank"),
        {
            "question_id": Column(_s, "question"),
            "rank": Column(_i32, "from 0"),
            "passage_id": Column(_s, "sentence"),
            "score": Column(_f32, "ranking score"),
        },
    ),
    Table(
        "sources",
        1,
        "Source sentences in the order in which a prompt draws on them.",
        "calibrate_sources",
        ("question_id", "rank"),
        {
            "question_id": Column(_s, "question"),
            "rank": Column(_i32, "from 0"),
            "passage_id": Column(_s, "sentence"),
            "score": Column(_f32, "ranking score"),
            "p": Column(_f32, "calibrated probability of being evidence"),
        },
        {"p in [0, 1]": pl.col("p").is_between(0, 1)},
    ),
    Table(
        "pool",
        2,
        "The passages a language model reads for each question: candidates, and passages drawn by chance for the null.",
        "propose_passages",
        ("question_id", "passage_id"),
        {
            "question_id": Column(_s, "question"),
            "passage_id": Column(_s, "passage"),
            "rank": Column(_i32, "place among the candidates, from 0; null for a passage drawn by chance", True),
            "free": Column(_b, "a candidate that was found without the answer"),
            "probed": Column(_b, "whether the costly statistics are computed for it"),
            "quartile": Column(_i32, "quartile of its length in its group; null where no null is drawn", True),
            "turn": Column(_i32, "place among those drawn from its quartile, from 0; null if not drawn", True),
        },
        {"a candidate or drawn": pl.col("rank").is_not_null() | pl.col("turn").is_not_null()},
    ),
    Table(
        "statistics",
        1,
        "Sufficient statistics of a question with a candidate under one language model: every model-based scorer is a "
        "function of this table. A question's base row, without a candidate, has no passage_id. Nats, fp32 log-softmax.",
        "score_candidates, check_red_herrings",
        ("question_id", "passage_id"),
        {
            "question_id": Column(_s, "question"),
            "passage_id": Column(_s, "candidate; null in the base row", True),
            "tokens": Column(_i32, "tokens of the candidate's text, without speaker and date"),
            "prompt_tokens": Column(_i32, "tokens before the answer, as read"),
            "cut": Column(_i32, "tokens of the context that did not fit the window, from the left"),
            "answer_tokens": Column(_i32, "tokens of the answer; null without an answer", True),
            "answer_logprob": Column(_f64, "log p(answer), summed over its tokens", True),
            "answer_first": Column(_f64, "log p of its first token", True),
            "question_tokens": Column(_i32, "tokens of the question; null where its probability is undefined", True),
            "question_logprob": Column(_f64, "log p(question), under the candidate or alone", True),
            "entropy": Column(_f64, "entropy at the first answer position; null from a server", True),
            "kl": Column(_f64, "KL from the base at the first answer position, full vocabulary", True),
            "js": Column(_f64, "Jensen-Shannon divergence there", True),
            "kl_tail": Column(_f64, "KL over the top k tokens and one bucket for the rest", True),
            "kl_paper": Column(_f64, "the paper's top-k KL, with its fill", True),
            "kl_path": Column(pa.list_(_f64), "KL at each step along the gold answer", True),
            "trajectory_ctx": Column(_f64, "sum of KL along the greedy path under the candidate", True),
            "trajectory_base": Column(_f64, "sum of KL along the greedy path of the base", True),
            "judge_helpful_answer": Column(_f64, "p(yes): helps, given the answer", True),
            "judge_factual": Column(_f64, "p(yes): accurate, by the model's knowledge", True),
            "judge_helpful": Column(_f64, "p(yes): helps, the answer unseen", True),
            "expected_shift": Column(_f64, "mean signed shift over sampled answers", True),
        },
        {
            "kl at least 0": pl.col("kl") >= 0,
            "js in [0, log 2]": pl.col("js").is_between(0, 0.6932),
            "statistics finite": pl.all_horizontal(pl.col("entropy", "kl", "js", "kl_tail", "kl_paper").is_finite()),
        },
    ),
    Table(
        "utilities",
        2,
        "Scores of passages, best first; ties to the earlier passage.",
        "rank_passages, combine_scores",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(_s, "question"),
            "scorer": Column(_s, "name of the scorer with its suffixes"),
            "rank": Column(_i32, "from 0"),
            "passage_id": Column(_s, "passage"),
            "value": Column(_f32, "score"),
            "answer_aware": Column(_b, "whether the scorer sees the gold answer"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "selections",
        2,
        "The selected context of each question and scorer.",
        "select_context, combine_scores, select_greedily",
        ("question_id", "scorer", "rank"),
        {
            "question_id": Column(_s, "question"),
            "scorer": Column(_s, "scorer"),
            "rank": Column(_i32, "from 0; -1 where nothing was selected"),
            "passage_id": Column(_s, "passage; null where nothing was selected", True),
            "answer_aware": Column(_b, "whether the scorer sees the gold answer"),
        },
    ),
    Table(
        "blocks",
        1,
        "The evidence block of each question at each budget, line by line; of path context at `prompt.budget` alone.",
        "build_prompts, gather_context",
        ("question_id", "budget", "n"),
        {
            "question_id": Column(_s, "question"),
            "budget": Column(_i32, "word pieces allowed"),
            "n": Column(_i32, "line, from 0"),
            "kind": Column(_s, "line or sentence"),
            "passage_id": Column(
                _s, "where the line comes from; `QUESTION evidence N` for evidence that resolves to no passage"
            ),
            "edge_ids": Column(pa.list_(_i32), "the edges a line shows; none for a sentence"),
            "text": Column(_s, "the line as it stands in the block"),
            "tokens": Column(_i32, "its word pieces"),
        },
        {"kind in line, sentence": pl.col("kind").is_in(["line", "sentence"])},
    ),
    Table(
        "prompts",
        1,
        "The prompt as used, in every encoding, with its cost under the answering model's tokenizer.",
        "build_prompts",
        ("question_id", "encoding"),
        {
            "question_id": Column(_s, "question"),
            "encoding": Column(_s, "words, ids, matrix or lines"),
            "facts": Column(_s, "action on the facts channel"),
            "edges": Column(_i32, "edges shown"),
            "tokens": Column(_i32, "tokens of the whole prompt"),
            "chosen": Column(_b, "the one that is sent"),
            "text": Column(_s, "the whole prompt"),
        },
    ),
    Table(
        "preferences",
        1,
        "What each question's prompt costs and brings under every configuration of its channels: the terms of a utility, "
        "unweighed.",
        "build_preferences",
        ("question_id", "configuration"),
        {
            "question_id": Column(_s, "question"),
            "split": Column(_s, "train, dev or test"),
            "model": Column(_s, "digest of the language model that read it, the same in every row"),
            "configuration": Column(_s, "actions on questions, answers and facts, as question/answer/facts"),
            "lift": Column(_f64, "answer lift in nats for each token of the gold answer"),
            "faithfulness": Column(_f64, "share of the gold answer's content-word types that the context holds"),
            "tokens": Column(_i32, "tokens of the whole prompt under the reader's tokenizer"),
        },
        _split | {"one model": pl.col("model") == pl.col("model").first()},
    ),
    Table(
        "features",
        1,
        "What the compression policy sees of a question.",
        "build_preferences",
        ("question_id", "feature"),
        {
            "question_id": Column(_s, "question"),
            "split": Column(_s, "train, dev or test"),
            "n": Column(_i32, "place of the feature, from 0"),
            "feature": Column(_s, "name"),
            "value": Column(_f64, "as measured, not standardised"),
        },
        _split,
    ),
    Table(
        "memories",
        2,
        "What sessions stored: a run of each question and of each answer, and the evidence shown for it. "
        "No earlier stage reads it.",
        "build_preferences, recall_context",
        ("session_id", "n", "channel", "place"),
        {
            "session_id": Column(_s, "session"),
            "n": Column(_i32, "place of the question in its session, from 0"),
            "question_id": Column(_s, "question"),
            "channel": Column(_s, "question, answer or facts"),
            "place": Column(_i32, "place among the question's rows of the channel, from 0"),
            "text": Column(_s, "what was stored"),
            "verified": Column(_b, "answers: whether it is gold, which only training questions store", True),
            "source": Column(_s, "answers: gold, or the model that gave it; facts: the passage", True),
            "utility": Column(_f64, "facts: lift that the unit alone gives the stored answer, nats per token", True),
        },
        {"channel in question, answer, facts": pl.col("channel").is_in(["question", "answer", "facts"])},
    ),
    Table(
        "curves",
        1,
        "Training curves of the compression policy, under TRL's names.",
        "train_policy",
        ("epoch", "metric"),
        {
            "epoch": Column(_i32, "epoch, from 1"),
            "metric": Column(_s, "name; eval_ for dev questions"),
            "value": Column(_f64, "mean over the pairs, or over the questions"),
        },
    ),
    Table(
        "frontier",
        1,
        "Utility, accuracy and tokens of the policy on test questions as a budget presses on it (lemma 13).",
        "evaluate_policy",
        ("share",),
        {
            "share": Column(_f64, "place of the budget between the cheapest prompts (0) and no budget (1)"),
            "budget": Column(_f64, "mean prompt tokens allowed"),
            "eta": Column(_f64, "price of a token that keeps it"),
            "tokens": Column(_f64, "mean prompt tokens"),
            "accuracy": Column(_f64, "mean accuracy term"),
            "utility": Column(_f64, "mean utility"),
            "n": Column(_i32, "questions"),
        },
    ),
    Table(
        "answers",
        1,
        "What a language model answers to each question under one context.",
        "answer_questions",
        ("question_id",),
        {
            "question_id": Column(_s, "question"),
            "session_id": Column(_s, "the memory session it is asked in"),
            "n": Column(_i32, "its place in the session, from 0"),
            "cut": Column(_i32, "units of the block, from the first on, that did not fit the prompt"),
            "prompt_tokens": Column(_i32, "tokens of the whole prompt"),
            "completion_tokens": Column(_i32, "tokens that were written, with those that end the answer"),
            "text": Column(_s, "the answer; empty where there was none"),
            "refused": Column(_b, "whether it is a refusal (answer.refusals)"),
            "stopped": Column(_s, "why it ends: end (by itself), stop (answer.stop), length or repeats"),
        },
        {
            "stopped in end, stop, length, repeats": pl.col("stopped").is_in(["end", "stop", "length", "repeats"]),
            "counts not negative": pl.min_horizontal("n", "cut", "prompt_tokens", "completion_tokens") >= 0,
            "one place for each question of a session": ("session_id", "n"),
        },
    ),
    Table(
        "question_metrics",
        1,
        "One figure of one question under one variant.",
        "evaluate_prompts, evaluate_sentences, evaluate_selection, evaluate_answers, evaluate_policy, replay_sessions, "
        "lift_prompts, lift_sentences, check_red_herrings",
        (),
        {
            "question_id": Column(_s, "question"),
            "track": Column(_s, "blind or aware (of document order); null on the selection path", True),
            "scorer": Column(_s, "scorer; null for systems without one", True),
            "answer_aware": Column(_b, "whether the scorer sees the gold answer"),
            "metric": Column(_s, "name"),
            "value": Column(_f64, "fraction, tokens or nats"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "score_quantiles",
        1,
        "How a scorer's values are distributed over passages of each kind (theorem 1, measured, where they are random).",
        "check_red_herrings",
        ("scorer", "kind", "at"),
        {
            "scorer": Column(_s, "scorer"),
            "answer_aware": Column(_b, "whether the scorer sees the gold answer"),
            "kind": Column(_s, "correct, counterfactual, irrelevant, or random: a passage of another question"),
            "at": Column(_f64, "share of the values that are at most this one"),
            "value": Column(_f64, "score"),
            "n": Column(_i32, "pairs of question and passage"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "metrics",
        1,
        "The experiment's figures: means over questions with intervals.",
        "compare_variants",
        ("dataset", "system", "track", "scorer", "subset", "metric", "split", "published"),
        {
            "dataset": Column(_s, "data set"),
            "system": Column(_s, "system or variant"),
            "track": Column(_s, "blind or aware; null on the selection path", True),
            "scorer": Column(_s, "scorer; null for graph systems", True),
            "answer_aware": Column(_b, "whether the gold answer is seen"),
            "subset": Column(_s, "which questions"),
            "metric": Column(_s, "name"),
            "value": Column(_f64, "mean over questions"),
            "low": Column(_f64, "lower end of the 95 % interval", True),
            "high": Column(_f64, "upper end", True),
            "n": Column(_i32, "questions"),
            "split": Column(_s, "train, dev, test or all"),
            "published": Column(_b, "taken from a publication, not computed here"),
        },
    ),
    Table(
        "comparisons",
        2,
        "Paired differences between two rows of one data set, track and metric.",
        "compare_variants",
        (),
        {
            "dataset": Column(_s, "data set"),
            "track": Column(_s, "blind or aware; null on the selection path", True),
            "answer_aware": Column(_b, "whether the gold answer is seen"),
            "subset": Column(_s, "which questions"),
            "metric": Column(_s, "name"),
            "system": Column(_s, "system"),
            "scorer": Column(_s, "its scorer", True),
            "baseline": Column(
                _s, "the scorer (system sentences) or the system (eval.answers_against) it is compared with"
            ),
            "best": Column(_b, "whether that is the best sentence scorer here; else it was named in the settings"),
            "difference": Column(_f64, "mean paired difference"),
            "low": Column(_f64, "lower end of the 95 % interval"),
            "high": Column(_f64, "upper end"),
            "p": Column(_f64, "two-sided, sign flips over resampling units"),
            "n": Column(_i32, "questions"),
            "split": Column(_s, "train, dev, test or all"),
        },
        {"p in (0, 1]": pl.col("p").is_between(0, 1, closed="right")},
    ),
    Table(
        "variant_runs",
        1,
        "What MLflow shows of a row of figures: settings, costs and figures of one variant under one fingerprint.",
        "track_variants, secateur track",
        ("experiment", "dataset", "system", "track", "scorer", "fingerprint"),
        {
            "experiment": Column(_s, "experiment"),
            "dataset": Column(_s, "data set"),
            "system": Column(_s, "system or variant"),
            "track": Column(_s, "blind or aware; null on the selection path", True),
            "scorer": Column(_s, "scorer; null for graph systems", True),
            "fingerprint": Column(_s, "digest of settings, code and inputs of all stages behind the figures"),
            "place": Column(_i32, "in the order in which the runs of a row were current, from 0"),
            "started": Column(_s, "start of the first stage behind it, ISO 8601"),
            "finished": Column(_s, "end of the last one"),
            "params": Column(_s, "JSON: the row, its options, the settings that differ from the option files"),
            "config": Column(_s, "JSON: settings, code digests and inputs by stage"),
            "metrics": Column(_s, "JSON: name, value and step of each metric"),
            "figures": Column(_s, "CSV: the rows of the table metrics"),
        },
    ),
    Table(
        "job_runs",
        1,
        "Every stage record that was seen, failures included.",
        "secateur track",
        ("experiment", "job"),
        {
            "experiment": Column(_s, "experiment"),
            "job": Column(_s, "digest of the record"),
            "stage": Column(_s, "rule"),
            "finished": Column(_s, "when it ended, ISO 8601"),
            "failed": Column(_b, "whether it failed"),
            "record": Column(_s, "JSON: run.json or failure.json"),
        },
    ),
    Table(
        "graph_measures",
        1,
        "What the paper's lemmas claim, measured on one graph; each row says over how many.",
        "measure_graph",
        ("measure", "at"),
        {
            "measure": Column(_s, "bytes_*, growth_*, exponent_*, cover_*, touched*, survived, tau_* or window*"),
            "at": Column(_f64, "what it is measured over: a share, a number of runs, a threshold, a width; else 1"),
            "value": Column(_f64, "bytes, counts, shares or cosines"),
            "n": Column(_i64, "rows, passages, mentions, questions, runs or sentences behind the value"),
        },
        {"value finite": pl.col("value").is_finite()},
    ),
    Table(
        "samples",
        1,
        "The questions that the report draws, with their figures at one budget.",
        "sample_questions",
        ("n",),
        {
            "n": Column(_i32, "place on the page, from 0"),
            "question_id": Column(_s, "question"),
            "text": Column(_s, "the question"),
            "answer": Column(_s, "gold answer as text", True),
            "evidence": Column(pa.list_(_s), "gold evidence texts"),
            "present": Column(pa.list_(_s), "whole, lines, absent or unresolved: each evidence text in the block"),
            "budget": Column(_i32, "word pieces of the block"),
            "exact": Column(_f64, "exact@budget of the question", True),
            "novel": Column(_f64, "novel@budget", True),
            "held": Column(_f64, "held@budget", True),
            "edges": Column(_i32, "edges the block holds, drawn or not"),
        },
    ),
    Table(
        "subgraphs",
        1,
        "The edges that are drawn for a sampled question.",
        "sample_questions",
        ("question_id", "n"),
        {
            "question_id": Column(_s, "question"),
            "n": Column(_i32, "in the order of the block, from 0"),
            "head": Column(_s, "entity"),
            "relation": Column(_s, "relation"),
            "tail": Column(_s, "entity"),
            "passage_id": Column(_s, "where the edge stands"),
            "gold": Column(_b, "whether that is gold evidence"),
            "whole": Column(_b, "whether the block shows its sentence whole instead of the line"),
            "head_asked": Column(_b, "whether the head shares a content word with an entity of the question"),
            "tail_asked": Column(_b, "whether the tail does"),
        },
    ),
)
