"""Secateur: prune what a language model reads down to the evidence that moves its answer.

import secateur

memory = secateur.Memory()
memory.index(["Alder Ltd bought the Finch mill in 2021. The mill has stood in Leeds since 1890.", "..."])
print(memory.retrieve("Where is the mill that Alder Ltd bought?", budget=40))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from secateur.core.errors import SecateurError
    from secateur.library.evaluating import compare, evaluate
    from secateur.library.memory import Memory
    from secateur.library.retrieved import Retrieved, Source
    from secateur.library.scoring import score

__version__ = "1.0.0"
__all__ = ["Memory", "Retrieved", "SecateurError", "Source", "compare", "evaluate", "score"]

_FACE = {  # loaded when asked for: every job of the pipeline imports this package
    "Memory": "library.memory",
    "Retrieved": "library.retrieved",
    "Source": "library.retrieved",
    "score": "library.scoring",
    "compare": "library.evaluating",
    "evaluate": "library.evaluating",
    "SecateurError": "core.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'secateur' has no attribute {name!r}")
    return getattr(import_module(f"secateur.{_FACE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
