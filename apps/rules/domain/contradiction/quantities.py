"""Quantities in one unit: 90 minutes, an hour and a half and 1.5 h are the same."""

import re

from apps.rules.domain.contradiction.text import Token, TokenKind
from apps.rules.domain.contradiction.words import NUMBER_WORDS
from apps.rules.domain.wordlists import longest_first

_GROUPS: dict[str, dict[float, str]] = {
        "s": {
            0.001: "ms millisecond milliseconds", 1: "s sec secs second seconds", 60: "min mins minute minutes",
            3600: "h hr hrs hour hours", 86400: "day days", 604800: "week weeks",
        },
        "months": {1: "month months", 12: "year years yr yrs"},
        "g": {
            1: "g gram grams gramme grammes", 1000: "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes",
            453.592: "lb lbs", 1e6: "tonne tonnes",
        },
        "mg": {1: "mg milligram milligrams"},
        "m": {
            0.001: "mm millimetre millimetres millimeter millimeters",
            0.01: "cm cms centimetre centimetres centimeter centimeters", 1: "m metre metres meter meters",
            1000: "km kms kilometre kilometres kilometer kilometers",
        },
        "mi": {1: "mile miles"},
        "l": {0.001: "ml millilitre millilitres milliliter milliliters", 0.01: "cl", 1: "l litre litres liter liters"},
        "mb": {
            1 / 1024: "kb kilobyte kilobytes kib", 1: "mb megabyte megabytes mib",
            1024: "gb gigabyte gigabytes gib gig gigs",
            1048576: "tb terabyte terabytes tib",
        },
        "eur": {1: "€ euro euros eur"},
        "usd": {1: "$ dollar dollars usd bucks"},
        "gbp": {1: "£ gbp quid"},
        "chf": {1: "chf francs"},
        "jpy": {1: "¥ yen jpy"},
        "%": {1: "% percent per-cent"},
        "degrees": {1: "° °c degree degrees celsius"},
}  # fmt: skip
# Unit -> its canonical unit and how many of these it is.
_UNITS = {
    name: (canonical, factor)
    for canonical, group in _GROUPS.items()
    for factor, names in group.items()
    for name in names.split()
}
_NUMBER_WORD = longest_first(word for word in NUMBER_WORDS if word not in ("first", "second", "third"))
_UNIT = longest_first(re.escape(name) for name in _UNITS if name.isalpha() and len(name) > 1)
UNIT_WORDS = frozenset(name for name in _UNITS if name.isalpha())
QUANTITY = re.compile(
    rf"(?P<sign>[€$£¥])\s?(?P<money>\d[\d,]*(?:\.\d+)?)"
    rf"|\b(?P<amount>(?<!\d,)\d[\d,]*+(?:\.\d+)?|half an?|an?|{_NUMBER_WORD})(?P<half> and a half)?[ -]?"
    rf"(?P<unit>{_UNIT}|[€£]|°C?|(?<=\d)[smhgl]|(?<=\d )[smhgl])(?!\w)"
    rf"(?P<after> and a half| and a quarter)?|(?P<share>(?<!\d)\d++(?:\.\d++)?) ?%",
    re.IGNORECASE,
)


def read_quantity(found: re.Match[str]) -> Token:
    """Return the token of a quantity, in its canonical unit."""
    if found["sign"]:
        amount, unit = found["money"], found["sign"]
    elif found["share"]:
        amount, unit = found["share"], "%"
    else:
        amount, unit = found["amount"], found["unit"]
    value = amount_of(amount)
    if found["half"]:
        value += 0.5
    if found["after"]:
        value += 0.25 if "quarter" in found["after"] else 0.5
    canonical, factor = _UNITS[unit.lower()]
    return Token(found[0].lower(), f"{value * factor:.8g}", TokenKind.NUMBER, unit=canonical)


def amount_of(text: str) -> float:
    """Return the number that a text says: "1,200", "twelve", "an", "half an"."""
    plain = text.lower()
    if plain.startswith("half"):
        return 0.5
    if plain in ("a", "an"):
        return 1.0
    return float(NUMBER_WORDS[plain]) if plain in NUMBER_WORDS else float(plain.replace(",", "").rstrip("."))
