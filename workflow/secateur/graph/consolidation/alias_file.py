"""aliases.yaml: pairs of surface forms that are merged by force, or never merged."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from secateur.core.errors import SecateurError, nearest
from secateur.graph.triples.surface import normalise

__all__ = ["read_aliases"]

KEYS = ("force", "forbid")
FIX = "Fix: {force: [[form, form]], forbid: [[form, form]]} with surface forms of the corpus"


def _pairs(path: Path, name: str, value: Any) -> list[list[str]]:
    """The pairs under a key, normalised as the graph's surface forms are."""
    pairs = []
    if not isinstance(value or [], list):
        raise SecateurError(f"{path}: {name} is {value!r:.80}, allowed: a list of pairs. {FIX}")
    for n, pair in enumerate(value or []):
        named = isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair)
        forms = [normalise(form) for form in pair] if named else []
        if len(set(forms)) != 2:
            raise SecateurError(f"{path}: {name}[{n}] is {pair!r:.80}, allowed: two different surface forms. {FIX}")
        pairs.append(forms)
    return pairs


def read_aliases(
    path: Path, place: Mapping[str, int]
) -> tuple[list[tuple[int, int]], frozenset[frozenset[int]], list[str]]:
    """(forced pairs, forbidden pairs) of entity ids, and the forms that are no entity. place: entity id by surface form.

    One file may serve several corpora, so that a pair with an unknown form is passed over.

    Raises SecateurError for invalid YAML, unknown keys, entries that are not pairs, and a forbidden pair that the
    forced pairs join.
    """
    from scipy.cluster.hierarchy import DisjointSet

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SecateurError(f"{path}: not valid YAML in UTF-8 ({' '.join(str(error).split())}). {FIX}") from error
    if not isinstance(data, dict) or set(data) - set(KEYS):
        wrong = ", ".join(
            f"{k!s:.80}{nearest(str(k), KEYS)}" for k in (set(data) - set(KEYS) if isinstance(data, dict) else [data])
        )
        raise SecateurError(f"{path}: unknown key {wrong}; allowed: {', '.join(KEYS)}. {FIX}")
    named = [_pairs(path, name, data.get(name)) for name in KEYS]
    unknown = sorted({form for pairs in named for pair in pairs for form in pair if form not in place})
    forced, forbidden = ([(place[a], place[b]) for a, b in pairs if a in place and b in place] for pairs in named)
    groups = DisjointSet(place.values())
    for a, b in forced:
        groups.merge(a, b)
    form = {n: text for text, n in place.items()}
    for a, b in forbidden:
        if groups.connected(a, b):
            raise SecateurError(
                f"{path}: contradicts itself: {form[a]!r} and {form[b]!r} are forbidden, but forced together. {FIX}"
            )
    return forced, frozenset(frozenset(pair) for pair in forbidden), unknown
