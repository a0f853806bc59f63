"""What a model takes of a GPU's memory, and what does not fit."""

import pytest
import torch
from safetensors.torch import save_file

from secateur.core.errors import SecateurError
from secateur.models import kernels
from secateur.models.size import fitting_pack, parameters, refuse_too_large

GB = 10**9


def test_parameters_are_counted_over_all_files_of_a_folder(tmp_path):
    weights = {"a": torch.zeros(3, 5), "b": torch.zeros(7)}
    save_file(weights, tmp_path / "model-1.safetensors", metadata={"format": "pt"})
    save_file({"c": torch.zeros(2, 2, dtype=torch.float16)}, tmp_path / "model-2.safetensors")
    assert parameters(str(tmp_path)) == 15 + 7 + 4
    assert parameters("nobody/no-such-model") is parameters("/no/folder") is None


def test_what_fits_is_loaded_and_an_unknown_size_is_not_refused():
    refuse_too_large("m", 7_600_000_000, "float16", 24 * GB, 24 * GB)
    refuse_too_large("m", None, "float32", GB, GB)


TOO_LARGE = r"need 30.4 GB in float32; of this GPU's 24.0 GB, 24.0 are free.*at least 38 GB free.*at most 4.8 billion"


@pytest.mark.parametrize(
    ("dtype", "free", "said"),
    [("float32", 24 * GB, TOO_LARGE), ("float16", 9 * GB, "Other programs use the rest: run one job on this GPU")],
)
def test_what_does_not_fit_is_refused_with_what_would(dtype, free, said):
    with pytest.raises(SecateurError, match=said):
        refuse_too_large("Qwen/Qwen2.5-7B", 7_600_000_000, dtype, free, 24 * GB)


def test_a_small_card_reads_fewer_tokens_at_once_and_a_large_one_no_more_than_asked():
    sizes = [fitting_pack(8192, 152_064, "bfloat16", beside * GB) for beside in (1, 4, 8, 64)]
    assert sizes == sorted(sizes) and sizes[0] >= 256 and sizes[-1] == 8192
    assert all(size % 256 == 0 for size in sizes)


@pytest.mark.parametrize(
    ("driver", "build", "visible", "expected"),
    [
        (True, "2.13.0", None, True),
        (True, "2.13.0", "", False),
        (True, "2.13.0+cpu", None, False),
        (False, "2.13.0", None, False),
    ],
)
def test_a_driver_without_a_gpu_is_no_reason_to_read_for_days_on_a_cpu(
    monkeypatch, caplog, driver, build, visible, expected
):
    monkeypatch.setattr(kernels.shutil, "which", lambda name: "/usr/bin/nvidia-smi" if driver else None)
    monkeypatch.setattr(kernels, "version", lambda name: build)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    if not expected:
        assert kernels.usable("cuda") == kernels.usable("cpu") == "cpu"
        assert ("build for CPUs" in caplog.text) == build.endswith("+cpu")
        return
    with pytest.raises(SecateurError, match="sees no GPU"):
        kernels.usable("cuda")
