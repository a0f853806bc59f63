"""The environment that a peer runs in: its locked packages, in a place of their own, or this project's."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from secateur.core.artifacts import file_digest, write_json
from secateur.core.cache import digest

__all__ = ["OWN", "environment", "variables"]

OWN = {"python": sys.executable, "failure": None}  # of a peer that is written here
SECONDS = 3600  # in which an environment must be installed
SHOWN = 300  # characters of what pip said last


def environment(files: list[Path], cache: Path, log) -> dict[str, Any]:
    """{python, failure}: an environment with the requirements of the first file, and those of the second without what they
    ask for themselves. It is made once for each content of the files; a failure is a finding, and tried again."""
    folder = cache / "peers" / digest(sys.version_info[:2], [file_digest(path) for path in files])[:16]
    python, ready = folder / "bin" / "python", folder / "ready.json"
    if ready.exists():
        return {"python": str(python), "failure": None}
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [[sys.executable, "-m", "venv", "--clear", str(folder)]]
    steps += [[*pip, *alone, "-r", str(path)] for path, alone in zip(files, ([], ["--no-deps"]), strict=False)]
    for step in steps:
        failure = _failed(step, log)
        if failure:
            return {"python": str(python), "failure": failure}
    write_json(ready, {"files": [path.name for path in files]})
    return {"python": str(python), "failure": None}


def _failed(step: list[str], log) -> str | None:
    """Why a command failed, in its own last words; None where it did not."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(step, capture_output=True, text=True, timeout=SECONDS, env=own, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"[:SHOWN]
    log.info("%s\n%s%s", " ".join(step), done.stdout, done.stderr)
    said = [line.strip() for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return None if done.returncode == 0 else (said or [f"exit code {done.returncode}"])[0][:SHOWN]


def variables(python: str) -> dict[str, str]:
    """What a peer's process finds in its environment: token files that LiteLLM brings, so that none is fetched."""
    found = Path(python).parents[1].glob("lib/python*/site-packages/litellm/litellm_core_utils/tokenizers")
    return next(({"TIKTOKEN_CACHE_DIR": str(folder)} for folder in found), {})
