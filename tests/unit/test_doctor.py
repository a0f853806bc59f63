"""What an experiment needs and this machine lacks: models, a GPU, a key, a server, files."""

import socket
from pathlib import Path

import pytest

from secateur.commands import doctor

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)
    for name in ("SECATEUR_API_KEY", "OPENAI_API_KEY", "SECATEUR_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(doctor, "cached", lambda name: name.startswith("Babelscape"))


def checked(experiment: str, *overrides: str) -> list[doctor.Check]:
    return list(doctor.checks_of(experiment, overrides))


def texts(checks: list[doctor.Check], name: str, passed: bool) -> str:
    return "\n".join(text for check, passes, text in checks if check == name and passes == passed)


def test_models_and_the_key_that_are_missing_are_named_with_the_fix(monkeypatch):
    assert all(passed for _, passed, _ in checked("quickstart"))  # the shipped experiment lacks nothing
    found = checked("apr_table1")
    lacking = "BAAI/bge-large-en-v1.5 not in the local cache. Fix: hf download BAAI/bge-large"
    assert lacking in texts(found, "model", False)
    assert "Babelscape/rebel-large is in the local cache" in texts(found, "model", True)
    assert texts(found, "key", False).startswith("for https://api.openai.com/v1: none. Fix: export SECATEUR_API_KEY or")
    assert "medical_corpus.json: will be fetched from raw.githubusercontent.com" in texts(found, "file", True)
    assert "hipporag2" in texts(found, "peer", True)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    again = checked("apr_table1")
    assert not texts(again, "key", False)
    assert "sk-planted" not in str(again)


@pytest.mark.parametrize(
    ("memory", "passed", "message"), [(None, False, "none here"), (16, False, "has 16 GB"), (80, True, "has 80 GB")]
)
def test_a_gpu_must_hold_the_reader(monkeypatch, memory, passed, message):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: memory is not None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "A GPU")
    size = type("Properties", (), {"total_memory": (memory or 0) * 1e9})
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: size)
    found = checked("ecs_table1", "experiment.axes.reader=[qwen2_5_7b]")
    assert message in texts(found, "gpu", passed)
    assert "needs 24 GB" in texts(found, "gpu", passed)


def test_a_file_that_cannot_be_fetched_is_named_before_the_run(tmp_path, monkeypatch):
    assert "longmemeval_s.json: no checksum is registered" in texts(checked("ecs_table1_longmemeval"), "file", False)
    assert "stem_question_dev.json: has no address" in texts(checked("stem_dev"), "file", False)
    (tmp_path / "stem_question_dev.json.gz").touch()
    monkeypatch.setenv("SECATEUR_MIRROR", str(tmp_path))
    assert "stem_question_dev.json: in " in texts(checked("stem_dev"), "file", True)


def test_a_local_endpoint_must_have_a_server():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        asked = ("experiment.datasets=[toy_documents]", "experiment.judges=[endpoint]", f"judge.url={url}")
        assert f"{url}: a server listens" in texts(checked("answers", *asked), "endpoint", True)
    assert "no server (Connection refused). Fix: start it" in texts(checked("answers", *asked), "endpoint", False)


@pytest.mark.parametrize(("build", "message"), [(None, "a build for CPUs"), ("13.0", "built for CUDA 13.0")])
def test_a_driver_whose_gpu_pytorch_does_not_see_is_named_with_the_build(monkeypatch, build, message):
    import torch

    monkeypatch.setattr(torch.version, "cuda", build)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    name, passed, text = doctor._works_on_gpu()
    assert (name, passed) == ("gpu", False)
    assert message in text and "Fix: envs/gpu.yaml" in text


@pytest.mark.parametrize(("missing", "passed"), [(("faiss-cpu",), True), (("faiss-gpu",), True), (doctor.INDEX, False)])
def test_either_build_of_faiss_will_do(monkeypatch, missing, passed):
    def version(name: str) -> str:
        if name in missing:
            raise doctor.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(doctor, "version", version)
    assert doctor._packages()[1] is passed
