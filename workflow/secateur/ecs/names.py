"""What the utility under a language model can be asked for, by name.

A module of its own that loads nothing: every job checks its plan against these names when the Snakefile is parsed.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["ANSWER_AWARE", "JUDGES", "LENGTH", "PROBES", "SCORER_NAMES", "SPEAKER", "needed", "twins"]

JUDGES = ("judge_helpful_answer", "judge_factual", "judge_helpful")
PROBES = ("trajectory_ctx", "trajectory_base", *JUDGES, "expected_shift")  # columns that take passes of their own
LENGTH = "length"  # a feature: log(1 + characters) of the passage itself
SPEAKER = "names_speaker"  # a feature: whether the question names who says the passage

# Scorers that see the gold answer: they label, evaluate and train, and are never compared with the others.
ANSWER_AWARE = frozenset(
    {
        "signed",
        "signed_mean",
        "signed_first",
        "signed_kl",
        "trajectory:gold",
        "judge_helpful_answer",
        "judge_helpful_answer_binary",
    }
)
SCORER_NAMES = (
    *("signed", "signed_mean", "signed_first", "signed_kl", "kl_first", "kl_topk:tail", "kl_topk:paper"),
    *("trajectory:gold", "trajectory:ctx", "trajectory:base", "js", "entropy_drop", "pmi_q"),
    *JUDGES,
    *(f"{judge}_binary" for judge in JUDGES),
    "expected_shift",
)


def needed(specs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The features that some scorers of conf/rankers need, each once."""
    found = []
    for spec in specs.values():
        of = spec["of"]
        found += [of] if isinstance(of, str) else of
        found += [spec["label"]] if "label" in spec else []
    return list(dict.fromkeys(found))


def twins(specs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Each joined scorer with the scorer of the same kind that joins the same but for what a language model says."""
    joined = {name: spec for name, spec in specs.items() if spec["kind"] in ("sum", "fitted")}
    plain = {
        (s["kind"], frozenset(s["of"])): name for name, s in joined.items() if not set(s["of"]) & set(SCORER_NAMES)
    }
    found = {n: plain.get((s["kind"], frozenset(set(s["of"]) - set(SCORER_NAMES)))) for n, s in joined.items()}
    return {name: twin for name, twin in found.items() if twin and twin != name}
