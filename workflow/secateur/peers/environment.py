"""The Python environment of a peer: its locked packages in a virtual environment, or this project's."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from secateur.core.artifacts import file_digest, write_json
from secateur.core.cache import digest

__all__ = ["PROJECT", "install", "variables"]

PROJECT = {"python": sys.executable, "failure": None}  # of a peer that needs no other packages
TIMEOUT = 3600  # seconds for each step of an installation
SHOWN = 300  # characters of pip's error


def install(files: list[Path], cache: Path, log) -> dict[str, Any]:
    """{python, failure} of an environment with the requirements of the first file, and those of the second as listed.

    The second file's packages come without their dependencies. An environment is cached by the files' content; a
    failure is a result, and the next call tries again.
    """
    folder = cache / "peers" / digest(sys.version_info[:2], [file_digest(path) for path in files])[:16]
    python, ready = folder / "bin" / "python", folder / "ready.json"
    failure = None
    if not ready.exists():
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        steps = [[sys.executable, "-m", "venv", "--clear", str(folder)]]
        steps += [[*pip, *extra, "-r", str(path)] for path, extra in zip(files, ([], ["--no-deps"]), strict=False)]
        failure = next(filter(None, (_failure(step, log) for step in steps)), None)
        if failure is None:
            write_json(ready, {"files": [path.name for path in files]})
    return {"python": str(python), "failure": failure}


def _failure(command: list[str], log) -> str | None:
    """Run a command; its first error line if it failed, else None."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=variables, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"[:SHOWN]
    log.info("%s\n%s%s", " ".join(command), done.stdout, done.stderr)
    errors = [line.strip() for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return None if done.returncode == 0 else (errors or [f"exit code {done.returncode}"])[0][:SHOWN]


def variables(python: str) -> dict[str, str]:
    """Environment variables of a peer: the folder of LiteLLM's tokenizer files, so that none is downloaded."""
    folders = Path(python).parents[1].glob("lib/python*/site-packages/litellm/litellm_core_utils/tokenizers")
    return next(({"TIKTOKEN_CACHE_DIR": str(folder)} for folder in folders), {})
