"""Secrets are removed by the places where they stand, and by the values of secret variables in every form."""

import json

import pytest

from secateur.core.redaction import redacted, without_secrets

KEY = "Zx9Q7planted0123456789"
ODD = 'ab"c\\d/efgh+1'
PLACES = {
    "user and password": f"http://me:p@ss{KEY}@host:9/v1",
    "query": f"https://h/v1?api-key={KEY}&x=1",
    "header in JSON": json.dumps({"headers": {"Authorization": f"Bearer {KEY}"}}),
    "basic": f"Basic {KEY}",
    "field in JSON in JSON": json.dumps(json.dumps({"api_key": KEY})),
    "own header": f"x-api-key: {KEY}",
    "assignment": f"api_key='{KEY}'",
    "password": f"password={KEY}",
    "form of a key": f"sk-{KEY}",
    "secret": f"client_secret: {KEY}",
    "environment": f"export GITHUB_TOKEN={KEY}",
    "option": f"--token={KEY}",
    "quoted token": json.dumps({"token": KEY}),
    "token in a header": f"Authorization: Token {KEY}",
    "a web token": f"eyJhbGciOiJIUzI1NiJ9.{KEY}",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_removed_where_it_stands(place):
    assert KEY not in redacted(PLACES[place])


@pytest.mark.parametrize("written", [ODD, json.dumps(ODD), json.dumps(json.dumps(ODD)), repr(ODD)])
def test_the_value_of_a_secret_variable_is_removed_in_every_form(monkeypatch, written):
    monkeypatch.setenv("SOME_API_KEY", ODD)
    assert "efgh" not in redacted(f"said {written}")


@pytest.mark.parametrize(
    "text",
    [
        "http://h/?q=a@b.c and me@x.y", "max_tokens=5 top_k: 3 key=5", "lm.window=8192; the token is 3 tokens long",
        '{"config": {"eval.seed": 7, "assembly.counter": "lm"}}', "https://host/path/to/file.json", '"api_key": null',
        "The Basic principles of physics", "bearer certificates were sold", "Victoria's Secret: an American company",
        "What is the password: swordfish or sesame?", "signature: def f(x, y)", "https://x/y?key=title&code=5",
        "hf_hub_download_with_retry_policy", "sk-learn-contrib-package-name", '{"secret": true, "api_key": 123}',
    ],
)  # fmt: skip
def test_other_text_stays(text):
    assert redacted(text) == text


def test_a_record_stays_json_whatever_its_texts_say():
    record = {"q": "Their secret:\nnobody", "secret": True, "api_key": 123, "credentials": [], "n": 1}
    record["password"] = {"a": KEY}
    assert without_secrets(record) == record
    assert without_secrets({"api_key": KEY, "list": [f"Bearer {KEY}"]}) == {"api_key": "***", "list": ["Bearer ***"]}


@pytest.mark.parametrize("text", ["a." * 50_000, "a-" * 50_000, "api-" * 25_000])
def test_a_long_text_is_read_in_a_moment(text):
    assert redacted(text) == text
