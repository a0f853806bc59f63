"""The primary family of an experiment: the tests that it declares before a run, each of a row and its matched baseline.

    primary:
      - {row: requery, minus: named_two_step, differs: steps, metrics: [passage_recall@5, evidence_recall@claim]}

`differs` names the one thing in which the rows differ: an axis of comparison, or a part of the ranker. With `under`, an axis
of the experiment, the rows are also tested under each of its options. `SYSTEM/SCORER` is a joined score of ECS, whose matched
baseline lacks scores of the language model: `differs: language_model`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

from secateur.config import inline, plugins
from secateur.config.experiment import Experiment, System
from secateur.core.errors import nearest
from secateur.core.fields import ConfigError
from secateur.ecs.names import matched_baselines
from secateur.evaluation import utility
from secateur.evaluation.comparison import AXES, MODEL, differing
from secateur.evaluation.figure import FIGURES, headlines

__all__ = ["primary_tests"]

KEYS, OPTIONAL = ("row", "minus", "differs", "metrics"), ("under",)
SELECTED = ("f1_at_gold",)  # metrics of scorers that select passages
RANKED, GAIN, OWN = ("passage_recall", "all_gold"), "answer_gain", "answer_gain_own"
Option = Callable[[str, str], Any]  # (group, name) -> option
Test = dict[str, str]  # row, minus, metric


def primary_tests(
    spec: Experiment, variants: Sequence, option: Option, where: str, is_whole: bool = True
) -> list[Test]:
    """Every test of the family once for all data sets: row, minus, metric.

    Raises ConfigError for an entry with other keys, a row that the experiment lacks, rows that do not differ in exactly one
    axis of comparison, and a metric that is not measured of the row. where: the experiment's file. is_whole: whether no
    override has left out rows of the experiment's file; without, pairs of rows that it lacks are left out, not refused.
    """
    pairs = [(n, p) for n, p in enumerate(spec.primary) if is_whole or _present(p) <= {v.system for v in variants}]
    tests = [test for n, pair in pairs for test in _tests(spec, variants, option, pair, n, where)]
    return [dict(test) for test in dict.fromkeys(tuple(test.items()) for test in tests)]


def _present(pair: Mapping[str, Any]) -> set[str]:
    """The systems that a pair is of."""
    return {str(pair[side]).partition("/")[0] for side in ("row", "minus") if side in pair}


def _tests(
    spec: Experiment, variants: Sequence, option: Option, pair: Mapping[str, Any], n: int, where: str
) -> Iterator[Test]:
    at = f"{where}: primary[{n}]"
    if unlike := set(pair) ^ {*KEYS, *(set(pair) & set(OPTIONAL))}:
        raise ConfigError(
            f"{at} {'lacks' if unlike - set(pair) else 'has'} {', '.join(sorted(unlike))}; "
            f"allowed: {', '.join(KEYS)}, and optionally {', '.join(OPTIONAL)}. Fix: correct that entry."
        )
    metrics = [pair["metrics"]] if isinstance(pair["metrics"], str) else pair["metrics"]
    if "/" in pair["row"]:
        _check_scorers(at, pair, variants, option)
        _check(f"{at}.metrics", metrics, SELECTED)
        yield from ({"row": pair["row"], "minus": pair["minus"], "metric": metric} for metric in metrics)
        return
    under = pair.get("under")
    _check(f"{at}.under", [under] if under else [], [f.name for f in fields(System)])
    labels = [inline.label(v if isinstance(v, str) else inline.changed("", v)) for v in spec.axes.get(under, ())]
    names = list(dict.fromkeys(v.system for v in variants))
    for side in ("row", "minus"):
        _check(f"{at}.{side}", [pair[side]], names)
    for label in ("", *labels):
        row, minus = (_under(pair[side], label) for side in ("row", "minus"))
        if row in names and minus in names:
            _check_difference(at, pair, variants, row, minus, metrics)
            _check(f"{at}.metrics", metrics, _measured([v for v in variants if v.system == row], option))
            yield from ({"row": row, "minus": minus, "metric": metric} for metric in metrics)


def _under(name: str, label: str) -> str:
    """Name of a row under an option of a further axis.

    >>> _under("beam", "gemma"), _under("beam:lines", "gemma"), _under("beam", "")
    ('beam:gemma', 'beam:lines+gemma', 'beam')
    """
    return f"{name}{'+' if ':' in name else ':'}{label}" if label else name


def _check(at: str, values: Sequence[Any], allowed: Sequence[str]) -> None:
    """Raises ConfigError for a value that is not allowed."""
    for value in (value for value in values if value not in allowed):
        raise ConfigError(
            f"{at} names {value}, allowed: {', '.join(allowed) or 'none'}{nearest(str(value), allowed)}. "
            "Fix: correct that entry, or declare no family: experiment.primary=[]"
        )


def _check_scorers(at: str, pair: Mapping[str, Any], variants: Sequence, option: Option) -> None:
    """Raises ConfigError unless both sides are joined scores of one system, and the second a matched baseline of the first."""
    (system, _, scorer), (other, _, baseline) = (pair[side].partition("/") for side in ("row", "minus"))
    joined = {v.system: option("rankers", v["rankers"]) for v in variants if v["family"] == "utility"}
    _check(f"{at}.row", [system], list(joined))
    _check(f"{at}.minus", [other], [system])
    _check(f"{at}.under", [pair["under"]] if "under" in pair else [], [])
    matched = matched_baselines(joined[system].scores, joined[system].utilities)
    _check(f"{at}.row", [scorer], list(matched))
    _check(f"{at}.minus", [baseline], matched[scorer])
    _check(f"{at}.differs", [pair["differs"]], [MODEL])


def _check_difference(
    at: str, pair: Mapping[str, Any], variants: Sequence, row: str, minus: str, metrics: Sequence[str]
) -> None:
    """Raises ConfigError for rows without an order in common, and unless they differ in one axis, named or described."""
    sides = [{(v.dataset, v.order): dict(v.axes) for v in variants if v.system == name} for name in (row, minus)]
    common = sides[0].keys() & sides[1].keys()
    if not common:
        raise ConfigError(f"{at}: {row} and {minus} have no data set and order in common. Fix: correct that entry.")
    for place, metric in product(sorted(common, key=str), metrics):
        axes = differing(*(side[place] for side in sides), metric)
        named = pair["differs"]
        if len(axes) != 1 or (named in AXES and named not in axes):
            raise ConfigError(
                f"{at}.differs is {named!r}, but {row} and {minus} differ in {', '.join(axes) or 'nothing'}; a matched "
                "baseline differs in one axis. Fix: correct that entry."
            )


def _measured(variants: Sequence, option: Option) -> list[str]:
    """The metrics that are compared of a row: by budget, by cutoff of its data sets, and those of answers."""
    settings, names = option("eval", "default"), {}
    for variant in variants:
        dataset = option("dataset", variant.dataset)
        shown = headlines(plugins.names_in([*settings.metrics, *dataset.metrics]))
        names |= dict.fromkeys(f"{name}@{b}" for name in shown for b in ("claim", *settings.budgets))
        names |= dict.fromkeys(f"{name}@{k}" for name in RANKED for k in dataset.cutoffs)
        if variant.gained:
            names |= dict.fromkeys(f"{GAIN}@{b}" for b in ("claim", *settings.gain_budgets))
            names[f"{OWN}@{settings.gain_control}"] = None
        names |= dict.fromkeys(f"judged_acc@{judge}" for judge in variant.judges)
        if option("assembly", variant["assembly"]).is_priced:
            names |= dict.fromkeys(f"{utility.NAME}@{price}" for price in settings.prices)
    others = [name for name in headlines(FIGURES) if name not in (*RANKED, GAIN, OWN, utility.NAME, "judged_acc")]
    return [*names, *others]
