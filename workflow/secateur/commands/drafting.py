"""`secateur questions`: questions to begin with, for a folder that has none."""

import json
import os
from pathlib import Path
from typing import Annotated

from typer import Option

from secateur.commands.checking import CONF, Folder, read_passages
from secateur.commands.shared import at_work
from secateur.config.compose import option
from secateur.core.artifacts import write_text
from secateur.core.errors import SecateurError
from secateur.core.workspace import as_given
from secateur.datasets.language import FOREIGN, seems_foreign
from secateur.ranking.drafting import drafts

__all__ = ["questions"]


def questions(
    folder: Folder,
    n: Annotated[int, Option("-n", help="Most questions.", min=1)] = 60,
    to: Annotated[Path | None, Option(help="File that is written; default: questions.jsonl in the folder.")] = None,
) -> None:
    """Draft questions from the texts of a folder, with evidence and answers, in a file to be edited. English alone."""
    folder = at_work(folder)
    form, passages = read_passages(folder)
    path = as_given(to) if to else folder / "questions.jsonl"
    if taken := [one for one in (path, path.with_name(f"{path.name}.gz")) if os.path.lexists(one)]:
        raise SecateurError(f"{taken[0]} exists, and is not written over. Fix: --to FILE")
    if passages["speaker"].null_count() < passages.height or form == "BEIR":
        raise SecateurError(
            f"{folder}: questions are drafted from documents, not from dialogues and BEIR's sets. Fix: documents without "
            "speakers, or questions of your own"
        )
    if foreign := seems_foreign(passages["text"].to_list(), FOREIGN):
        print(f"{folder}: {foreign}; sentences are read as English")
    names = option(CONF, "consolidation", "default")
    made = drafts(passages, n, frozenset(names.joins), frozenset(names.skipped))
    if not made:
        raise SecateurError(
            f"{folder}: no sentence begins with a name and says, in English, something of another name that no other says, "
            "so nothing is drafted. Fix: write questions of your own"
        )
    lines = (json.dumps(one.row(number), ensure_ascii=False) for number, one in enumerate(made, 1))
    write_text(path, "".join(f"{line}\n" for line in lines))
    two = sum(len(one.evidence) > 1 for one in made)
    print(f"{path}: {len(made)} questions drafted, {two} of them over two passages")
    print(
        "Edit it: drop what nobody would ask, write what people do ask. A question without its `type` is yours; then drafts are left out."
    )
