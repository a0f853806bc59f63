"""`make keep NAME=...` keeps the figures of a finished experiment; `make docs` writes what pages quote, and checks their prose."""

import sys
from pathlib import Path

from publication.keeping import keep
from publication.reference import pages
from secateur.commands.shared import current
from secateur.core.errors import SecateurError
from secateur.verification.verify import drifted


def docs() -> None:
    """Write the generated pages, and compare the figures in prose with the kept ones."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path)
    if wrong := [text for _, problems in drifted(Path()) for text in problems]:
        raise SecateurError("\n".join(wrong))


def main(experiment: str = "") -> None:
    """Keep the figures of an experiment; without one, write the pages."""
    if not experiment:
        return docs()
    current(experiment)
    print(keep(Path("results"), Path("docs"), experiment))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except SecateurError as error:
        sys.exit(str(error))
