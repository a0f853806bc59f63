"""A crate as a file or a folder: whole or not at all, the same bytes for the same content."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from secateur.core.artifacts import atomic
from secateur.core.errors import SecateurError

__all__ = ["pack"]

EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say: when it was packed is nobody's business
MODE = 0o644 << 16


def pack(contents: Mapping[str, bytes], out: Path) -> None:
    """Write files by path into `out`: a zip where its name ends so, else a folder.

    Raises SecateurError for a folder that is there with something in it: what somebody keeps there is theirs.
    """
    if out.suffix == ".zip":
        with atomic(out) as temporary, ZipFile(temporary, "w") as archive:
            for name, content in sorted(contents.items()):
                entry = ZipInfo(name, EPOCH)
                entry.compress_type, entry.external_attr = ZIP_DEFLATED, MODE
                archive.writestr(entry, content, compresslevel=9)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SecateurError(f"{out}: is there already. Fix: remove it, or name another folder, or a FILE.zip.")
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=out.parent))
    try:
        for name, content in contents.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(content)
        temporary.chmod(0o755)
        temporary.replace(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
