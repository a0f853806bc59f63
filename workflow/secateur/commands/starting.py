"""`secateur new` writes a first file of your own, `secateur list` says what there is."""

import ast
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument

from secateur.commands.shared import at_root
from secateur.config import files, plugins
from secateur.config.compose import names, option
from secateur.core.artifacts import write_text
from secateur.core.errors import SecateurError
from secateur.core.workspace import as_given, make

__all__ = ["TAKEN", "listed", "new"]

CONF = Path("conf")
# Names of controls, of rows that are no list of rankers, and of what follows a metric's name.
TAKEN = {"all", "claim", "graph", "imported", "peer", "pool_random", "random"}
RANKER = '''"""Passages that share more words with the question come first."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.models.units import content_words


def score(settings, group, questions, seed):
    """(questions, passages): the number of words that a question and a passage share."""
    passages = [content_words(text) for text in group.texts]
    return np.array([[float(len(content_words(q) & words)) for words in passages] for q in questions.queries])
'''
RANKER_TEST = '''"""The ranker NAME."""

import numpy as np

from secateur.config import plugins
from secateur.ranking.group import Group, Questions


def test_a_passage_with_the_words_of_the_question_comes_first():
    ranker = plugins.load("ranker", "my.NAME")
    texts = ["It rained in Ghent.", "Acme bought Bolt."]
    group = Group(texts, ["", ""], np.zeros(2, np.int64), lambda _: np.zeros((2, 1), np.float32))
    scores = ranker.score(ranker.Settings(), group, Questions(["Who bought Bolt?"]), 0)
    assert scores.shape == (1, 2)
    assert scores[0].argmax() == 1
'''
METRIC = '''"""Whether the context holds any gold passage."""

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.metric import Figure

FIGURE = Figure("any gold", digits=2)


def measure(cases, settings, embed):
    """1 or 0 for each case; None where the context names no sources."""
    for case in cases:
        held = any(passage in case.gold.passages for passage in case.read.passages)
        yield float(held) if case.traceable else None
'''
METRIC_TEST = '''"""The metric NAME."""

from types import SimpleNamespace

from secateur.config import plugins


def case(*sent, traceable=True):
    """A case whose gold passage is `a`."""
    gold, read = SimpleNamespace(passages=["a"]), SimpleNamespace(passages=sent)
    return SimpleNamespace(gold=gold, read=read, traceable=traceable)


def test_it_is_one_with_a_gold_passage_zero_without_and_undefined_without_sources():
    metric = plugins.load("metric", "my.NAME")
    found = metric.measure([case("b", "a"), case("b"), case(traceable=False)], metric.Settings(), None)
    assert list(found) == [1.0, 0.0, None]
'''
EXPERIMENT = """title: NAME
datasets: [toy_articles]
systems: [bm25, title_zsum, two_step, beam]
axes: {}
exclude: [{order: aware}]
"""
RANKERS = """scorers:
  NAME: {kind: my.NAME}
suffixes: []
neighbour: 0
keep: 300
"""
SYSTEM = """defaults: [_default, _self_]
rankers: NAME
ranker: NAME
orders: [blind]
yours: true
"""
FILES: dict[str, dict[str, str]] = {  # kind -> path -> its first content
    "ranker": {
        "my/NAME.py": RANKER,
        "my/test_NAME.py": RANKER_TEST,
        "conf/rankers/NAME.yaml": RANKERS,
        "conf/system/NAME.yaml": SYSTEM,
    },
    "metric": {"my/NAME.py": METRIC, "my/test_NAME.py": METRIC_TEST},
    "experiment": {"conf/experiment/NAME.yaml": EXPERIMENT},
}
NEXT = {
    "ranker": "secateur run --set experiment.systems=[bm25,NAME]",
    "metric": "secateur run --set dataset.metrics=[my.NAME]",
    "experiment": "secateur run NAME",
}
Kind = Enum("Kind", {name: name for name in (*FILES, "workspace")}, type=str)


def new(
    kind: Annotated[Kind, Argument(help="What to write.")],
    name: Annotated[str, Argument(help="Its name: small letters, digits and _; of a workspace its folder.")],
) -> None:
    """Write a working file of your own to begin with, and its test; or a folder for options and results, a workspace."""
    if kind.value == "workspace":
        make(as_given(Path(name)))
        print(f"Next: cd {name}; secateur run")
        return
    at_root()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise SecateurError(f"{name!r} is no name. Fix: small letters, digits and _, a letter first")
    texts = {Path(path.replace("NAME", name)): text.replace("NAME", name) for path, text in FILES[kind.value].items()}
    if taken := [path for path in texts if path.exists()]:
        raise SecateurError(f"{taken[0]} exists. Fix: another name")
    if any(path.parent.name == "system" for path in texts) and name in {*TAKEN, *names(CONF, "system")}:
        raise SecateurError(f"{name!r} is a row of Secateur. Fix: another name")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
        print(path)
    print(f"Next: {NEXT[kind.value].replace('NAME', name)}")


# --- what there is -------------------------------------------------------------------------------


def _plugin(family: str) -> Callable[[], dict[str, str]]:
    """Each plug-in of a family with the first line of its docstring; none is imported."""
    folder = plugins.LIBRARY.joinpath(*plugins.FAMILIES[family].package.split(".")[1:])

    def about(path: Path) -> str:
        try:
            return (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]
        except (SyntaxError, ValueError) as error:
            return f"(no Python: {error})"

    return lambda: {path.stem: about(path) for path in sorted(folder.glob("[!_]*.py"))}


def _option(group: str) -> Callable[[], dict[str, str]]:
    """Each option of a group with its title, or the comment that it begins with."""

    def about(name: str) -> str:
        if group == "experiment":
            return str(option(CONF, group, name).title)
        return files.about(CONF, group if name in files.options(CONF, group) else "peer", name)

    return lambda: {name: about(name) for name in names(CONF, group)}


WHAT = {
    "rankers": _plugin("ranker"),
    "metrics": _plugin("metric"),
    "systems": _option("system"),
    "experiments": _option("experiment"),
    "data": _option("dataset"),
}
What = Enum("What", {name: name for name in WHAT}, type=str)


def listed(what: Annotated[What, Argument(help="What to list.")]) -> None:
    """List what there is: name, and what it is."""
    entries = WHAT[what.value]()
    width = max(map(len, entries), default=0)
    print(*(f"{name:{width}}  {about}".rstrip() for name, about in entries.items()), sep="\n")
