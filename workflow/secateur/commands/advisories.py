"""The command that asks what is known to be wrong with the locked versions."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Option

from secateur.commands.shared import aligned
from secateur.core.errors import SecateurError

__all__ = ["advisories"]

KEPT = Path("data/advisories.yaml")
OSV = "https://api.osv.dev"


def advisories(
    service: Annotated[str, Option(metavar="URL", help="OSV, or what answers as it does")] = OSV,
    write: Annotated[bool, Option("--keep", help="write what it says to data/advisories.yaml")] = False,
) -> None:
    """What is publicly known to be wrong with the locked versions. Exit code 1 where there is something, 2 where nobody
    could be asked: then the last answer is shown, with its day."""
    from secateur.report.advisories import Unreached, asked, keep, locked

    versions = locked(Path.cwd())
    try:
        found = asked(service, versions)
    except Unreached as why:
        raise SecateurError(
            f"{service}: not reached ({why}). {_last(versions)} "
            "Fix: run it again where that address is reached, or name one that answers alike by --service."
        ) from why
    if write:
        keep(KEPT, datetime.now(UTC).date().isoformat(), versions, found)
        print(KEPT)
    print(f"{service}: {len(found)} advisories on {len(versions)} locked versions")
    if found:
        print(_table(found, versions))
        raise SystemExit(1)


def _last(versions) -> str:
    """What is said of the last answer, its rows printed."""
    from secateur.report.advisories import kept, of_these

    last = kept(KEPT)
    if last.asked is None:
        return f"{KEPT} has no earlier answer either: nothing is known, which is not to say that there is nothing."
    found, same = of_these(last, versions)
    if found:
        print(_table(found, versions))
    whose = "of these versions" if same else "before some versions changed; of those that are locked still"
    return f"{KEPT} is what it said on {last.asked}, {whose}: {len(found)} advisories."


def _table(found, versions) -> str:
    rows = [
        {
            "package": f"{one.package} {one.version}",
            "advisory": " ".join((one.id, *one.aliases)),
            "fixed in": ", ".join(one.fixed) or "-",
            "locked in": ", ".join(versions[one.package, one.version]),
            "what": one.summary,
        }
        for one in found
    ]
    return aligned(rows)
