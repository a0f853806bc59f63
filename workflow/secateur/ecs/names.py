"""Names of features that joined scorers combine: scores under a language model, rankings, and plain features."""

from collections.abc import Mapping
from typing import Any

__all__ = ["LENGTH", "OTHER_SETS", "OVERLAP", "PLAIN", "SPEAKER", "matched_baselines", "needed_features"]

LENGTH = "length"  # log(1 + characters) of the passage
OVERLAP = "overlap"  # number of the question's content words in the passage
SPEAKER = "names_speaker"  # whether the question names the passage's speaker
PLAIN = (LENGTH, OVERLAP, SPEAKER)
OTHER_SETS = "@other_sets"  # suffix of a fitted scorer whose weights come from other data sets


def needed_features(scores: Mapping[str, Any], utilities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Features that the scores and utilities of a conf/rankers option need, each once, scores first."""
    names = list(scores)
    for spec in utilities.values():
        names += [spec["of"]] if isinstance(spec["of"], str) else spec["of"]
        names += [spec["label"]] if "label" in spec else []
    return list(dict.fromkeys(names))


def matched_baselines(scores: Mapping[str, Any], utilities: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Map each joined scorer to its matched baselines: the same plug-in and other features, without some scores.

    One is without a language model, one without ECS's scores alone: it keeps query likelihood, which is none of them.
    """
    joined = {name: spec for name, spec in utilities.items() if spec["kind"] in ("sum", "fitted")}
    by_features = {(spec["kind"], frozenset(spec["of"])): name for name, spec in joined.items()}
    of_ecs = {name for name, spec in scores.items() if spec["kind"] != "pmi_q"}
    baselines = {}
    for name, spec in joined.items():
        left = [(spec["kind"], frozenset(spec["of"]).difference(without)) for without in (scores, of_ecs)]
        without_scores = [by_features[key] for key in dict.fromkeys(left) if by_features.get(key, name) != name]
        baselines |= {name: without_scores} if without_scores else {}
    fitted = {name: names for name, names in baselines.items() if joined[name]["kind"] == "fitted"}
    return baselines | {name + OTHER_SETS: [other + OTHER_SETS for other in names] for name, names in fitted.items()}
