"""What every benchmark shares: interleaved timing in one run, the printed table, the JSON file."""

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Figure", "cpu_seconds", "publish"]

RESULTS = Path(__file__).resolve().parent.parent / "results" / "bench"


@dataclass(frozen=True)
class Figure:
    """A figure beside its anchor, both in one unit; without an anchor the ratio is the figure.

    Without a goal it is reported only.
    """

    name: str
    figure: float
    unit: str
    anchor_name: str | None
    anchor: float | None
    goal: float | None
    direction: str | None  # "<=" or ">="

    def row(self) -> dict:
        """The published form."""
        ratio = self.figure / self.anchor if self.anchor else self.figure
        holds = None
        if self.goal is not None:
            holds = ratio <= self.goal if self.direction == "<=" else ratio >= self.goal
        machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, one thread"
        order = ("name", "figure", "unit", "anchor_name", "anchor")
        base = {key: getattr(self, key) for key in order}
        return base | {
            "ratio": ratio,
            "goal": self.goal,
            "direction": self.direction,
            "holds": holds,
            "machine": machine,
        }


def cpu_seconds(*calls: Callable[[], object], repeats: int = 5) -> list[float]:
    """Median CPU seconds of each call; the calls take turns, so that a drifting machine hits all alike."""
    taken = [[] for _ in calls]
    for _ in range(repeats):
        for call, times in zip(calls, taken, strict=True):
            started = time.process_time()
            call()
            times.append(time.process_time() - started)
    return [sorted(times)[len(times) // 2] for times in taken]


def publish(name: str, figures: list[Figure]) -> None:
    """Print the table and write results/bench/NAME.json."""
    rows = [figure.row() for figure in figures]
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for r in rows:
        anchor = f" against {r['anchor']:.4g} ({r['anchor_name']})" if r["anchor"] is not None else ""
        print(f"{r['name']}: {r['figure']:.4g} {r['unit']}{anchor}{_verdict(r)}")
    print(RESULTS / f"{name}.json")


def _verdict(row: dict) -> str:
    if row["goal"] is None:
        return ""
    verdict = "holds" if row["holds"] else "does not hold"
    return f"; ratio {row['ratio']:.3f}, goal {row['direction']} {row['goal']}: {verdict}"
