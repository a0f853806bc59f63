"""What `secateur clean` lists of a cache: entries not used for so many days, never an endpoint's replies."""

import os
import time

import pytest

from secateur.planning.cleaning import DAY, REPLIES, unread

MONTH = 30


def used(path, read: float, written: float):
    """A file that was last read and written so many days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("entry")
    os.utime(path, (time.time() - read * DAY, time.time() - written * DAY))
    return path


@pytest.mark.parametrize(
    ("group", "read", "written", "listed"),
    [
        ("triples", MONTH + 1, MONTH + 1, True),
        ("triples", MONTH - 1, MONTH - 1, False),
        ("embeddings", 0, 2 * MONTH, False),  # read lately, though it is old
        *((replies, 10 * MONTH, 10 * MONTH, False) for replies in REPLIES),
    ],
)
def test_an_entry_is_listed_after_so_many_days_without_use_and_replies_never(tmp_path, group, read, written, listed):
    entry = used(tmp_path / group / "0a/0a1b.json", read, written)
    assert unread(tmp_path, MONTH) == ({group: [entry]} if listed else {})


def test_a_converted_model_goes_as_a_whole_or_stays(tmp_path):
    for days in (MONTH + 1, 1):
        used(tmp_path / f"models/half/{days}.bin", days, days)
        used(tmp_path / f"models/old/{days}.bin", MONTH + days, MONTH + days)
    assert unread(tmp_path, MONTH) == {"models": [tmp_path / "models/old"]}
