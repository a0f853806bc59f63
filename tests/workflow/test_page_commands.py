"""Every command that a page gives can be given: it exists, its options do, and so do the experiment and the keys it names."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from secateur.cli import app
from secateur.config.compose import names, separated
from secateur.config.limits import unlimited
from secateur.core.errors import SecateurError
from secateur.planning.plan import variants

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
GIVEN = re.compile(r"(make|secateur|snakemake) ")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands


def commands(page: str) -> list[tuple[str, bool]]:
    """(command, whether it is a line of a block: given whole) of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [
        body for language, body in re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.S | re.M) if language in ("", "sh")
    ]
    whole = [line for body in blocks for line in body.replace("\\\n", " ").splitlines() if GIVEN.match(line)]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    spans = [one for one in re.findall(r"`([^`\n]+)`", prose) if GIVEN.match(one)]
    return [(one, True) for one in whole] + [(one, False) for one in spans]


def unknown(experiment: str, page: str) -> list[str]:
    """What is wrong with the name of an experiment; one in capitals stands for any, and a page may write its own."""
    name, _ = unlimited(experiment)
    text = (ROOT / page).read_text(encoding="utf-8")
    own = f"conf/experiment/{name}.yaml" in text or f"--name {name}\n" in text
    return [] if name.isupper() or own or name in names(CONF, "experiment") else [f"no experiment {experiment}"]


def of_make(words: list[str], page: str) -> list[str]:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    wrong = [f"no target {w}" for w in words if "=" not in w and not re.search(rf"^{w}:", MAKEFILE, re.M)]
    wrong += [f"no variable {name}" for name in given if not re.search(rf"\$\({name}\)|^{name} ", MAKEFILE, re.M)]
    if "bench" in words and given["NAME"] != "...":
        wrong += [] if (ROOT / f"benchmarks/{given['NAME']}.py").exists() else [f"no benchmark {given['NAME']}"]
    return wrong + of_run(given.get("EXPERIMENT", "quickstart"), list(separated(given.get("OVERRIDES", ""))), page)


def of_run(experiment: str, overrides: list[str], page: str) -> list[str]:
    wrong = unknown(experiment, page)
    if overrides and not wrong:
        variants(CONF, experiment, tuple(overrides))  # raises where a key, a value or an option is none
    return wrong


def of_snakemake(words: list[str], page: str) -> list[str]:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    profiles = [words[n + 1] for n, word in enumerate(words) if word == "--profile"]
    wrong = [f"no profile {name}" for name in profiles if not (ROOT / "profiles" / Path(name).name).is_dir()]
    overrides = re.findall(r'"?([\w.]+=(?:\[[^\]]*\]|[^,"\]]+))"?', given.get("overrides", "")[1:-1])
    return wrong + of_run(given.get("experiment", "quickstart"), overrides, page)


def of_secateur(words: list[str], page: str, whole: bool) -> list[str]:
    name, *rest = words
    if name.startswith("--"):
        return [] if name in ("--help", "--version") else [f"no option {name}"]
    if name not in COMMANDS:
        return [f"no command {name}"]
    try:
        read = COMMANDS[name].make_context(name, rest).params
    except Exception as error:
        lacking = type(error).__name__ == "MissingParameter" or "requires an argument" in str(error)
        return [] if lacking and not whole else [f"{name}: {error}"]
    experiment = read.get("experiment") or read.get("target")
    return of_run(experiment, list(read.get("changed") or ()), page) if experiment else []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_can_be_given(page):
    wrong = {}
    for command, whole in commands(page):
        program, *words = shlex.split(command, comments=True)
        if program == "secateur":
            found = of_secateur(words, page, whole)
        else:
            found = (of_make if program == "make" else of_snakemake)(words, page)
        wrong |= {command: found} if found else {}
    assert wrong == {}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("secateur tabel quickstart", "no command tabel"),
        ("secateur table quickstart --sortt value", "--sortt"),
        ("secateur compare quickstart secateur", "Missing"),
        ("secateur plan lokomo", "no experiment lokomo"),
        ("make rnu", "no target rnu"),
        ("make run EXPERIMNT=locomo", "no variable EXPERIMNT"),
        ("snakemake --config experiment=lokomo", "no experiment lokomo"),
        ("make run OVERRIDES=retriever.topk=1", "did you mean 'top_k'"),
    ],
)
def test_a_command_that_cannot_be_given_is_found(command, said):
    program, *words = shlex.split(command)
    find = {"make": of_make, "snakemake": of_snakemake}.get(program, lambda *given: of_secateur(*given, True))
    try:
        found = " ".join(find(words, "README.md"))
    except SecateurError as error:
        found = str(error)
    assert said in found
    assert len(commands("docs/tutorial.md")) > 15
