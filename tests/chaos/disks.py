"""Disks that are full, in the mounts of one process alone: they go with it; and rights that bind root."""

import ctypes
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["full", "may_mount", "without_rights"]

NEWNS, BIND, REC, PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000  # linux/mount.h, linux/sched.h
PAGE = 4096  # what a file of a tmpfs takes at least
OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: why rights bind everybody but root
CAPABILITIES = 0x20080522  # version 3 of their header


@cache
def may_mount() -> bool:
    child = os.fork()
    if child == 0:
        try:
            _own_mounts()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _call(name: str, *args: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _call("mount", source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), data.encode())


def _own_mounts() -> None:
    _call("unshare", NEWNS)
    _mount("none", "/", None, REC | PRIVATE)


def full(folder: Path, room: int) -> None:
    """A folder stands on a disk of its own that has so many bytes left."""
    _own_mounts()
    disk = Path(tempfile.mkdtemp())
    held = [path for path in folder.rglob("*") if not path.is_dir()] if folder.exists() else []
    size = sum(-(-path.lstat().st_size // PAGE) * PAGE for path in held) + PAGE + room // PAGE * PAGE
    folder.mkdir(parents=True, exist_ok=True)
    _mount("tmpfs", str(disk), "tmpfs", 0, f"size={size}")
    disk.joinpath(".filler").write_bytes(bytes(PAGE))  # a size of 0 would be none at all
    shutil.copytree(folder, disk, symlinks=True, dirs_exist_ok=True)
    _mount(str(disk), str(folder), None, BIND)


def without_rights() -> None:
    """Rights of files bind this process, root's too."""
    if os.geteuid() == 0:
        header, data = (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
        _call("capget", header, data)
        data[0] &= ~OVERRIDE
        _call("capset", header, data)
