"""One question with candidates from a file, without an experiment: read line by line, scored block by block."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.reading import check_fields, parse_json
from secateur.ecs.reading.pairs import base_readings, base_rows, pair_rows
from secateur.ecs.reading.sweep import frame_of
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.score import expression, paired
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["candidates", "rank"]

OPTIONAL = (str, type(None))
FIELDS = {"text": (str,), "id": OPTIONAL, "speaker": OPTIONAL, "date": OPTIONAL}
SHOWN = ("signed", "signed_mean", "kl_first", "pmi_q")
LENGTH = 60  # characters of a candidate that are shown


def candidates(path: Path) -> Iterator[Passage]:
    """The passages of a JSON lines file, one at a time: text, and id, speaker, date where it has them.

    Raises SecateurError for a missing file, and for a line that is no such object, with its number.
    """
    try:
        stream = path.open(encoding="utf-8")
    except OSError as error:
        raise SecateurError(f"{path}: not readable ({error.strerror}). Fix: name a file of JSON lines.") from error
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = parse_json(line)
                wrong = check_fields(record, FIELDS)
            except ValueError as error:
                wrong = [f"malformed JSON: {error}"]
            if wrong:
                raise SecateurError(f'{path}, line {number}: {"; ".join(wrong)}. Fix: lines like {{"text": "..."}}.')
            name = record.get("id") or f"line {number}"
            yield Passage(name, record["text"], record.get("speaker"), record.get("date"))


def rank(lm: CausalLM | Served, cfg, question: Question, passages: Iterable[Passage]) -> pl.DataFrame:
    """Candidates, best first, by `signed` where the answer is known, else by `pmi_q`; ties to the earlier one.

    Raises SecateurError for an empty question and for none to rank. Memory holds one block of candidates and the
    scores of all.
    """
    if not question.text.strip():
        raise SecateurError("the question is empty. Fix: --question with a text.")
    base, parts, left = base_readings(lm, cfg, [question]), [], iter(passages)
    alone = base_rows([question], base)
    while block := list(islice(left, cfg.passages)):
        rows = pair_rows(lm, cfg, [question], block, [(0, p) for p in range(len(block))], base)
        scored = paired(frame_of(alone + rows)).select(
            passage_id="passage_id", **{name: expression(name) for name in SHOWN}
        )
        parts.append(scored.with_columns(text=pl.Series([" ".join(p.text.split())[:LENGTH] for p in block])))
    if not parts:
        raise SecateurError("there is no candidate to rank. Fix: a file with one JSON object a line.")
    first = "signed" if base[0][0].start < len(base[0][0].ids) else "pmi_q"
    ranked = pl.concat(parts).sort(first, descending=True, nulls_last=True, maintain_order=True)
    kept = [c for c in ranked.columns if ranked[c].null_count() < ranked.height]
    return ranked.select(kept).with_row_index("rank", 1)
