"""Numbers as words: one form for each value, and the parts of dates, times, versions and addresses."""

import re
import unicodedata

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_SEPARATOR = re.compile(r"[.,:/\-]")


def number_words(token: str) -> list[str]:
    """Return the words of a token of digits and `. , : / -` between them.

    "1,000" = "1000", "3,5" = "3.5", "08" = "8", digits of any script = ASCII digits. Anything with more
    separators becomes itself and its parts, and a date that begins with the year its ISO form: "2023/5/8" ->
    "2023-05-08", "2023", "5", "8".
    """
    token = "".join(str(unicodedata.decimal(c, c)) for c in token)
    if _GROUPED.fullmatch(token):
        token = token.replace(",", "")
    decimal = _DECIMAL.fullmatch(token)
    if decimal:
        return [f"{_plain(decimal[1])}.{decimal[2]}"]
    parts = [_plain(part) for part in _SEPARATOR.split(token)]
    year_first = _YEAR_FIRST.fullmatch(token)
    whole = f"{year_first[1]}-{year_first[2]:0>2}-{year_first[3]:0>2}" if year_first else token
    return parts if len(parts) == 1 else [whole, *parts]


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"
