"""Files that appear whole or not at all."""

import errno

import pytest

from secateur.core.artifacts import (
    abandoned,
    atomic,
    made_once,
    naming,
    read_json,
    remade,
    seal,
    unsealed,
    whole,
    write_text,
)
from secateur.core.errors import SecateurError


def test_a_file_appears_with_its_folders_and_a_reader_of_the_old_one_never_sees_half_of_it(tmp_path):
    path = tmp_path / "a" / "b.txt"
    write_text(path, "ä\n")
    with path.open(encoding="utf-8") as reader:
        write_text(path, "new and longer")
        assert reader.read() == "ä\n"
    assert path.read_text() == "new and longer"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("lasting", [True, False])
def test_a_file_has_its_name_when_the_disk_has_it_unless_it_need_not_last(tmp_path, monkeypatch, lasting):
    waits, path = [], tmp_path / "a.txt"
    monkeypatch.setattr("os.fsync", lambda stream: waits.append(path.exists()))
    with atomic(path, **({} if lasting else {"lasting": False})) as temporary:
        temporary.write_text("whole")
    assert (waits, path.read_text()) == ([False] * lasting, "whole")


def test_a_failure_leaves_the_old_file_and_no_rest(tmp_path):
    path = tmp_path / "x.txt"
    write_text(path, "old")

    def fail():
        with atomic(path) as temporary:
            temporary.write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_found_and_another_files_is_not(tmp_path):
    mine = {".x.txt.1a2b.tmp", "..x.txt.1a2b.tmp.3c4d.tmp", "..x.txt.1a2b.tmp.part"}
    for name in mine | {"x.txt", ".y.x.txt.1a2b.tmp", ".x.txtual.1a2b.tmp", ".x.txt.whole"}:
        (tmp_path / name).touch()
    assert {path.name for path in abandoned(tmp_path / "x.txt")} == mine
    assert abandoned(tmp_path / "no such folder" / "x.txt") == []


def test_a_write_without_room_says_which_file_it_was_of(tmp_path):
    path = tmp_path / "x.txt"
    with pytest.raises(OSError, match=r"x\.txt") as full, atomic(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.filename == str(path)
    with pytest.raises(OSError, match=r"other\.txt"), naming(path):
        raise OSError(errno.ENOSPC, "No space left on device", "other.txt")
    with pytest.raises(TimeoutError) as late, naming(path):
        raise TimeoutError("of a network")
    assert late.value.filename is None


def test_json_that_is_damaged_is_named(tmp_path):
    (tmp_path / "run.json").write_text('{"stage": "x", ')
    with pytest.raises(SecateurError, match=r"run\.json: damaged .* Fix: remove it and run again"):
        read_json(tmp_path / "run.json")


def test_what_is_damaged_or_absent_is_made_anew_and_what_is_whole_is_not(tmp_path, caplog):
    path, made = tmp_path / "x.json", []

    def make(where):
        made.append(where)
        where.write_text("1")

    assert [remade(path, lambda one: int(one.read_text()), make) for _ in range(2)] == [1, 1]
    path.write_text("one")
    assert remade(path, lambda one: int(one.read_text()), make) == 1
    assert len(made) == 2
    assert f"{path}: damaged (ValueError" in caplog.text


def test_what_was_changed_under_a_seal_is_named_and_refused(tmp_path):
    one, other, sealed = tmp_path / "a.bin", tmp_path / "b.bin", tmp_path / "seal.json"
    one.write_bytes(b"weights")
    other.write_bytes(b"tokens")
    with pytest.raises(ValueError, match=r"seal\.json"):
        whole(one, sealed)
    seal(sealed, [one, other])
    assert whole(one, sealed) == one
    other.write_bytes(b"tokenr")
    assert unsealed(sealed) == ["b.bin"]
    with pytest.raises(ValueError, match=r"b\.bin: differs from its seal"):
        whole(one, sealed)
    one.unlink()
    assert unsealed(sealed) == ["a.bin", "b.bin"]


def test_a_disk_that_became_read_only_is_told_of_once(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.unlink", refused)
    with pytest.raises(OSError, match="the first") as error, atomic(tmp_path / "x.txt"):
        raise OSError(errno.EROFS, "the first")
    assert error.value.strerror == "the first"


def test_a_folder_that_is_made_once_may_be_read_by_others(tmp_path):
    folder = made_once(tmp_path / "model", lambda where: (where / "a").touch())
    (tmp_path / "usual").mkdir()
    assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode
