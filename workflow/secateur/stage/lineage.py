"""The stages behind some figures: what they cost, and what they warned of."""

import json
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Record", "cost", "costs", "upstream", "warned"]

Record = dict[str, Any]

SENT = ("contexts", "selections", "policy")  # outputs that a variant gives its reader, or chooses its contexts by
LABELS = ("dataset", "system", "order")  # of a variant


def upstream(found: Iterable[Record], files: Iterable[str]) -> list[Record]:
    """The records of all stages that some files depend on, the nearest first."""
    maker = {path: record for record in found if not record["failure"] for path in record["outputs"].values()}
    queue, chosen = deque(files), {}
    while queue:
        record = maker.get(queue.popleft())
        if record is not None and id(record) not in chosen:
            chosen[id(record)] = record
            queue.extend(sorted(record["inputs"]))
    return list(chosen.values())


def cost(behind: list[Record]) -> dict[str, float]:
    """CPU seconds summed, and peak memory maximised, over stages."""
    peak = max(record["peak_bytes"] for record in behind)
    return {"cpu_seconds": sum(record["cpu_seconds"] for record in behind), "peak_bytes": peak}


def costs(variants: Iterable[Mapping[str, Any]], found: list[Record]) -> list[dict[str, Any]]:
    """The cost of each variant: dataset, system, order, cpu_seconds and peak_bytes of all stages that its figures depend on.

    With the prefix `sent_`: the same for the stages that its contexts depend on. Variants with a missing record, or whose stages
    have no output that is sent, are left out. variants: rows {dataset, system, order, files}.
    """
    outputs = {path for record in found if not record["failure"] for path in record["outputs"].values()}
    rows = []
    for variant in variants:
        behind = upstream(found, variant["files"])
        sent = [path for record in behind for name, path in record["outputs"].items() if name in SENT]
        read = {path for record in behind for path in record["inputs"] if path.startswith("results/")}
        if sent and outputs.issuperset({*variant["files"], *read}):
            sent_cost = {f"sent_{name}": value for name, value in cost(upstream(found, sent)).items()}
            rows.append({name: variant[name] for name in LABELS} | cost(behind) | sent_cost)
    return rows


def warned(variants: Iterable[Mapping[str, Any]], found: list[Record]) -> list[str]:
    """What stages warned of on which the figures of some variants depend, each text once.

    variants: rows {files}. A text names the data set, or the corpus, and the stage.
    """
    behind = upstream(found, [path for variant in variants for path in variant["files"]])
    warnings: dict[tuple[str, str, str], None] = {}
    for record in sorted(behind, key=lambda record: (record["stage"], json.dumps(record["axes"], sort_keys=True))):
        about = record["axes"].get("dataset") or record["axes"].get("corpus", "")
        warnings |= dict.fromkeys((about, record["stage"], text) for text in record["warnings"])
    return [", ".join(filter(None, (about, f"{stage}: {text}"))) for about, stage, text in warnings]
