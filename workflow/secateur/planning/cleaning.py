"""What `secateur clean` deletes: outputs that no experiment uses, partial files of killed jobs, cache entries no longer read.

Unknown files are kept.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from secateur.core.artifacts import read_json
from secateur.core.layout import SHARED
from secateur.stage.ledger import record_at
from secateur.stage.lineage import upstream

__all__ = ["orphaned", "size", "unread"]

PARTIAL = (".*.tmp", ".*.tmp.xml", ".*.tmp.bin", ".*.part", ".making-*")
COMPUTED = (  # folders of the cache whose entries this machine can make again
    *("code", "config", "triples", "embeddings", "models", "statistics", "answer_gain", "pmi_q", "tokenizers"),
    *("policies", "peers", "self_information", "checked", "files", "weights"),
)
REPLIES = ("replies", "answers", "peer_replies")  # an endpoint's would cost money again, and may differ
WHOLE = ("models", "peers")  # folders of the cache whose subfolders are of use only as a whole
DAY = 86_400  # seconds without a write after which a partial file counts as abandoned


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; 0 if there is none."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def orphaned(root: Path, cache: Path) -> list[tuple[Path, str]]:
    """Lists partial files older than a day, and stage folders of finished experiments that no finished experiment uses.

    A record of failure is one too where its experiment has finished since.

    root: of a project, to which the paths in its records are relative. Returns (path, reason) pairs.
    Never listed: folders that contain a used output, indexes of peers, copies of results.
    """
    results = root / "results"
    searched = [results, *(cache / name for name in (*COMPUTED, *REPLIES))]
    orphans = {path: "partial file of a killed job" for folder in searched for path in _partial(folder)}
    records = [record for record in map(record_at, results.rglob("run.json")) if record and record["outputs"]]
    for path in results.rglob("failure.json"):
        record = record_at(path)
        if record and not path.with_name("run.json").exists() and _finished_since(results, record):
            orphans[path] = (
                f"record of a failed {record['stage']}; {record['experiment']} has finished since without it"
            )
    home = "results/experiments/"
    tables = [path for record in records for path in record["outputs"].values() if path.startswith(home)]
    used = {path for record in upstream(records, tables) for path in record["outputs"].values()}
    for record in records:
        folder = Path(next(iter(record["outputs"].values()))).parent
        finished = (results / "experiments" / str(record.get("experiment")) / "run.json").exists()
        is_used = any(path.startswith(f"{folder}/") for path in used)
        is_kept = folder.parts[1] in SHARED or "peers" in folder.parts
        if finished and not is_used and not is_kept:
            orphans[root / folder] = f"output of {record['stage']}; no experiment uses it"
    return sorted((path, why) for path, why in orphans.items() if not any(parent in orphans for parent in path.parents))


def unread(cache: Path, days: float) -> dict[str, list[Path]]:
    """Cache entries by folder of the cache that were neither read nor written for so many days; replies are never listed.

    Reading leaves a mark at most once a day, and none on a file system mounted with `noatime`.
    """
    last = time.time() - max(days, 1) * DAY
    entries: dict[str, list[Path]] = {}
    for name in COMPUTED:
        paths = (cache / name).glob("*") if name in WHOLE else (cache / name).rglob("*")
        entries[name] = sorted(path for path in paths if (name in WHOLE or path.is_file()) and _used(path) < last)
    return {name: paths for name, paths in entries.items() if paths}


def _used(path: Path) -> float:
    """When a file, or one of a folder, was last read or written, in seconds since 1970."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return max((max(file.stat().st_atime, file.stat().st_mtime) for file in files), default=path.stat().st_mtime)


def _finished_since(results: Path, failure: dict) -> bool:
    """Whether a failed job's experiment has finished after it."""
    path = results / "experiments" / str(failure.get("experiment")) / "run.json"
    return path.exists() and read_json(path)["finished"] > failure["finished"]


def _partial(root: Path) -> Iterator[Path]:
    """Partial files older than a day."""
    for pattern in PARTIAL:
        yield from (path for path in root.rglob(pattern) if path.stat().st_mtime < time.time() - DAY)
