"""Exact match by the kind of the gold answer: numbers as values with units, dates by their precision, yes or no, names.

SQuAD's normalisation deletes what tells 3.5 from 35, -5 from 5, $5 from 5 % and C# from C++.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from secateur.models.units import units
from secateur.models.words import folded

__all__ = ["is_typed", "typed_match"]

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
SMALL += " eighteen nineteen twenty"
WORDS = {word: n for n, word in enumerate(SMALL.split())}
WORDS |= {
    word: 10 * n for n, word in enumerate(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 3)
}
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SCALES |= {"k": 10**3, "m": 10**6, "bn": 10**9}  # after a number without a blank
SAME_UNITS = {  # unit: other ways to write it
    "%": "percent per cent",
    "$": "dollar dollars usd us$",
    "€": "euro euros eur",
    "£": "pound pounds gbp sterling",
    "km": "kilometre kilometres kilometer kilometers kms",
    "m": "metre metres meter meters",
    "cm": "centimetre centimetres centimeter centimeters",
    "mm": "millimetre millimetres millimeter millimeters",
    "mi": "mile miles",
    "ft": "foot feet",
    "kg": "kilogram kilograms kilogramme kilogrammes kilo kilos",
    "g": "gram grams gramme grammes",
    "mg": "milligram milligrams",
    "l": "litre litres liter liters",
    "h": "hour hours hr hrs",
    "min": "minute minutes mins",
    "s": "second seconds sec secs",
    "°c": "°celsius celsius degrees celsius",
    "°f": "fahrenheit degrees fahrenheit",
}
UNIT = {other: unit for unit, others in SAME_UNITS.items() for other in others.split()}
UNIT |= {"per cent": "%", "degrees celsius": "°c", "degrees fahrenheit": "°f", "us dollars": "$"}
ABOUT = re.compile(r"^(?:about|around|approximately|some|exactly|circa|ca\.|c\.|in|on|at|the|a|an)\s+")
PLAIN = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
NUMBER = re.compile(
    rf"(?P<sign>[-−]|minus )?(?P<before>us\$|[$€£])?\s?(?P<value>{PLAIN})(?P<scale>k|m|bn)?(?!\w)"
    r"\s?(?P<rest>(?:[a-z]+|[%‰°][cf]?)(?:[ /][a-z]+)?)?(?P<after>\s?[$€£])?"
)
FRACTION = re.compile(r"(-?\d+)/(\d+)")
TIME = re.compile(r"(\d{1,2}(?=:|\s?[ap]\.?m)(?::\d\d){0,2})\s?([ap]\.?m\.?)?")
RANGE = re.compile(rf"({PLAIN})\s?(?:-|–|—|to)\s?({PLAIN})")
LONG = "january february march april may june july august september october november december".split()  # noqa: SIM905
MONTHS = {name[:3]: n for n, name in enumerate(LONG, 1)}
MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in LONG)}|sept)\.?"
DATES = [
    re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?"),
    re.compile(rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?{MONTH}(?:,? (?P<year>\d{{4}}))?"),
    re.compile(rf"{MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>\d{{4}}))?"),
]
YEAR = re.compile(r"[12]\d{3}")
YES_OR_NO = re.compile(r"(?:yes|no|true|false)(?:$|[,;:!.](?!\s?\d))")
YES_NO = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


@dataclass(frozen=True)
class Quantity:
    """A value with its unit. half: half of its last digit."""

    value: Fraction
    half: Fraction
    unit: str


def typed_match(answer: str, gold: str) -> float:
    """1 if an answer is the gold one, else 0: whole numbers and units equal, decimals within rounding, dates to gold's precision.

    >>> typed_match("3.52", "3.5"), typed_match("3.5", "35"), typed_match("1.2 million", "1,200,000"), typed_match("$5", "5%")
    (1.0, 0.0, 1.0, 0.0)
    >>> typed_match("4 May 1999", "May 1999"), typed_match("May 1999", "4 May 1999"), typed_match("No, never.", "no")
    (1.0, 0.0, 1.0)
    """
    from secateur.evaluation.answers import exact_match

    ours, theirs = _plain(answer), _plain(gold)
    if theirs in YES_NO:
        opening = YES_OR_NO.match(ours)
        turned = {YES_NO[word] for word in re.findall(r"[a-z]+", ours) if word in YES_NO}
        return float(opening is not None and turned == {YES_NO[theirs]})
    if wanted := _date(theirs):
        fields = _date(ours) or {}
        return float(all(fields.get(part) == value for part, value in wanted.items()))
    if time := TIME.fullmatch(theirs):
        other = TIME.fullmatch(ours)
        return float(other is not None and _time(other) == _time(time))
    if (wanted := _quantity(theirs)) is not None:
        number = _quantity(ours)
        date = _date(ours)
        if date and YEAR.fullmatch(theirs):
            return float(date.get("year") == int(theirs))
        return float(
            number is not None and number.unit == wanted.unit and abs(number.value - wanted.value) <= wanted.half
        )
    if pair := _range(theirs):
        return float(_range(ours) == pair)
    if not _named(gold):
        return float(ours == theirs)
    numbered = any(map(str.isdigit, answer + gold))
    same = _named(answer) == _named(gold) if numbered else [*_odd(answer)] == [*_odd(gold)]
    return float(exact_match(answer, gold) == 1 and same)


def is_typed(gold: str) -> bool:
    """Whether an answer is a number, a date, a time, or yes or no; all others are compared as names."""
    text = _plain(gold)
    typed = text in YES_NO or _date(text) or _quantity(text) is not None or _range(text) or TIME.fullmatch(text)
    return bool(typed)


def _plain(text: str) -> str:
    """A text without case, outer punctuation, and words that make a number no other."""
    raised = re.sub(r"[⁰¹²³⁴-⁹]+", lambda mark: f"^{mark[0]}", text)
    plain = re.sub(r"[−–](?=\d)", "-", " ".join(folded(raised).split())).strip("\"'“”‘’!?;, ").removesuffix(".")
    while (shorter := ABOUT.sub("", plain)) != plain:
        plain = shorter
    return plain


def _named(text: str) -> list[str]:
    return [unit for unit in units(text) if unit not in ("a", "an", "the")]


def _odd(text: str) -> Iterator[str]:
    """The units of a text that hold more than letters and digits, such as c#."""
    return (unit for unit in units(text) if not unit.isalnum())


def _quantity(text: str) -> Quantity | None:
    """A number with its unit; None for any other text."""
    if part := FRACTION.fullmatch(text):
        return Quantity(Fraction(int(part[1]), int(part[2])), Fraction(0), "") if int(part[2]) else None
    word = text.split(" ", 1)[0].split("-")
    if all(part in WORDS for part in word) and (
        len(word) == 1 or (len(word) == 2 and WORDS[word[0]] >= 20 > 10 > WORDS[word[1]])
    ):
        text = str(sum(WORDS[part] for part in word)) + text[len("-".join(word)) :]
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    digits = match["value"].replace(",", "")
    exact, step = Fraction(Decimal(digits)), Fraction(1, 10 ** len(digits.partition(".")[2]))
    scale, tail = SCALES.get(match["scale"] or "", 1), match["rest"] or ""
    first, _, others = tail.partition(" ")
    if first in SCALES and len(first) > 2:
        scale, tail = scale * SCALES[first], others
    named = [UNIT.get(unit, unit) for unit in (match["before"], tail, (match["after"] or "").strip()) if unit]
    sign = -1 if match["sign"] else 1
    # A whole number is meant exactly: what it was rounded from is not to be seen.
    return Quantity(sign * exact * scale, step * scale / 2 if "." in digits else Fraction(0), " ".join(named))


def _range(text: str) -> tuple[str, str] | None:
    match = RANGE.fullmatch(text)
    return (match[1].replace(",", ""), match[2].replace(",", "")) if match else None


def _time(match: re.Match) -> tuple[str, str]:
    return match[1].lstrip("0"), (match[2] or "").replace(".", "")


def _date(text: str) -> dict[str, int] | None:
    """Year, month and day as far as a text has them, with a month at least; None for any other text."""
    for pattern in DATES:
        if match := pattern.fullmatch(text):
            fields = {part: value for part, value in match.groupdict().items() if value}
            return {part: MONTHS.get(value[:3]) or int(value) for part, value in fields.items()}
    return None
