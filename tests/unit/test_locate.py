"""Models in folders, in packages, and in a zip file that packages hold in pieces."""

import sysconfig
import zipfile
from pathlib import Path

import pytest

from secateur.core.errors import SecateurError
from secateur.models import locate as located
from secateur.models.locate import locate

ADDRESS = "zipped:model-part_*/input/model.zip.*"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Three packages with a third of a zip file each."""
    packages, whole = tmp_path / "packages", tmp_path / "model.zip"
    with zipfile.ZipFile(whole, "w") as packed:
        packed.writestr("model/config.json", "{}")
        packed.writestr("model/1_Pooling/config.json", "{}")
        packed.writestr("model/weights", "w" * 1000)
    data = whole.read_bytes()
    third = len(data) // 3 + 1
    for n in range(3):
        piece = packages / f"model-part_{n}" / "input" / f"model.zip.{n}"
        piece.parent.mkdir(parents=True)
        piece.write_bytes(data[n * third : (n + 1) * third])
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(packages))
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    return packages


def test_pieces_of_a_zip_file_are_joined_and_unpacked_once(installed, monkeypatch):
    folder = Path(locate(ADDRESS))
    assert (folder / "weights").read_text() == "w" * 1000
    assert folder.name == "model"
    monkeypatch.setattr(located, "_unpack", None)
    assert Path(locate(ADDRESS)) == folder
    assert locate("nobody/no-such-model") == "nobody/no-such-model"  # another address is left as it is


def test_a_missing_piece_is_named_and_leaves_nothing(installed, tmp_path):
    (installed / "model-part_2" / "input" / "model.zip.2").unlink()
    with pytest.raises(SecateurError, match=r"model\.zip\.0, model\.zip\.1 form no zip file .*install all"):
        locate(ADDRESS)
    assert list((tmp_path / "cache" / "models").iterdir()) == []
    with pytest.raises(SecateurError, match="in no installed package"):
        locate("zipped:other_*/x.zip.*")
