"""Whether results are current, by the records of stages alone.

Snakemake stores the params of a failed job as those of a finished one and deletes its output, so its metadata would call
files of earlier settings current. A job is current if its record states the planned settings and code, the content of its
inputs, and the content of its outputs.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from secateur.core.artifacts import known_digest
from secateur.core.redaction import without_secrets

__all__ = ["Change", "change", "patch"]

Change = tuple[set[str], set[str]]  # `key=value` before, and now


def change(job: Any, files: Path) -> Change:
    """The settings in which a job differs from its record; under the key `record`, what is wrong with its files.

    job: a Job of the contract. files: folder in which digests of files are kept.
    """
    record = _record(job.record)
    if record is None:
        return set(), {f"record={job.record}: no record"}
    planned = _settings({path: json.loads(text) for path, text in job.leaves.items()}, job.code)
    recorded = _settings(record["config"], record["code"])
    wrong = {f"record={text}" for text in islice(_wrong(job, record, files), 1)}
    return recorded - planned, planned - recorded | wrong


def _settings(config: Mapping[str, Any], code: str) -> set[str]:
    """`key=value` of each setting, without secrets, as in a record; and the digest of the code."""
    values = without_secrets(config)
    leaves = {f"{key}={json.dumps(value, sort_keys=True, separators=(',', ':'))}" for key, value in values.items()}
    return {*leaves, f"code={code}"}


def _record(path: Path) -> dict[str, Any] | None:
    """A stage's record; None where it is missing or damaged."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return None
    return _parsed(path, changed)


@cache
def _parsed(path: Path, changed: int) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return record if isinstance(record, dict) and {"config", "code", "inputs", "written"} <= record.keys() else None


def _wrong(job: Any, record: Mapping[str, Any], files: Path) -> Iterator[str]:
    """What is wrong with the outputs and inputs of a job; a missing file is not if a stage can make it again."""
    recorded = job.record.stat().st_ctime_ns  # a record is written after the outputs
    for path in filter(Path.is_file, job.outputs.values()):
        if path.stat().st_ctime_ns > recorded and known_digest([path], files) != record["written"].get(str(path)):
            yield f"{path}: differs from its record"
    inputs = [path for paths in job.inputs.values() for path in paths]
    for path in record["inputs"].keys() - set(map(str, inputs)):
        yield f"{path}: no longer read"
    for path in inputs:
        content = _content(path, files)
        if content is None:
            yield f"{path}: missing"
        elif content and content != record["inputs"].get(str(path)):
            yield f"{path}: changed since, or not read then"


def _content(path: Path, files: Path) -> str | None:
    """Digest of an input: what its stage wrote, else of the file; "" of a folder, None if it is missing."""
    maker = _record(path.with_name("run.json")) or {}
    if written := maker.get("written", {}).get(str(path)):
        return written
    return known_digest([path], files) if path.is_file() else "" if path.exists() else None


def patch(files: Path, begins: Callable[[], None]) -> None:
    """Makes Snakemake ask records, not its metadata, which jobs are current. files: as of `change`.

    begins: called once a run holds its lock, even if it has no jobs; `onstart` is not called then.
    """
    from snakemake.persistence import ParamsChange, PersistenceBase

    from secateur.stage.contract import job_of

    def params_changed(_: Any, job: Any, file: Any = None) -> ParamsChange:
        if job.rule.norun:
            return ParamsChange()
        before, now = change(job_of(job.rule.name, job), files)
        return ParamsChange(*({repr(text) for text in side} for side in (before, now)), files=set(map(str, job.output)))

    def input_checksums(_: Any, job: Any, path: Any) -> set[str | None]:
        read = (_record(Path(job.output.record)) or {}).get("inputs", {})
        return {f"sha256:{read[path]}" if path in read else None}

    lock = PersistenceBase.lock

    @contextmanager
    def locked(persistence: Any) -> Iterator[None]:
        with lock(persistence):
            begins()
            yield

    PersistenceBase.lock = locked
    PersistenceBase.has_metadata = lambda *_: True
    PersistenceBase.has_outdated_metadata = lambda *_: False
    PersistenceBase.input_changed = lambda _, job, file=None: () if file is None else False
    PersistenceBase.params_changed = params_changed
    PersistenceBase.input_checksums = input_checksums
