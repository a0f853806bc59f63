"""A client that has so much time in all."""

from types import SimpleNamespace

import pytest

from secateur.report import timed


def test_a_client_answers_until_its_time_is_out(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(timed.time, "monotonic", lambda: now[0])
    client = timed.Timed(SimpleNamespace(ask=lambda: "said", tracking_uri="http://host"), 20)
    assert (client.ask(), client.tracking_uri) == ("said", "http://host")
    now[0] = 21.0
    with pytest.raises(TimeoutError, match="not told in 20 s"):
        client.ask()
