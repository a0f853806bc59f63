"""`secateur score`: what a user may get wrong, told in one line, before a model is read through."""

import json

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.ecs.adhoc import rank, read_candidates
from secateur.ecs.reading.template import Passage, Question


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"line 2: malformed JSON.*Fix: lines like"),
        ('{"txt": "a"}', "line 2: text is missing"),
        ('{"text": 3}', "line 2: text must be a text, found 3"),
        ('["a"]', "line 2: expected an object"),
        ('{"text": "a", "speaker": 4}', "line 2: speaker must be a text or null"),
        ('{"text": "M\udcfcller"}', "line 2: not UTF-8. Fix: lines like"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    (tmp_path / "c.jsonl").write_bytes(f'{{"text": "good"}}\n{line}\n'.encode(errors="surrogateescape"))
    with pytest.raises(SecateurError, match=message):
        list(read_candidates(tmp_path / "c.jsonl"))


def test_an_empty_question_and_an_empty_or_a_missing_file_are_refused(tiny_lm, ecs, tmp_path):
    with pytest.raises(SecateurError, match=r"c\.jsonl: not readable \(No such file"):
        list(read_candidates(tmp_path / "c.jsonl"))
    (tmp_path / "c.jsonl").write_text("\n")
    with pytest.raises(SecateurError, match="the question is empty"):
        rank(tiny_lm(), ecs(), Question("q", " "), [Passage("p", "a")])
    with pytest.raises(SecateurError, match="no candidate to rank"):
        rank(tiny_lm(), ecs(), Question("q", "What?"), read_candidates(tmp_path / "c.jsonl"))


def test_candidates_beyond_the_window_are_told(tiny_lm, ecs, caplog):
    passages = [Passage("short", "Mira left a ball"), Passage("long", "Mira left a ball " * 400)]
    found = rank(tiny_lm(), ecs(), Question("q", "What had she left?", "a ball"), passages)
    assert dict(found.select("passage_id", pl.col("cut") > 0).iter_rows()) == {"short": False, "long": True}
    assert "1 of 2 candidates exceed lm.window" in caplog.text
    assert "cut" not in rank(tiny_lm(), ecs(), Question("q", "What?", "a ball"), passages[:1]).columns


def test_candidates_are_read_as_they_are_scored_and_ranked_best_first(tiny_lm, ecs, tmp_path):
    path, asked = tmp_path / "c.jsonl", Question("q", "What had she left?", "3 balls")
    rows = [{"text": f"Mira left {n} balls", "speaker": "Jonas", "id": f"c{n}"} for n in range(7)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    pulled = []
    found = rank(tiny_lm(), ecs(passages=3), asked, (pulled.append(p.id) or p for p in read_candidates(path)))
    assert pulled == [f"c{n}" for n in range(7)]
    assert sorted(found["passage_id"]) == pulled
    assert found["signed"].is_sorted(descending=True)
    assert found["passage_id"].equals(rank(tiny_lm(), ecs(), asked, read_candidates(path))["passage_id"])
    free = rank(tiny_lm(), ecs(), Question("q", "What had she left?"), read_candidates(path))
    assert "signed" not in free.columns
    assert free["pmi_q"].is_sorted(descending=True)
