"""What stands in files and names that is no option: refused at once, by name; and what is remembered of it."""

import shutil
from pathlib import Path

import pytest
from tests.support.project import in_folder

from secateur.config import compose
from secateur.config.compose import _composed, local, option
from secateur.core.fields import ConfigError

CONF = Path(__file__).parents[2] / "conf"
BOMB = b"x0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + b"".join(  # nine aliases of nine aliases of ...
    b"x%d: &x%d [%s]\n" % (n, n, b", ".join([b"*x%d" % (n - 1)] * 9)) for n in range(1, 9)
)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """What was composed before is not read."""
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("group", "text", "expected"),
    [
        ("eval", b"name: caf\xe9\n", "is not UTF-8"),
        ("eval", b"just words\n", "holds a str; allowed: keys with values"),
        ("eval", b"defaults: [mine, _self_]\n", "its defaults or an alias refer to themselves"),
        ("eval", b"a: &a {b: *a}\n", "an alias refers to itself"),
        ("eval", BOMB, "its aliases stand for .* allowed: 100,000"),
        ("order", b"runs: [sentence\n", "conf/order/mine"),
        ("order", b"runs: sentence\nneighbor: 1\n", r"2 problems: .* order\.neighbor; did you mean 'neighbour'"),
    ],
)
def test_a_file_that_is_no_option_is_refused_at_once(tmp_path, cache, group, text, expected):
    conf = shutil.copytree(CONF, tmp_path / "conf")
    (conf / group / "mine.yaml").write_bytes(text)
    with pytest.raises(ConfigError, match=expected) as refused:
        option(conf, group, "mine")
    assert f"conf/{group}/mine.yaml" in str(refused.value)


def test_a_machines_own_settings_are_read_or_refused(tmp_path):
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "local.yaml").write_bytes(b"mirror: [")
    with pytest.raises(ConfigError, match=r"local\.yaml: is not YAML"):
        local(tmp_path)


def test_what_the_environment_says_is_asked_each_time(cache, monkeypatch):
    for title in ("one", "two"):
        monkeypatch.setenv("TITLE_OF_THIS_TEST", title)
        _composed.cache_clear()
        option.cache_clear()
        assert option(CONF, "experiment", "smoke", ("experiment.title='${oc.env:TITLE_OF_THIS_TEST}'",)).title == title


def test_what_is_remembered_is_forgotten_with_the_code_or_hydra(cache, monkeypatch):
    composed = []
    monkeypatch.setattr(compose, "_compose", lambda *_: composed.append(1) or {"runs": len(composed)})
    for code in ("before", "before", "after"):
        _composed.cache_clear()
        monkeypatch.setattr(compose, "_composer", lambda code=code: code)
        values = _composed(CONF, "order", "aware")
    assert (values, len(composed)) == ({"runs": 2}, 2)


@pytest.mark.parametrize("changed", ["compose", "files", "inline", "version"])
def test_what_composes_is_told_apart_by_its_source_and_by_hydras_version(tmp_path, monkeypatch, changed):
    before = compose._composer.__wrapped__()
    assert compose._composer.__wrapped__() == before
    edited = tmp_path / "edited.py"
    edited.write_text("# another source\n")
    if changed == "version":
        monkeypatch.setattr(compose, "version", lambda name: "0")
    else:
        monkeypatch.setattr(compose if changed == "compose" else getattr(compose, changed), "__file__", str(edited))
    assert compose._composer.__wrapped__() != before


def test_a_password_in_an_address_is_remembered_nowhere(cache):
    _composed.cache_clear()
    option(CONF, "answer", "endpoint", ("answer.url=http://user:hunter2@host/v1",))  # refused once it is used
    assert not any(b"hunter2" in path.read_bytes() for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "name",
    ["ä é", "(,=)", "'", "''", "#{[&~", "a\\'b", "back\\", "${oc.env:HOME}", "x;echo y", "$HOME",
     'a"b', "*?", "a: b", "null", "%s"],
)  # fmt: skip
def test_a_folders_name_is_read_as_it_is(tmp_path, name):
    (tmp_path / name).mkdir()
    for group, override in zip(("corpus", "dataset"), in_folder(tmp_path / name), strict=True):
        assert option(CONF, group, "custom", (override,)).folder == str(tmp_path / name)
