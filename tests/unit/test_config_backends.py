"""Keys of language models and extractors: those all share, and those of a backend or a plug-in."""

from dataclasses import replace
from pathlib import Path

import pytest

from secateur.config import plugins
from secateur.config.compose import names, option
from secateur.config.models import lm_problems
from secateur.core.fields import ConfigError
from secateur.graph.triples import extraction

CONF = Path(__file__).parents[2] / "conf"


def lm(name, *overrides):
    return lm_problems(option(CONF, "lm", name, overrides))


def extractor(name, *overrides):
    return extraction.problems(option(CONF, "extractor", name, overrides), f"conf/extractor/{name}")


@pytest.mark.parametrize(
    ("group", "family", "problems", "key"),
    [("lm", "reader", lm, "backend"), ("extractor", "extractor", extractor, "kind")],
)
def test_every_option_fits_together_and_every_backend_or_kind_has_one(group, family, problems, key):
    known = names(CONF, group)
    assert {getattr(option(CONF, group, name), key) for name in known} == set(plugins.names(family))
    assert [problems(name) for name in known] == [[]] * len(known)


def test_what_a_backend_lacks_and_what_does_not_belong_to_it_is_said_at_once():
    expected = ["lm.pack is needed by backend transformers", "lm.url does not belong to backend transformers"]
    assert lm("smollm2", "lm.pack=null", "+lm.url=http://x") == expected
    expected = ["lm.url is needed by backend sglang", "lm.dtype does not belong to backend sglang"]
    assert lm("sglang_llama3_1_8b", "lm.url=null", "+lm.dtype={cpu: float32, cuda: float32}") == expected
    expected = ["lm.pack has entries for ['cpu', 'cuda', 'tpu'], needs exactly cpu and cuda"]  # the two devices
    assert lm("smollm2", "+lm.pack.tpu=64") == expected


def test_what_a_kind_lacks_and_what_does_not_belong_to_it_is_said_at_once():
    rebel = option(CONF, "extractor", "rebel")
    own = {name: value for name, value in rebel.settings.items() if name != "model"} | {"beams": 0, "bach": 8}
    with pytest.raises(ConfigError) as caught:
        extraction.problems(replace(rebel, settings=own), "conf/extractor/rebel")
    assert str(caught.value).startswith("conf/extractor/rebel.yaml: 3 problems: ")
    for part in (
        "settings.bach; did you mean 'batch'?",
        "settings.model missing",
        "settings.beams is 0, allowed: [1, 64]",
    ):
        assert part in str(caught.value)
    with pytest.raises(ConfigError, match=r"conf/extractor/rebel\.yaml: .*'rebl' is unknown; did you mean 'rebel'"):
        extractor("rebel", "extractor.kind=rebl")


@pytest.mark.parametrize(
    ("problems", "name", "key", "url"),
    [
        *((lm, "vllm_qwen2_5_7b", "lm.url", url)
          for url in ("localhost:8000", "https://me:key@x", "https://x?key=k", "http://x/v1", "http://x/v1/")),
        *((extractor, "llm", "extractor.settings.url", url)
          for url in ("localhost:8000", "ftp://x/v1", "https://me:key@x/v1", "https://x/v1?key=k", "http://")),
    ],
)  # fmt: skip
def test_an_address_is_http_and_holds_no_key(problems, name, key, url):
    (problem,) = problems(name, f"{key}='{url}'")
    assert key in problem
    assert url not in problem


@pytest.mark.parametrize(
    ("name", "override", "expected"),
    [
        ("rebel", "+extractor.files=[a/b.csv]", "extractor.files is not read by rebel"),
        ("lightrag_medical", "extractor.shards=2", "extractor.shards is 2; an import needs 1"),
        *(("lightrag_medical", f"extractor.files={files}", "neither a .graphml and a .json")
          for files in ("[]", "[a.json, b.graphml]", "[a.graphml]", "[a.csv, b.csv]", "[a.txt]")),
        *(("lightrag_medical", f"extractor.files={files}", None)
          for files in ("[a/b.csv]", "[a/b.parquet]", "[a/b.graphml, a/b.json]")),
        *(("llm", f"extractor.settings.url='{url}'", None)
          for url in ("http://localhost:8000/v1", "https://host.example/a/v1/", "http://[::1]:8000/v1")),
    ],
)  # fmt: skip
def test_files_belong_to_an_import_which_is_one_job_and_every_form_of_an_address_is_taken(name, override, expected):
    found = extractor(name, override)
    assert len(found) == (expected is not None)
    assert all(expected in problem for problem in found)
