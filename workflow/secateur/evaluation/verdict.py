"""Whether there are enough data for a verdict, and the verdict in words."""

from secateur.evaluation.comparison import significant

__all__ = ["NOT_ENOUGH", "UNADJUSTED", "enough_data", "missing_data", "verdict"]

NOT_ENOUGH = "not enough data"
UNADJUSTED = " (unadjusted interval)"  # an interval without 0 beside a p after Holm above .05
FEW = 20  # questions below which there is no verdict, whatever the number of units


def enough_data(n, units, min_units: int):
    """Whether n questions in so many resampling units are enough for a verdict; takes numbers or columns."""
    return (n >= FEW) & (units >= min_units)


def missing_data(n: int, units: int, min_units: int, asked: str = "questions") -> str:
    """What a verdict lacks, in words; empty for enough data. Units of fewer than n questions are documents.

    asked: which questions count.

    >>> missing_data(15, 15, 10), missing_data(40, 40, 10)
    ('about 5 more questions are needed for a verdict', '')
    >>> missing_data(40, 4, 10)
    'about 6 more documents with questions are needed for a verdict'
    """
    of_people = " by people" * (units == 1)  # all drafted questions are one unit
    units_of = asked if units == n else f"documents with questions{of_people}"
    lacking = {asked: max(FEW - n, 0)}
    lacking[units_of] = max(lacking.get(units_of, 0), min_units - units)
    more = " and ".join(f"{count} more {noun}" for noun, count in lacking.items() if count > 0)
    return f"about {more} are needed for a verdict" if more else ""


def verdict(p: float, enough: bool, low: float | None = None, high: float | None = None) -> str:
    """The result of a test in words; low, high: an interval that is not adjusted, where p is.

    >>> verdict(0.01, True), verdict(0.2, True, 0.1, 0.3), verdict(0.01, False)
    ('significant', 'not significant (unadjusted interval)', 'not enough data')
    """
    if not enough:
        return NOT_ENOUGH
    apart = low is not None and high is not None and not low <= 0 <= high
    return "significant" if significant(p) else f"not significant{UNADJUSTED * apart}"
