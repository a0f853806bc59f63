"""Lists orphaned outputs: what no experiment's results rest on, and what killed jobs left. Conservative: unknown files are kept."""

import time
from pathlib import Path

from secateur.core.artifacts import read_json
from secateur.stage.ledger import upstream

__all__ = ["orphaned", "size"]

HALF_MADE = (".*.tmp", ".*.tmp.xml", ".*.tmp.bin", ".*.part", ".making-*")
OWN = (
    "code",
    "config",
    "triples",
    "replies",
    "embeddings",
    "models",
    "statistics",
    "answer_gain",
    "pmi_q",
    "tokenizers",
    "answers",
    "policies",
    "peers",
    "peer_replies",
)  # of caches
KEPT = ("experiments", "ledger", "bench", "models", "raw", "peers")  # of results
AGE = 86_400  # seconds since a half-made file was last written: nothing runs as long between two writes


def size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size


def orphaned(results: Path, cache: Path) -> list[tuple[Path, str]]:
    """(path, why): half-made files a day old; folders of stages that no finished experiment rests on, of experiments that
    are finished. A folder with anything in it that one rests on, a peer's index, and what a copy of a record speaks of
    are never listed."""
    roots = [results, *(cache / name for name in OWN)]
    found = {path: "half-made by a job that was killed" for root in roots for path in _half_made(root)}
    records = [record for record in map(_record, results.rglob("run.json")) if record]
    home = f"{results}/experiments/"
    wanted = [path for record in records for path in record["outputs"].values() if path.startswith(home)]
    used = {path for record in upstream(records, wanted) for path in record["outputs"].values()}
    for record in records:
        folder = Path(next(iter(record["outputs"].values()), home)).parent
        done = (results / "experiments" / str(record.get("experiment")) / "run.json").exists()
        inside = any(path.startswith(f"{folder}/") for path in used)
        kept = folder.parts[len(results.parts)] in KEPT or "peers" in folder.parts
        if done and not inside and not kept:
            found[folder] = f"of {record['stage']}, which no experiment's tables come from"
    return sorted((path, why) for path, why in found.items() if not any(parent in found for parent in path.parents))


def _record(path: Path) -> dict | None:
    """A stage's record; None for a copy that somebody made, which speaks of another place."""
    record = read_json(path)
    return record if any(Path(one).parent == path.parent for one in record["outputs"].values()) else None


def _half_made(root: Path) -> list[Path]:
    old = time.time() - AGE
    found = [path for pattern in HALF_MADE for path in root.rglob(pattern)] if root.exists() else []
    return [path for path in found if path.stat().st_mtime < old]
