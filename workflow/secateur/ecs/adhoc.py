"""Rank the candidates of a JSON Lines file for one question, without an experiment."""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.reading import STRING, STRING_OR_NULL, form_problems, parse_json
from secateur.ecs.reading.pairs import base_readings, base_rows, pair_rows
from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.score import expression, with_base
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["rank", "read_candidates"]

PASSAGE = {"text": STRING, "id": STRING_OR_NULL, "speaker": STRING_OR_NULL, "date": STRING_OR_NULL}
SCORES = ("signed", "signed_mean", "kl_first", "pmi_q")
LOG = logging.getLogger("secateur")
PREVIEW = 60  # characters of a candidate in the output


def read_candidates(path: Path) -> Iterator[Passage]:
    """Yield the passages of a JSON Lines file: `text`, and optionally `id`, `speaker` and `date`.

    Raises SecateurError for a missing file, and for an invalid line with its number.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise SecateurError(f"{path}: not readable ({error.strerror}). Fix: name a file of JSON lines.") from error
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = parse_json(line.decode("utf-8-sig"), lenient=True)
                problems = form_problems(record, PASSAGE, extra=True)
            except UnicodeDecodeError:
                problems = ["not UTF-8"]
            except ValueError as error:
                problems = [f"malformed JSON: {error}"]
            if problems:
                raise SecateurError(
                    f'{path}, line {number}: {"; ".join(problems)}. Fix: lines like {{"text": "..."}}, in UTF-8.'
                )
            passage_id = record.get("id") or f"line {number}"
            yield Passage(passage_id, record["text"], record.get("speaker"), record.get("date"))


def rank(lm: CausalLM | Served, cfg, question: Question, passages: Iterable[Passage]) -> pl.DataFrame:
    """Rank candidates by `signed` if the question has an answer, else by `pmi_q`; ties keep the file's order.

    Memory holds one block of `cfg.passages` candidates and all scores.
    `cut`: tokens of a candidate beyond the window, where any has some, which is logged.
    Raises SecateurError for an empty question or no candidates.
    """
    if not question.text.strip():
        raise SecateurError("the question is empty. Fix: --question with a text.")
    base = base_readings(lm, cfg, [question])
    question_row = base_rows([question], base)
    remaining, blocks = iter(passages), []
    while block := list(islice(remaining, cfg.passages)):
        rows = pair_rows(lm, cfg, [question], block, [(0, p) for p in range(len(block))], base)
        scores = with_base(statistics_frame(question_row + rows)).select(
            passage_id="passage_id", **{name: expression(name) for name in SCORES}, cut="cut"
        )
        previews = [" ".join(passage.text.split())[:PREVIEW] for passage in block]
        blocks.append(scores.with_columns(text=pl.Series(previews)))
    if not blocks:
        raise SecateurError("there is no candidate to rank. Fix: a file with one JSON object a line.")
    encoded = base.sequences[0]
    ranked_by = "signed" if encoded.start < len(encoded.ids) else "pmi_q"
    ranked = pl.concat(blocks).sort(ranked_by, descending=True, nulls_last=True, maintain_order=True)
    if beyond := ranked.filter(pl.col("cut") > 0).height:
        LOG.warning("%d of %d candidates exceed lm.window and lost their beginning (column cut)", beyond, ranked.height)
    else:
        ranked = ranked.drop("cut")
    with_values = [column for column in ranked.columns if ranked[column].null_count() < ranked.height]
    return ranked.select(with_values).with_row_index("rank", 1)
