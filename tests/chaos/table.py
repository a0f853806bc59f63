"""What came of the trials: a row a fault, to be read and to be kept."""

from collections.abc import Iterable, Mapping

from .trial import REFUSED, RIGHT, WRONG, Trial

__all__ = ["printed", "rows"]

VERDICTS = (RIGHT, REFUSED, WRONG)


def rows(trials: Iterable[Trial], skipped: Mapping[str, str]) -> list[dict]:
    """By fault: how many stages, tries, kills, and tries of each verdict; of those that were skipped, why."""
    by_fault: dict[str, list[Trial]] = {}
    for trial in trials:
        by_fault.setdefault(trial.fault, []).append(trial)
    found = []
    for fault, own in by_fault.items():
        counts = {"stages": len({one.stage for one in own}), "tries": len(own), "kills": sum(one.kills for one in own)}
        came = {verdict: sum(one.verdict == verdict for one in own) for verdict in VERDICTS}
        found.append({"fault": fault} | counts | came)
    return found + [{"fault": fault, "skipped": why} for fault, why in skipped.items()]


def printed(found: list[dict]) -> str:
    """The rows as a table of Markdown, with their sums."""
    names = ("fault", "stages", "tries", "kills", *VERDICTS)
    done = [row for row in found if "skipped" not in row]
    total = {name: sum(row[name] for row in done) for name in names[2:]}
    lines = [names, ("---", *["---:"] * (len(names) - 1))]
    lines += [[row[name] for name in names] for row in done]
    lines += [["**all**", "", *total.values()]]
    skipped = [(row["fault"], f"skipped: {row['skipped']}") for row in found if "skipped" in row]
    lines += [[*both, *[""] * (len(names) - 2)] for both in skipped]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
