"""What no experiment's results rest on, and what killed jobs left behind."""

from pathlib import Path

from secateur.pipeline.ledger import records, upstream

__all__ = ["left", "size"]

HALF_MADE = (".*.tmp", "*.tmp", "*.part", ".converting-*")
KEPT = ("experiments", "ledger", "bench", "models", "raw", "peers")  # of results: never by a stage's record alone


def size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size


def left(results: Path, cache: Path) -> list[tuple[Path, str]]:
    """(path, why) of files half-made, and of folders of stages that no experiment's tables come from."""
    found = [(path, "half-made by a job that was killed") for root in (results, cache) for path in _half_made(root)]
    known = records(results) if results.exists() else []
    wanted = [
        path for record in known for path in record["outputs"].values() if path.startswith(f"{results}/experiments/")
    ]
    used = {id(record) for record in upstream(known, wanted)}
    for record in known:
        folders = {Path(path).parent for path in record["outputs"].values()}
        own = [folder for folder in folders if folder.parts[len(results.parts)] not in KEPT]
        if id(record) not in used and not record["failure"] and own:
            found.append((own[0], f"of {record['stage']}, which no experiment's tables come from"))
    return sorted(dict(found).items())


def _half_made(root: Path) -> list[Path]:
    return [path for pattern in HALF_MADE for path in root.rglob(pattern)] if root.exists() else []
