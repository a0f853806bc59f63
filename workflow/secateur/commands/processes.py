"""Finds the processes of this folder on this machine: drivers of runs, and their jobs."""

from collections.abc import Iterator
from pathlib import Path

__all__ = ["drivers", "workers"]


def _command_lines() -> Iterator[tuple[Path, list[str]]]:
    """(folder in /proc, arguments) of each readable process."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            yield entry, (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue


def workers() -> dict[int, str]:
    """The rule of each running job, by process id."""
    scripts = str(Path.cwd() / ".snakemake" / "scripts")
    return {
        int(entry.name): Path(part).name.split(".", 1)[1].removesuffix(".py")
        for entry, parts in _command_lines()
        for part in parts
        if part.startswith(scripts)
    }


def drivers() -> list[int]:
    """Process ids of the Snakemakes that drive a run; dry runs and Snakemakes inside jobs do not count."""
    return sorted(
        int(entry.name)
        for entry, parts in _command_lines()
        if "python" in parts[0]
        and any(part.rpartition("/")[2] == "snakemake" for part in parts)
        and not {"-n", "--mode"} & set(parts)
        and _is_here(entry)
    )


def _is_here(entry: Path) -> bool:
    try:
        return (entry / "cwd").resolve() == Path.cwd()
    except OSError:
        return False
