"""What an embedder's maker puts before questions and passages, and what its files say of vectors that is not applied here."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.core.errors import SecateurError

__all__ = ["Asked", "Prompts", "asked"]

FILE, LOWERED = "config_sentence_transformers.json", "sentence_bert_config.json"
READ = {"__version__", "model_type", "prompts", "default_prompt_name", "similarity_fn_name"}
QUERY, DOCUMENT = (
    ("query",),
    ("document", "passage", "corpus"),
)  # names of prompts, as sentence-transformers looks for them


class Asked(str):
    """A text that is embedded as a question; any other is embedded as a passage."""

    __slots__ = ()


def asked(texts: Sequence[str]) -> list[str]:
    """Texts that are embedded as questions."""
    return list(map(Asked, texts))


@dataclass(frozen=True)
class Prompts:
    """Texts before a question and before a passage; empty for most models."""

    query: str = ""
    document: str = ""

    @classmethod
    def of(cls, cfg, folder: Path) -> "Prompts":
        """Those of an embedder option, else of its model's files.

        Raises SecateurError for files that ask for vectors which are not made here.
        """
        stated = _json(folder / FILE)
        named, usual = stated.get("prompts") or {}, stated.get("default_prompt_name")
        odd = [f"{name}={json.dumps(value)}" for name, value in stated.items() if name not in READ and value]
        odd += [
            f"similarity_fn_name={json.dumps(name)}"
            for name in [stated.get("similarity_fn_name")]
            if _unlike_cosine(name, folder)
        ]
        odd += ["do_lower_case=true"] * bool(_json(folder / LOWERED).get("do_lower_case"))
        poolings = map(_json, folder.glob("*/config.json")) if named else ()
        odd += ["include_prompt=false"] * any(pooling.get("include_prompt") is False for pooling in poolings)
        if odd:
            raise SecateurError(
                f"embedder.model {cfg.model}: its files state {', '.join(odd)}, which is not applied here: vectors have "
                "length one and are compared by cosine. Fix: a model that is made for cosines."
            )

        def prompt(option: str, names: Sequence[str]) -> str:
            from_files = next((named[name] for name in (*names, usual) if named.get(name)), "")
            set_ = getattr(cfg, option, None)
            return from_files if set_ is None else set_

        return cls(prompt("query_prompt", QUERY), prompt("document_prompt", DOCUMENT))

    def before(self, texts: Sequence[str]) -> list[str]:
        """Texts as they are embedded."""
        if not self.query and not self.document:
            return list(map(str, texts))
        return [(self.query if isinstance(text, Asked) else self.document) + text for text in texts]


def _unlike_cosine(similarity: str | None, folder: Path) -> bool:
    """Whether vectors are compared otherwise; a dot product of vectors of length one is their cosine."""
    unit = any(str(module.get("type", "")).endswith("Normalize") for module in _json(folder / "modules.json") or ())
    return similarity not in (None, "cosine") and not (similarity == "dot" and unit)


def _json(path: Path):
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
