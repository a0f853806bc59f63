"""What `secateur clean` lists of a cache: entries not used for so many days, never an endpoint's replies."""

import os
import time

import pytest

from secateur.planning.cleaning import DAY, REPLIES, unread

MONTH = 30


def used(path, days: float):
    """A file that was last read and written so many days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("entry")
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


@pytest.mark.parametrize(("days", "listed"), [(MONTH + 1, True), (MONTH - 1, False)])
def test_an_entry_is_listed_after_so_many_days_without_use(tmp_path, days, listed):
    entry = used(tmp_path / "triples/openie/0a/0a1b.json", days)
    assert unread(tmp_path, MONTH) == ({"triples": [entry]} if listed else {})


def test_what_was_read_lately_stays_though_it_is_old(tmp_path):
    entry = used(tmp_path / "embeddings/model/segment.npz", MONTH + 1)
    os.utime(entry, (time.time(), time.time() - 2 * MONTH * DAY))
    assert unread(tmp_path, MONTH) == {}


def test_a_converted_model_goes_as_a_whole_or_stays(tmp_path):
    for days in (MONTH + 1, 1):
        used(tmp_path / f"models/half/{days}.bin", days)
        used(tmp_path / f"models/old/{days}.bin", MONTH + days)
    assert unread(tmp_path, MONTH) == {"models": [tmp_path / "models/old"]}


@pytest.mark.parametrize("name", REPLIES)
def test_replies_of_an_endpoint_are_never_listed(tmp_path, name):
    used(tmp_path / name / "0a/0a1b.json", 10 * MONTH)
    assert unread(tmp_path, MONTH) == {}
