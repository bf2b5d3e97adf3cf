"""What text in a cell can be: numbers with points or commas, dates, marks for what nobody observed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MISSING = frozenset({"na", "n/a", "nan", "null", "none", "?", ".", "#n/a", "-"})
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+")
_ENGLISH = re.compile(r"[-+]?\d{1,3}(,\d{3})+\.\d+")
_MEASURE = re.compile(r"[$€£¥]?\s?[-+]?\d[\d.,' \u00a0]*\s?([$€£¥%]|[^\W\d_]{1,3})?")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)( .*)?|\d{4}/\d\d?/\d\d?( .*)?")


def is_number(field: str) -> bool:
    """Whether text is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def is_comma_number(field: str) -> bool:
    """Whether text is a number with a decimal comma."""
    return _COMMA.fullmatch(field) is not None


def is_readable(field: str) -> bool:
    """Whether text is a number in any way of writing: 1.5, 1,5 or 1,234.5."""
    return is_number(field) or is_comma_number(field) or _ENGLISH.fullmatch(field) is not None


def is_measure(field: str) -> bool:
    """Whether text is a number with a unit, a currency or a percent sign.

    Examples
    --------
    >>> [is_measure(field) for field in ("$3.50", "12 km", "50%", "1 200", "ann")]
    [True, True, True, True, False]
    """
    return _MEASURE.fullmatch(field) is not None


def is_date(field: str) -> bool:
    """Whether text is a date, perhaps with a time of day."""
    return _DATE.fullmatch(field) is not None


def is_value(field: str) -> bool:
    """Whether text is a number, with a point or a comma, or a date."""
    return is_readable(field) or is_date(field)


def to_number(field: str, decimal: str) -> float:
    """Text as a number; ValueError if it is none in this way of writing.

    Examples
    --------
    >>> to_number("1,5", ","), to_number("1.234,5", ","), to_number("1.5", "."), to_number("1,234.5", ".")
    (1.5, 1234.5, 1.5, 1234.5)
    """
    if decimal != "," and _ENGLISH.fullmatch(field):
        return float(field.replace(",", ""))
    if decimal == "." or ("," not in field and "." not in field):
        return float(field)
    if decimal != "," and "," not in field:
        return float(field)
    if decimal != "," or not is_comma_number(field):
        raise ValueError(field)
    return float(field.replace(".", "").replace(",", "."))


def find_decimal(fields: Iterable[str]) -> str | None:
    """The mark of decimals, "." or ","; None where commas could as well part thousands.

    Examples
    --------
    >>> find_decimal(["1,5", "2"]), find_decimal(["1.5"]), find_decimal(["1,234", "5,678"])
    (',', '.', None)
    """
    with_comma = [field for field in fields if is_comma_number(field)]
    if not with_comma:
        return "."
    return None if all(_THOUSANDS.fullmatch(field) for field in with_comma) else ","


def are_times(fields: Sequence[str]) -> bool:
    """Whether all are seconds or milliseconds since 1970, of the years 1980 to 2060, or years of a calendar.

    Three lines at least: a single 2000 may be a weight.
    """
    if len(fields) < 3 or not all(field.isascii() and field.isdigit() for field in fields):
        return False
    numbers = [int(field) for field in fields]
    low, high = min(numbers), max(numbers)
    seconds = any(3.2e8 * unit <= low and high <= 2.85e9 * unit for unit in (1, 1000))
    return seconds or (1800 <= low < high <= 2100)
