"""`secateur fit`: the second look at the level of a folder of one's own."""

from pathlib import Path
from typing import Annotated

from typer import Option

from secateur.commands.checking import CONF, Folder, Workspace, read_folder
from secateur.commands.shared import at_work
from secateur.config import plugins
from secateur.config.compose import local, option
from secateur.core.errors import SecateurError
from secateur.core.threads import limited
from secateur.core.workspace import as_given
from secateur.evaluation.subsets import are_drafted
from secateur.models.embedder import Embedder
from secateur.models.locate import locate
from secateur.ranking.look import Look
from secateur.ranking.rank import group_of
from secateur.ranking.second_look import Example, Model, gold_places, levelled

__all__ = ["fit"]

LIST, RANKER = "multihop", "second_look"


@limited()
def fit(
    folder: Folder,
    to: Annotated[Path, Option(help="File of the model that is written.")] = Path("second_look.npz"),
    questions: Annotated[int, Option(help="Least number of questions with evidence.", min=10)] = 40,
    workspace: Workspace = None,
) -> None:
    """Fit the level of the second look, and so of its price, on questions with evidence of your own folder."""
    data = read_folder(at_work(folder, workspace))
    spec = option(CONF, "rankers", LIST).scorers[RANKER]
    settings = plugins.settings("ranker", spec, f"conf/rankers/{LIST}", RANKER)
    embedder = Embedder(option(CONF, "embedder", "minilm"), Path(local(CONF).cache or ".cache"))
    if are_drafted(data.questions.questions):
        raise SecateurError(
            f"{folder}: its questions are drafted, and p of them is not that of people's. Fix: ask some"
        )
    examples = []
    for group in data.passages.partition_by("group_id", maintain_order=True):
        passages = group.sort("doc_id", "position")
        asked = data.questions.questions.filter(group_id=passages["group_id"][0])
        gold = gold_places(passages, data.questions.evidence)
        texts = dict(asked.select("question_id", "text").iter_rows())
        named = [question for question in texts if question in gold]
        look = Look(settings, group_of(passages, embedder.embed), option(CONF, "eval", "default").seed)
        examples.append(Example(look, [texts[q] for q in named], [gold[q] for q in named]))
    count = sum(len(example.questions) for example in examples)
    if count < questions:
        raise SecateurError(
            f"{folder}: {count} questions have evidence in its passages, {questions} are needed. Fix: name the evidence of "
            "more questions (docs/data.md), or use the model as it is shipped."
        )
    model, (before, after) = levelled(Model.load(Path(locate(settings.weights))), examples)
    model.save(to := as_given(to))
    print(f"{to}: fitted on {count} questions; log loss a candidate {before:.4f} as shipped, {after:.4f} by folds")
    print(f"Use it: in a list of conf/rankers, {RANKER}: {{..., weights: {to}}}")
