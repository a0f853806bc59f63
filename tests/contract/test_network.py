"""Waits for a busy endpoint, and proxies and certificates of the machine; over a real socket."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from test_bad_input_answers import PROMPTS, remote
from tests.support.answer_server import answering

from secateur.core.errors import SecateurError
from secateur.datasets.fetch import fetch
from secateur.datasets.registry import RegistryFile
from secateur.models.http import retry_after
from secateur.models.network import through

pytestmark = pytest.mark.usefixtures("bare")


@pytest.mark.parametrize("value", ["0.4", ".3", "4e-1"])
def test_a_fraction_of_a_second_is_waited(tmp_path, value, monkeypatch):
    waits = []
    monkeypatch.setattr("secateur.models.http.time.sleep", waits.append)
    with answering() as server:
        server.script.append((429, {"Retry-After": value}, "{}"))
        remote(server, tmp_path)(PROMPTS[:1])
    assert waits == [float(value)]


def test_a_wait_is_a_number_of_seconds_or_a_date_and_anything_else_is_none():
    assert retry_after("2") == 2
    later = datetime.now(UTC) + timedelta(hours=1)
    assert 3500 < retry_after(format_datetime(later, usegmt=True)) <= 3600
    assert 3500 < retry_after(later.strftime("%a, %d %b %Y %H:%M:%S -0000")) <= 3600  # a date without a zone is in UTC
    past = ["Wed, 21 Oct 2015 07:28:00 -0000", "Wed, 21 Oct 2015 07:28:00 GMT"]
    for value in ("", "soon", "-1", "nan", "inf", "1e999", "0.4s", "400ms", *past):
        assert retry_after(value) == 0, value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks://127.0.0.1:9"),
        ("all_proxy", "socks4://user:secret@127.0.0.1:9"),
        ("HTTP_PROXY", "ftp://127.0.0.1:9"),
        ("HTTPS_PROXY", "http://127.0.0.1:no"),
        ("NO_PROXY", "localhost,[::1]"),
        ("no_proxy", "127.0.0.1,::1/128"),
        *(("SSL_CERT_FILE", path) for path in ("/nonexistent/ca.pem", __file__, "/")),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(tmp_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with answering() as server, pytest.raises(SecateurError, match=rf"^{name}: cannot be used.*Fix: ") as caught:
        remote(server, tmp_path)(PROMPTS[:1])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:9", r"ConnectError.*through the proxy in HTTP_PROXY"),
        ("ALL_PROXY", "socks5://127.0.0.1:9", "ALL_PROXY"),
    ],
)
def test_a_dead_proxy_is_named_where_it_is_taken(tmp_path, monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    with answering() as server:
        with pytest.raises(SecateurError, match=said):
            remote(server, tmp_path)(PROMPTS[:1])
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1,::1")
        assert name == "ALL_PROXY" or remote(server, tmp_path)(PROMPTS[:1])[0].text == "What is 0?"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, ""),
        ({"HTTPS_PROXY": "http://127.0.0.1:9"}, ", through the proxy in HTTPS_PROXY"),
        ({"https_proxy": "no authority"}, ", through the proxy in https_proxy"),
        ({"ALL_PROXY": "http://127.0.0.1:9"}, ", through the proxy in ALL_PROXY"),
        ({"HTTP_PROXY": "http://127.0.0.1:9"}, ""),
        ({"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ".invalid"}, ""),
        ({"SSL_CERT_FILE": "/nonexistent/ca.pem"}, ", while SSL_CERT_FILE names no file"),
    ],
)
def test_a_download_that_fails_names_the_variables_it_went_by(tmp_path, monkeypatch, variables, said):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    url = "https://data.invalid/file.json"
    assert through(url) == said
    entry = RegistryFile("file.json", "owner/repo@1", url, "0" * 64, 1, "MIT", tmp_path)
    with pytest.raises(SecateurError, match=f"could not be downloaded from {url} .*{said}\\)"):
        fetch(entry, tmp_path / "file.json", None)
