"""`secateur`: figures, summaries, runs and generated pages from a shell."""

import sys
from typing import Annotated

import typer

import secateur
from secateur.commands import figures, graphs, resuming, running, runs
from secateur.core.errors import SecateurError, refused
from secateur.core.redaction import redacted

__all__ = ["app", "main"]

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
SECTIONS = {
    "What was found": (
        figures.summary,
        figures.table,
        figures.compare,
        figures.show,
        figures.figures,
        figures.keep,
    ),
    "Runs": (
        *(running.run, resuming.resume, running.report, runs.why, runs.plan, runs.status),
        *(runs.ui, runs.track, runs.doctor, runs.orphans),
    ),
    "Graphs and models": (graphs.export, graphs.aliases, graphs.serve, figures.score),
    "This project": (runs.docs, runs.costs),
}
for section, calls in SECTIONS.items():
    for call in calls:
        app.command(rich_help_panel=section)(call)
RENAMED = {"ignore_unknown_options": True, "allow_extra_args": True}
app.command(hidden=True, context_settings=RENAMED)(runs.gc)


def _version(asked: bool) -> None:
    if asked:
        print(f"secateur {secateur.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="print it")] = False,
) -> None:
    """Figures, summaries, runs and generated pages of a clone, from its root."""


def main() -> None:
    """Entry point. Exit code 2, without a traceback, for what the user can mend."""
    try:
        app()
    except SecateurError as error:
        print(redacted(str(error)), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        print(redacted(refused(error)), file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
