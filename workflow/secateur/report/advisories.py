"""What is publicly known to be wrong with the locked versions: asked of OSV (https://google.github.io/osv.dev/api/), which
holds the advisories of PyPI and GitHub; a list of the last answer stands in for it where it is not reached."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from secateur.core.artifacts import write_text
from secateur.core.cache import digest
from secateur.core.errors import SecateurError

__all__ = ["Advisory", "Kept", "Unreached", "asked", "keep", "kept", "locked", "of_these"]

LOCKS = ("requirements/lock*.txt", "requirements/models.txt", "envs/peers/*.txt")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;#\\]+)", re.M)
MOST = 1000  # queries in one request, as OSV allows
TIMEOUT = 20.0  # seconds
HEAD = """\
# What OSV said of the locked versions, for where it is not reached; `secateur advisories --keep` writes this file.
# asked: null: it was never reached, so nothing is known, which is not to say that there is nothing.
"""
Version = tuple[str, str]


class Unreached(Exception):
    """The service did not answer, or with something else."""


@dataclass(frozen=True)
class Advisory:
    """One advisory on one version: other names of it, and the versions that mend it."""

    package: str
    version: str
    id: str
    aliases: tuple[str, ...]
    fixed: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Kept:
    """The last answer: its day (None: there was none yet), the versions that it was of, what it was."""

    asked: str | None
    versions: str | None
    found: tuple[Advisory, ...]


def locked(root: Path) -> dict[Version, list[str]]:
    """Every locked (package, version) with the files that lock it, sorted. Raises SecateurError where there is none."""
    found: dict[Version, list[str]] = {}
    for path in sorted(path for pattern in LOCKS for path in root.glob(pattern)):
        for name, version in PINNED.findall(path.read_text(encoding="utf-8")):
            files = found.setdefault((_same(name), version), [])
            files.append(str(path.relative_to(root)))
    if not found:
        raise SecateurError(f"{root}: no locked versions here. Fix: run it in the root of a clone.")
    return dict(sorted(found.items()))


def _same(name: str) -> str:
    """A package's name in the one form of its many (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked(service: str, versions: Iterable[Version]) -> list[Advisory]:
    """What a service of OSV's form says of them. Raises Unreached."""
    import httpx

    every = list(versions)
    try:
        with httpx.Client(base_url=service, timeout=TIMEOUT) as client:
            named = [pair for n in range(0, len(every), MOST) for pair in _ids(client, every[n : n + MOST])]
            told = {one: _json(client.get(f"/v1/vulns/{one}")) for one in sorted({one for _, one in named})}
            return [_advisory(*version, told[one]) for version, one in sorted(set(named))]
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unreached(f"{type(error).__name__}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreached(f"an answer that is not OSV's ({type(error).__name__}: {error})") from error


def _json(response: Any) -> Any:
    response.raise_for_status()
    return response.json()


def _ids(client: Any, versions: Sequence[Version]) -> Iterator[tuple[Version, str]]:
    """(version, advisory); what does not fit on a page of the answer is asked for again, where that ended."""
    waiting: list[tuple[Version, dict[str, str]]] = [(version, {}) for version in versions]
    while waiting:
        queries = [
            {"package": {"name": name, "ecosystem": "PyPI"}, "version": version} | page
            for (name, version), page in waiting
        ]
        results = _json(client.post("/v1/querybatch", json={"queries": queries}))["results"]
        again = []
        for (version, _), result in zip(waiting, results, strict=True):
            yield from ((version, one["id"]) for one in (result or {}).get("vulns") or ())
            if token := (result or {}).get("next_page_token"):
                again.append((version, {"page_token": token}))
        waiting = again


def _advisory(package: str, version: str, told: dict[str, Any]) -> Advisory:
    ranges = [
        span
        for one in told.get("affected") or ()
        if _same((one.get("package") or {}).get("name", "")) == package
        for span in one.get("ranges") or ()
        if span.get("type") == "ECOSYSTEM"
    ]
    fixed = [event["fixed"] for span in ranges for event in span.get("events") or () if "fixed" in event]
    return Advisory(
        package=package,
        version=version,
        id=told["id"],
        aliases=tuple(sorted(told.get("aliases") or ())),
        fixed=tuple(dict.fromkeys(fixed)),
        summary=" ".join((told.get("summary") or told.get("details") or "").split())[:200],
    )


# --- the last answer -------------------------------------------------------------------------------


def keep(path: Path, day: str, versions: Iterable[Version], found: Iterable[Advisory]) -> None:
    """Write an answer, for where there is none."""
    import yaml

    rows = [{name: list(v) if isinstance(v, tuple) else v for name, v in asdict(one).items()} for one in found]
    content = {"asked": day, "versions": _digest(versions), "found": rows}
    write_text(path, HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))


def kept(path: Path) -> Kept:
    """The last answer. Raises SecateurError for a file that is none."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        rows = [row | {"aliases": tuple(row["aliases"]), "fixed": tuple(row["fixed"])} for row in content["found"]]
        day = None if content["asked"] is None else str(content["asked"])
        return Kept(day, content["versions"], tuple(Advisory(**row) for row in rows))
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise SecateurError(
            f"{path}: is no list of advisories ({type(error).__name__}: {error}). Fix: git checkout -- {path}"
        ) from error


def of_these(last: Kept, versions: Iterable[Version]) -> tuple[list[Advisory], bool]:
    """What of the last answer is about versions that are locked now, and whether it was of just these."""
    now = set(versions)
    return [one for one in last.found if (one.package, one.version) in now], last.versions == _digest(now)


def _digest(versions: Iterable[Version]) -> str:
    return digest(sorted(versions))
