"""What scores are joined of, by name: those under a language model, rankings, and what is seen of a passage itself."""

from collections.abc import Mapping
from typing import Any

__all__ = ["LENGTH", "OVERLAP", "PLAIN", "SPEAKER", "matched_baselines", "needed"]

LENGTH = "length"  # a feature: log(1 + characters) of the passage itself
OVERLAP = "overlap"  # a feature: how many content words of the question the passage holds
SPEAKER = "names_speaker"  # a feature: whether the question names who says the passage
PLAIN = (LENGTH, OVERLAP, SPEAKER)


def needed(scores: Mapping[str, Any], joined: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The features of an option of conf/rankers, its scores among them, each once."""
    found = list(scores)
    for spec in joined.values():
        found += [spec["of"]] if isinstance(spec["of"], str) else spec["of"]
        found += [spec["label"]] if "label" in spec else []
    return list(dict.fromkeys(found))


def matched_baselines(scores: Mapping[str, Any], joined: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Joined scorer -> the scorer of the same kind that joins the same scores but those of a language model."""
    both = {name: spec for name, spec in joined.items() if spec["kind"] in ("sum", "fitted")}
    plain = {(s["kind"], frozenset(s["of"])): name for name, s in both.items() if not set(s["of"]) & set(scores)}
    found = {n: plain.get((s["kind"], frozenset(set(s["of"]) - set(scores)))) for n, s in both.items()}
    return {name: matched for name, matched in found.items() if matched and matched != name}
