"""`secateur check`: what a folder of one's own holds, what it lacks, and what a run on it will warn of."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option

from secateur.commands.shared import at_work
from secateur.config.compose import literal, option
from secateur.core.errors import SecateurError
from secateur.core.workspace import as_given
from secateur.datasets.corpus_warnings import corpus_warnings
from secateur.datasets.language import english_only
from secateur.datasets.own import FORMS, Own, corpus_of, form_of, read_own
from secateur.datasets.texts import text_files
from secateur.evaluation.subsets import are_drafted, units_of
from secateur.evaluation.verdict import missing_data
from secateur.graph.triples.extraction import refuse_unreadable
from secateur.planning.sources import folder_files
from secateur.stage.contract import SIZES

__all__ = [
    "GAINED",
    "Folder",
    "Workspace",
    "check",
    "measured_by_answers",
    "read_folder",
    "read_passages",
    "rooted",
    "unreadable",
]

CONF = Path("conf")
NAMED, CUT = 5, 80  # quotations that a message names, and characters of each
GAINED = 40  # questions whose answer gain is measured
Folder = Annotated[Path, Argument(help="Folder with passages.jsonl, documents (Markdown, PDF, ...), or BEIR's files.")]
Workspace = Annotated[
    Path | None,
    Option(help="Folder for options and results, made if it is not there. Outside a clone: secateur-work."),
]


def check(
    folder: Folder,
    ids: Annotated[bool, Option("--ids", help="List the ids of all passages instead, each with its text.")] = False,
    workspace: Workspace = None,
) -> None:
    """Say what a folder of your own holds, what it lacks, and what is English only. Exit code 2 for what is invalid."""
    folder = at_work(folder, workspace)
    data = read_folder(folder)
    if ids:
        print(
            *(f"{passage}\t{text[:CUT]!r}" for passage, text in data.passages.select("passage_id", "text").rows()),
            sep="\n",
        )
        return
    print(f"{folder}: {data.form}")
    print(*(f"  {head:10} {text}" for head, text in _about(data)), sep="\n")
    if data.form != "texts" and (others := text_files(folder)):
        print(f"  not read   {', '.join([*others][:5])}: documents beside {data.form}")
    where = f" --workspace {shlex.quote(str(as_given(workspace)))}" if workspace else ""
    print(f"Next: secateur evaluate {shlex.quote(str(folder))}{where}")


def _about(data: Own) -> Iterator[tuple[str, str]]:
    """(head, text) of what a folder holds."""
    passages, questions, evidence = data.passages, data.questions.questions, data.questions.evidence
    groups = passages["group_id"].n_unique()
    in_groups = f", {groups} groups" if groups > 1 else ""
    yield "passages", f"{passages.height:,} in {passages['doc_id'].n_unique():,} documents{in_groups}"
    resolved = evidence.filter(pl.col("passage_id").is_not_null())
    with_evidence = resolved["question_id"].n_unique()
    answers = questions.height - questions["answer"].null_count()
    yield "questions", f"{questions.height:,}: {with_evidence:,} with evidence, {answers:,} with an answer"
    if unknown := _unknown(data):
        yield "evidence", f"{unknown:,} ids name no passage of their question's group, and are left out"
    if lost := evidence.height - resolved.height:
        share = f"{lost:,} of {evidence.height:,} entries"
        yield "evidence", f"{share} stand in no passage, or in several; they count for token recall alone"
        quoted = evidence.filter(pl.col("passage_id").is_null()).head(NAMED).select("question_id", "text").iter_rows()
        yield from (("", f"{question}: {text[:CUT]!r}") for question, text in quoted)
    drafted = "all questions: one unit, so no intervals and no verdict"
    yield ("drafted", drafted) if are_drafted(questions) else ("units", _units(data))
    if gained := measured_by_answers(data):
        yield "measured", gained
    documents = passages.group_by("doc_id").agg("text")["text"].to_list()
    foreign = sum(bool(english_only(texts)) for texts in documents)
    warnings = list(corpus_warnings(passages))
    if foreign and "English" not in dict(warnings):
        share = f"{foreign:,} of {len(documents):,} documents"
        yield "English", f"{share} seem not to be (docs/methods.md, What is English here)"
    yield from warnings
    counts = data.counts | data.questions.counts
    if noted := [f"{name}: {count}" for name, count in counts.items() if count and name not in SIZES]:
        yield "counted", ", ".join(noted)
    if unread := unreadable(data, option(CONF, "experiment", FORMS[data.form][1]).systems):
        yield "left out", f"{', '.join(unread)}, unless `--set system.extractor=llm` reads the texts"


def _units(data: Own) -> str:
    """How many units are resampled, of which kind, and what a verdict lacks."""
    settings, asked = option(CONF, "eval", "default"), data.questions.questions
    if data.has_evidence:
        asked = asked.join(data.questions.evidence.drop_nulls("passage_id"), on="question_id", how="semi")
    units = units_of(asked, data.questions.evidence, max(settings.min_clusters, settings.min_units))
    n, count = units.table["first"].n_unique(), units.table["cluster_id"].n_unique()
    noun = "questions with evidence" if data.has_evidence else "questions"
    enough = missing_data(n, count, settings.min_units, noun) or "enough for a verdict"
    equal = f"; {asked.height - n} questions repeat another" if n < asked.height else ""
    what = "conversations" if data.form == "dialogues" else "documents"
    if not units.missing:
        return f"{count:,} {what}, which are resampled whole: {enough}{equal}"
    more = f"; a verdict about {what} needs {units.missing} more, with questions" if units.documents else ""
    return f"{count:,} questions, since {units.documents} {what} have questions with evidence: {enough}{more}{equal}"


def _unknown(data: Own) -> int:
    """The number of evidence ids that are of no passage; quotations that resolve to none have a row."""
    return data.questions.counts["evidence_unresolved"] - data.questions.evidence["passage_id"].null_count()


def measured_by_answers(own: Own) -> str:
    """What is measured by answers; empty for nothing. Raises SecateurError for questions without evidence and answers."""
    questions = own.questions.questions
    answers = questions.height - questions["answer"].null_count()
    is_read = bool(answers) and own.form != "dialogues"
    if not (own.has_evidence or is_read):
        needed = "evidence" if own.form == "dialogues" else "evidence or answers"
        lost = f" ({unknown:,} evidence ids are of no passage)" if (unknown := _unknown(own)) else ""
        raise SecateurError(
            f"no question has {needed}{lost}, so nothing can be measured. Fix: add `evidence` (docs/data.md)"
        )
    if not is_read:
        return ""
    of = f"answer gain of {min(GAINED, answers)} questions, which a language model reads"
    return of if own.has_evidence else f"{of}; without evidence there is no evidence recall"


def read_passages(folder: Path) -> tuple[str, pl.DataFrame]:
    """(form, passages) of a folder that may lack questions. Raises SecateurError with all problems of its files."""
    folder = folder.resolve()
    form = form_of(folder)
    spec = option(CONF, "dataset", FORMS[form][0], rooted(folder)).format
    files = [Path(f) for f in folder_files(spec, str(folder), "corpus", "custom")]
    return form, corpus_of(spec, files).passages


def read_folder(folder: Path, settings: str | dict | None = None) -> Own:
    """The user's folder, whole. Raises SecateurError with all of its problems."""
    folder = folder.resolve()  # which ids of documents are relative to
    form = form_of(folder)
    spec = settings or option(CONF, "dataset", FORMS[form][0], rooted(folder)).format
    paths = {p: [Path(f) for f in folder_files(spec, str(folder), p, "custom")] for p in ("corpus", "questions")}
    return read_own(folder, paths, spec, form)


def rooted(folder: Path) -> tuple[str, ...]:
    return (f"dataset.folder={literal(str(folder.resolve()))}",)


def unreadable(own: Own, systems: Iterable[str], overrides: tuple[str, ...] = ()) -> dict[str, str]:
    """System -> why its graph cannot be made of the folder's texts."""
    unread = {}
    for name in systems:
        system = option(CONF, "system", name, overrides)
        if system.family == "graph":
            try:
                refuse_unreadable(own.passages, option(CONF, "extractor", system.extractor, overrides))
            except SecateurError as error:
                unread[name] = str(error)
    return unread
