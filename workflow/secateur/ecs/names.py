"""Names of features that joined scorers combine: scores under a language model, rankings, and plain features."""

from collections.abc import Mapping
from typing import Any

__all__ = ["LENGTH", "OVERLAP", "PLAIN", "SPEAKER", "matched_baselines", "needed_features"]

LENGTH = "length"  # log(1 + characters) of the passage
OVERLAP = "overlap"  # number of the question's content words in the passage
SPEAKER = "names_speaker"  # whether the question names the passage's speaker
PLAIN = (LENGTH, OVERLAP, SPEAKER)


def needed_features(scores: Mapping[str, Any], utilities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Features that the scores and utilities of a conf/rankers option need, each once, scores first."""
    names = list(scores)
    for spec in utilities.values():
        names += [spec["of"]] if isinstance(spec["of"], str) else spec["of"]
        names += [spec["label"]] if "label" in spec else []
    return list(dict.fromkeys(names))


def matched_baselines(scores: Mapping[str, Any], utilities: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Map each joined scorer to its matched baseline: the same plug-in and features, without a language model."""
    joined = {name: spec for name, spec in utilities.items() if spec["kind"] in ("sum", "fitted")}
    plain = {(s["kind"], frozenset(s["of"])): name for name, s in joined.items() if not set(s["of"]) & set(scores)}
    baselines = {n: plain.get((s["kind"], frozenset(set(s["of"]) - set(scores)))) for n, s in joined.items()}
    return {name: baseline for name, baseline in baselines.items() if baseline and baseline != name}
