"""The programs in `examples/` run; those over other packages only where these are installed."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINTED = {
    "compact_graph": '["Marrowfield Holdings","is company with","head office"]',
    "compare_contexts": "evidence_recall",
    "compare_your_rag": "tokens",
    "event_loop": "Ellerwick also invented Nine Moons",
    "folder_of_documents": "minutes.md:0, score",
    "keep_a_memory": "1 {'deal': ['deal:0']}\nAlder Ltd sold the Finch mill in 2024.",
    "langchain_retriever": "mill The Finch mill has stood in Leeds since 1890.",
    "llama_index_retriever": "mill The Finch mill has stood in Leeds since 1890.",
    "price_of_tokens": "price 2:",
    "what_moves_the_answer": "'It rains a lot there.']",
}
NEEDS = {"langchain_retriever": "langchain_core", "llama_index_retriever": "llama_index"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples").glob("*.py")))
def test_an_example_runs_and_prints_what_it_found(smoke_cache, name):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert PRINTED[name] in done.stdout
