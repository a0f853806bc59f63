"""What `make run` hands on: names of folders and experiments as they are, whatever a shell would make of them."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.support.project import ROOT

from secateur.config.compose import option, separated
from secateur.core.fields import ConfigError

SETTINGS = ("EXPERIMENT", "NAMED", "DATA", "OVERRIDES", "PROFILE", "CORES", "LIMIT", "MIRROR", "V")


def handed_on(folder: Path, *given: str, print_it: str = 'printf "%s\\n" "$@"') -> list[str]:
    """The arguments that `secateur` gets from `make run`, or what else a shell prints there."""
    seen = folder / "secateur"
    seen.write_text(f"#!/bin/sh\n{print_it}\n")
    seen.chmod(0o755)
    command = ["make", "--no-print-directory", "-C", str(ROOT), "run", f"BIN={folder}", "READY=", *given]
    # `make test` exports its own settings to the tests, EXPERIMENT=quickstart among them.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name not in SETTINGS}
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


USUAL = ("--profile", "local", "--cores", "all")


@pytest.mark.parametrize("name", ["it's", 'a"b', "x;touch y", "(a)", "ä,b=c", "#{[&~", "`id`", "*", "-x"])
def test_the_name_of_a_folder_and_the_value_of_an_override_are_handed_on_as_they_are(tmp_path, name):
    found = handed_on(tmp_path, "EXPERIMENT=custom", f"DATA={name}")
    assert found == ["evaluate", name, "--experiment", "custom", *USUAL]
    found = handed_on(tmp_path, f"OVERRIDES=dataset.folder={name} retriever.top_k=9")
    assert found[6:] == ["--set", f"dataset.folder={name} retriever.top_k=9"]


def test_what_is_given_is_handed_on_and_nothing_else(tmp_path):
    assert handed_on(tmp_path) == ["run", "quickstart", *USUAL]
    assert handed_on(tmp_path, "DATA=mine", "LIMIT=20") == ["evaluate", "mine", "--limit", "20", *USUAL]
    overrides = "eval.budgets=[64,128] retriever.top_k=9"
    found = handed_on(tmp_path, "EXPERIMENT=stem_old", "LIMIT=20", f"OVERRIDES={overrides}", "V=1")
    assert found == ["run", "stem_old@20", *USUAL, "--plain", "--set", overrides]


@pytest.mark.parametrize("name", ["my data/at /two", "/it's", 'a"b', "ä", "."])
def test_a_mirror_is_one_folder_whatever_its_name(tmp_path, name):
    found = handed_on(tmp_path, f"MIRROR={name}", print_it='echo "$SECATEUR_MIRROR"')
    assert found == [name if name.startswith("/") else f"{ROOT}/{name}"]


@pytest.mark.parametrize("said", ["0", None])
def test_the_hub_is_not_asked_unless_the_environment_says_so(tmp_path, monkeypatch, said):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    if said:
        monkeypatch.setenv("HF_HUB_OFFLINE", said)
    assert handed_on(tmp_path, print_it='echo "$HF_HUB_OFFLINE"') == [said or "1"]


@pytest.mark.parametrize(
    "overrides",
    [
        ["dataset.folder=/my data", "retriever.top_k=9"],
        ['lm.model="a b=c"', "retriever.top_k=9"],
        ["dataset.folder='/it\\'s x=1'"],
        ["dataset.folder=/Prüfung (a)", "dataset.folder=/it's"],
        ["eval.budgets=[64, 128]", "+experiment.axes={reader: [x, y]}"],
        ["rank_passages.mem_mb=attempt * 16000 if a == 1 else 2", "score_candidates.runtime=600"],
        [],
    ],
)
def test_an_override_begins_at_a_key_behind_a_blank_and_a_value_that_needs_quotes_is_refused_with_them(overrides):
    assert list(separated("  ".join([*overrides, ""]))) == overrides
    with pytest.raises(ConfigError, match=r"Fix: write the value in quotes, e\.g\. dataset\.folder='/my data'"):
        option(ROOT / "conf", "dataset", "custom", ("dataset.folder=/Prüfung",))
    assert option(ROOT / "conf", "dataset", "custom", ("dataset.folder='/Prüfung'",)).folder == "/Prüfung"
