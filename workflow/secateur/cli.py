"""Command line of Secateur: run experiments, read their results, export graphs."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

import secateur
from secateur.commands import (
    drafting,
    evaluate,
    figures,
    fitting,
    forgetting,
    graphs,
    resuming,
    running,
    runs,
    starting,
)
from secateur.core.errors import SecateurError, absent, refused
from secateur.core.events import tell
from secateur.core.workspace import as_given, enter, is_root, own_code

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
PANELS = {
    "Results": (
        figures.summary,
        figures.table,
        figures.compare,
        figures.show,
        figures.figures,
        figures.verify,
    ),
    "Runs": (
        *(running.run, evaluate.evaluate, evaluate.check, drafting.questions, resuming.resume, running.report),
        *(runs.why, runs.plan, runs.status),
        *(runs.ui, runs.track, runs.doctor, runs.clean, forgetting.forget),
    ),
    "Graphs and models": (graphs.export, graphs.aliases, graphs.serve, figures.score, fitting.fit),
    "Development": (starting.new,),
}


def _at_work(command: Callable[..., None]) -> Callable[..., None]:
    """The command in the workspace, or the clone, that it is called in."""

    @wraps(command)
    def called(**arguments: Any) -> None:
        enter()
        if is_root(Path()):
            own_code()
        command(**{name: as_given(value) if isinstance(value, Path) else value for name, value in arguments.items()})

    return called


for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(_at_work(command))
app.command("list", rich_help_panel="Results")(_at_work(starting.listed))


def _version(requested: bool) -> None:
    if requested:
        print(f"secateur {secateur.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run experiments, read their results and export graphs. Call it in a workspace or a clone."""


def main() -> None:
    """Entry point. An error that the user can solve ends with exit code 2 and no traceback."""
    try:
        app()
    except SecateurError as error:
        tell(str(error))
        sys.exit(2)
    except ModuleNotFoundError as error:
        if (message := absent(error)) is None:
            raise
        tell(str(message))
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        tell(refused(error))
        sys.exit(2)


if __name__ == "__main__":
    main()
