"""An experiment's earlier run here: the variants that it had, and what differs from those planned now."""

from collections.abc import Iterable
from pathlib import Path

from secateur.core.artifacts import read_json
from secateur.planning.plan import Variant, variants
from secateur.stage.ledger import run_overrides

__all__ = ["changes", "run_variants"]


def changes(planned: Iterable[Variant], record: Path) -> str:
    """The variants added to and removed from an earlier run; empty without a record of one."""
    if not record.exists():
        return ""
    rows = read_json(record)["config"]["extra.variants"]
    before = dict.fromkeys(" ".join(filter(None, (row["dataset"], row["system"], row["order"]))) for row in rows)
    now = dict.fromkeys(" ".join(filter(None, (v.dataset, v.system, v.order))) for v in planned)
    lists = {"adds": [name for name in now if name not in before], "removes": [n for n in before if n not in now]}
    return "; ".join(f"{change}: {', '.join(names)}" for change, names in lists.items() if names)


def run_variants(root: Path, name: str) -> list[Variant]:
    """The variants of an experiment under the overrides of its last run in a project's folder."""
    return variants(root / "conf", name, run_overrides(root, name))
