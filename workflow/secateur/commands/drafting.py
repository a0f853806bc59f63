"""`secateur questions`: questions to begin with, for a folder that has none."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

from typer import Option

from secateur.commands.checking import CONF, Folder, Workspace, read_passages
from secateur.commands.shared import at_work
from secateur.config.compose import option
from secateur.core.artifacts import write_text
from secateur.core.errors import SecateurError
from secateur.core.workspace import as_given
from secateur.datasets.language import FOREIGN, seems_foreign
from secateur.ranking.drafting import Draft, drafts
from secateur.ranking.names import canonical

__all__ = ["questions", "reworded"]

REWORD = (
    "Below are a text and a stiff question about it. Ask the same as a person would who has not read the text, in one "
    "sentence, in other words than the text's where you can. Its answer has to stay: {answer}. Write the question alone."
)


def questions(
    folder: Folder,
    n: Annotated[int, Option("-n", help="Most questions.", min=1)] = 60,
    to: Annotated[Path | None, Option(help="File that is written; default: questions.jsonl in the folder.")] = None,
    reword: Annotated[
        str | None, Option(help="Option of conf/answer whose model words them anew, e.g. endpoint.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="answer.KEY=VALUE", help="Override a configuration value of that model."),
    ] = None,
    workspace: Workspace = None,
) -> None:
    """Draft questions from the texts of a folder, with evidence and answers, in a file to be edited. English alone."""
    folder = at_work(folder, workspace)
    form, passages = read_passages(folder)
    path = as_given(to) if to else folder / "questions.jsonl"
    if taken := [file for file in (path, path.with_name(f"{path.name}.gz")) if os.path.lexists(file)]:
        raise SecateurError(f"{taken[0]} exists, and is not written over. Fix: --to FILE")
    if passages["speaker"].null_count() < passages.height or form == "BEIR":
        raise SecateurError(
            f"{folder}: questions are drafted from documents, not from dialogues and BEIR's sets. Fix: documents without "
            "speakers, or questions of your own"
        )
    if foreign := seems_foreign(passages["text"].to_list(), FOREIGN):
        print(f"{folder}: {foreign}; sentences are read as English")
    names = option(CONF, "consolidation", "default")
    drafted = drafts(passages, n, frozenset(names.joins), frozenset(names.skipped))
    if not drafted:
        raise SecateurError(
            f"{folder}: no sentence begins with a name and says, in English, something of another name that no other says, "
            "so nothing is drafted. Fix: write questions of your own"
        )
    if reword:
        from secateur.answers.ask import generator
        from secateur.library.options import context

        changed = tuple(settings or ())
        asked = SimpleNamespace(
            answer=option(CONF, "answer", reword, changed), lm=option(CONF, "lm", "smollm2", changed)
        )
        texts = dict(passages.select("passage_id", "text").iter_rows())
        drafted, kept = reworded(drafted, generator(asked, context()), texts, asked.answer)
        print(f"{kept} of {len(drafted)} replies were no question, or named the answer: their drafts stay as they are")
    lines = (json.dumps(draft.row(number), ensure_ascii=False) for number, draft in enumerate(drafted, 1))
    write_text(path, "".join(f"{line}\n" for line in lines))
    two = sum(len(draft.evidence) > 1 for draft in drafted)
    print(f"{path}: {len(drafted)} questions drafted, {two} of them over two passages")
    print(
        "Edit it: drop what nobody would ask, write what people do ask. A question without its `type` is yours; then drafts are left out."
    )


def reworded(made: Sequence[Draft], model, texts: Mapping[str, str], cfg) -> tuple[list[Draft], int]:
    """(drafts in a model's words, how many replies were of no use).

    model: a `Generator`; texts: of passages by id; cfg: the model's option of `answer`. Raises SecateurError above the share
    of refused prompts that it allows.
    """
    from secateur.answers.ask import fitted, losses

    prompts = []
    for draft in made:
        rows = [f"{texts[passage]}\n" for passage in draft.evidence]
        prompts.append(fitted(REWORD.format(answer=draft.answer), model, draft.text, draft.text, rows)[0])
    results, replies = [], model(prompts)
    losses(replies, cfg, "answer")
    for draft, reply in zip(made, replies, strict=True):
        text = reply.text.strip()
        is_of_use = text.endswith("?") and "\n" not in text and canonical(draft.answer) not in canonical(text)
        results.append(replace(draft, text=text) if is_of_use else draft)
    return results, sum(new is old for new, old in zip(results, made, strict=True))
