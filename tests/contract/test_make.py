"""What `make run` hands on: names of folders and experiments as they are, whatever a shell would make of them."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def handed_on(folder: Path, *given: str) -> list[str]:
    """The arguments that `secateur` gets from `make run`."""
    seen = folder / "secateur"
    seen.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    seen.chmod(0o755)
    command = ["make", "--no-print-directory", "-C", str(ROOT), "run", f"BIN={folder}", "READY=", *given]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["my data", "it's", 'a"b', "x;touch y", "(a)", "ä,b=c", "#{[&~", "`id`", "*", "-x"])
def test_a_folders_name_is_handed_on_as_it_is(tmp_path, name):
    found = handed_on(tmp_path, "EXPERIMENT=custom", f"DATA={name}")
    assert found == ["run", "custom", "--profile", "local", "--cores", "all", "--data", name]


def test_what_is_not_given_is_not_handed_on(tmp_path):
    assert handed_on(tmp_path) == ["run", "quickstart", "--profile", "local", "--cores", "all"]


def test_a_limit_and_overrides_are_handed_on(tmp_path):
    found = handed_on(
        tmp_path, "EXPERIMENT=stem_old", "LIMIT=20", "OVERRIDES=eval.budgets=[64,128] retriever.top_k=9", "V=1"
    )
    assert found[:2] == ["run", "stem_old@20"]
    assert found[6:] == ["--plain", "--set", "eval.budgets=[64,128]", "--set", "retriever.top_k=9"]
