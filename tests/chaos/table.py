"""What came of the trials: a row a fault, to be read and to be kept."""

from collections.abc import Iterable, Mapping

from .trial import OLD, REFUSED, RIGHT, WRONG, Trial

__all__ = ["by_rule", "printed", "rows"]

VERDICTS = (RIGHT, REFUSED, WRONG)


def rows(trials: Iterable[Trial], skipped: Mapping[str, str]) -> list[dict]:
    """By fault: how many stages, tries, kills, and tries of each verdict; of those that were skipped, why."""
    by_fault: dict[str, list[Trial]] = {}
    for trial in trials:
        by_fault.setdefault(trial.fault, []).append(trial)
    found = [
        {
            "fault": fault,
            "stages": len({one.stage for one in own}),
            "tries": len(own),
            "kills": sum(t.kills for t in own),
        }
        | {verdict: sum(one.verdict == verdict for one in own) for verdict in VERDICTS}
        for fault, own in by_fault.items()
    ]
    return found + [{"fault": fault, "skipped": why} for fault, why in skipped.items()]


def by_rule(trials: Iterable[Trial], faults: Iterable[str]) -> str:
    """Trials of some faults by rule, as a table of Markdown, and in how many of them an old figure was printed."""
    asked = [trial for trial in trials if trial.fault in set(faults)]
    lines = ["| rule | tries | wrong |", "| --- | ---: | ---: |"]
    for rule in sorted({trial.stage for trial in asked}):
        own = [trial for trial in asked if trial.stage == rule]
        lines.append(f"| {rule} | {len(own)} | {sum(trial.verdict == WRONG for trial in own)} |")
    old = sum(OLD in trial.why for trial in asked)
    return "\n".join([*lines, "", f"An old figure was printed in {old} of {len(asked)} trials."])


def printed(found: list[dict]) -> str:
    """The rows as a table of Markdown, with their sums."""
    names = ("fault", "stages", "tries", "kills", *VERDICTS)
    done = [row for row in found if "skipped" not in row]
    total = {name: sum(row[name] for row in done) for name in names[2:]}
    lines = [names, ("---", *["---:"] * (len(names) - 1))]
    lines += [[row[name] for name in names] for row in done]
    lines += [["**all**", "", *total.values()]]
    lines += [
        [row["fault"], f"skipped: {row['skipped']}", *[""] * (len(names) - 2)] for row in found if "skipped" in row
    ]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
