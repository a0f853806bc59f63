"""The command that packs an experiment with all that it comes from."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from secateur.commands.shared import EXPERIMENTS, experiment_named

__all__ = ["crate"]


def crate(
    experiment: Annotated[str, Argument(help="one that has been run to its end")],
    out: Annotated[Path | None, Option(metavar="FILE.zip|DIR", help="default: among its results")] = None,
) -> None:
    """Pack its results, records, code and settings as a Workflow Run RO-Crate, every file held against its digest."""
    from secateur.crate.contents import contents
    from secateur.crate.entities import METADATA, described
    from secateur.crate.material import material
    from secateur.crate.pack import pack
    from secateur.crate.portable import checked, without_machine
    from secateur.datasets.registry import load_registry

    root, target = Path.cwd(), out or EXPERIMENTS / experiment / "crate.zip"
    registry = load_registry(Path("data/registry"))
    public = frozenset(entry.url for entry in registry.values() if entry.url)
    found = without_machine(material(experiment_named(experiment), root), root, public)
    held = contents(found, root)
    whole = held | {METADATA: described(found, held, registry)}
    pack({name: checked(name, content, root) for name, content in whole.items()}, target)
    named = sum(path not in held for path in found.files)
    print(f"{target} ({len(found.runs)} stage runs, {len(whole)} files, {named} more by digest)")
