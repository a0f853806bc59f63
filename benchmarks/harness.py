"""What every benchmark shares: interleaved timing in one run, data sets of a mirror, the printed table, the JSON file."""

import gzip
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from secateur.config import compose
from secateur.datasets import loaders

__all__ = ["ROOT", "Figure", "cpu_seconds", "mirrored", "publish"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "bench"


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


def mirrored(spec, name: str, unit: str | None = None):
    """(passages in reading order, questions with their evidence) of a multi-hop data set, from the mirror.

    spec: an option of conf/dataset. unit: sentence or paragraph, in place of that of the option.
    """
    mirror, corpus = Path(os.environ["SECATEUR_MIRROR"]), compose.option(ROOT / "conf", "corpus", spec.corpus)
    formats = [{"kind": form} if isinstance(form, str) else dict(form) for form in (corpus.format, spec.format)]
    formats = [form | ({"unit": unit} if unit else {}) for form in formats]
    with TemporaryDirectory() as folder:
        paths = {file: Path(folder) / file for file in {*corpus.files, *spec.files}}
        for path in paths.values():
            path.write_bytes(gzip.decompress((mirror / f"{path.name}.gz").read_bytes()))
        kind = loaders.format_of(formats[0])
        files = loaders.named_files(
            kind.CORPUS_FILES, [*(paths[file] for file in corpus.files), *(ROOT / extra for extra in corpus.extra)]
        )
        passages = loaders.load_corpus(formats[0], files).passages.sort("doc_id", "position")
        files = loaders.named_files(kind.QUESTION_FILES, [paths[file] for file in spec.files])
        return passages, loaders.load_questions(formats[1], name, files, passages)
