"""What each metric is, and how it is shown: declared once, by its plug-in or here."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from secateur.config import plugins
from secateur.core.fields import ConfigError

__all__ = ["FIGURES", "Figure", "figure_of", "headlines", "summaries"]


@dataclass(frozen=True)
class Figure:
    """What a metric is, declared once: finding, boards, MLflow, `compare` and kept figures ask it.

    better: direction. headline: compared in pairs, and shown everywhere. floor: also measured on another question's context,
    as METRIC_floor. order: place among the headlines; a finding is about the first that was compared. words: what rows
    differ in; what one does that has more than another; and less. cutoff: of ranks, the one that is shown beside METRIC and
    METRIC@claim. kept: in MLflow and quoted by pages though no headline.
    """

    title: str
    digits: int = 3
    better: Literal["higher", "lower", ""] = "higher"
    headline: bool = True
    floor: bool = False
    order: int = 10
    words: tuple[str, str, str] | None = None
    cutoff: str = ""
    kept: bool = False

    def __post_init__(self) -> None:
        if self.headline and self.better == "lower":
            raise ConfigError(
                f"metric {self.title!r}: headline=True with better='lower'; boards and baselines rank the highest first. "
                "Fix: measure its opposite, or headline=False"
            )


def _read(title: str, digits: int = 3) -> Figure:
    return Figure(title, digits, "", headline=False, order=40, kept=True)


FIGURES = {  # of the stages that measure something else than contexts, whose metrics are plug-ins
    "f1_at_gold": Figure(
        "F1 of turns",
        order=3,
        words=("the F1 of turns", "chooses turns of a higher F1 than", "chooses turns of a lower F1 than"),
    ),
    "rouge_l": Figure("ROUGE-L", order=4),
    "utility": Figure("utility at a price", order=7),
    "answer_gain": Figure("answer gain", order=5),
    "policy_utility": Figure("utility", order=6),
    "passage_recall": Figure("passage recall", order=20, cutoff="5"),
    "all_gold": Figure("all gold", order=20, cutoff="5"),
    "token_f1": Figure("token F1", order=20),
    "typed_match": Figure("typed match", order=20),
    "read_gain": Figure("read gain", order=20),
    "judged_acc": Figure("judged accuracy", order=20),
    "answer_gain_own": Figure("answer gain, own control", order=30),
    "read_evidence_recall": _read("evidence recall, read"),
    "read_tokens": _read("tokens read", 0),
    "policy_accuracy": _read("accuracy"),
    "policy_tokens": _read("tokens", 0),
    "policy_seconds": _read("seconds"),
    "memory_tokens_first": _read("tokens of a session's first prompt", 0),
    "memory_tokens_later": _read("tokens of a later prompt, as sent", 0),
    "memory_tokens_later_alone": _read("the same without memory", 0),
    "memory_tokens_to_first": _read("a later prompt over its session's first"),
    "memory_reuse": _read("needed symbols and edges that the session has met"),
    "memory_growth_first": _read("symbols and edges that a first question adds", 0),
    "memory_growth_later": _read("symbols and edges that a later question adds", 0),
    "memory_evidence_recall": _read("evidence recall of all that the reader holds"),
    "memory_evidence_recall_alone": _read("evidence recall without memory"),
    "memory_evidence_recall_equal": _read("evidence recall without memory, at the tokens sent with it"),
    "memory_evidence_recall_gain": _read("evidence recall that memory gives at equal tokens sent"),
    "memory_token_recall": _read("token recall of all that the reader holds"),
    "memory_token_recall_alone": _read("token recall without memory"),
    "memory_token_recall_equal": _read("token recall without memory, at the tokens sent with it"),
    "memory_token_recall_gain": _read("token recall that memory gives at equal tokens sent"),
}


def figure_of(metric: str) -> Figure:
    """What a metric is, by its name without what follows an @: of a plug-in or a stage; any other is no headline.

    >>> figure_of("tokens").digits, figure_of("read_gain").title, figure_of("refused").headline
    (0, 'read gain', False)
    """
    if metric in plugins.names("metric") or ("." in metric and plugins.source_of(metric)):
        return plugins.load("metric", metric).FIGURE
    return FIGURES.get(metric) or Figure(metric.replace("_", " "), headline=False)


def headlines(metrics: Iterable[str]) -> list[str]:
    """Those of some metrics that are headlines, without what follows an @, in their order, each once.

    >>> headlines(["rouge_l", "evidence_recall@claim", "evidence_recall@64", "refused", "f1_at_gold"])
    ['evidence_recall', 'f1_at_gold', 'rouge_l']
    """
    figures = {base: figure_of(base) for base in dict.fromkeys(metric.partition("@")[0] for metric in metrics)}
    return sorted((base for base, figure in figures.items() if figure.headline), key=lambda base: figures[base].order)


def summaries(metrics: Iterable[str]) -> list[str]:
    """Those of some figures that stand for a metric, headlines first: METRIC@claim, METRIC, METRIC@ROW; not at each budget.

    >>> summaries(["rouge_l", "passage_recall@2", "passage_recall@5", "evidence_recall@64", "evidence_recall@claim"])
    ['evidence_recall@claim', 'rouge_l', 'passage_recall@5']
    """
    names = sorted(dict.fromkeys(metrics), key=lambda name: not name.endswith("@claim"))
    figures = [(name, figure_of(name.partition("@")[0]), name.partition("@")[2]) for name in names]
    whole = [
        (figure.order, name)
        for name, figure, at in figures
        if (figure.headline or figure.kept) and (not at.isdigit() or at == figure.cutoff)
    ]
    return [name for _, name in sorted(whole, key=itemgetter(0))]
