"""Whether two statements have the same values, each of the same thing."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from apps.rules.domain.contradiction.restatement.senses import Sense, Value, key_of_part
from apps.rules.domain.contradiction.text import VALUES, Kind

FIRST_YEAR, LAST_YEAR = 1900, 2100
# How much a converted value may be rounded: "80 kg, about 176 pounds".
ROUNDED = 0.02
MANY = 2


def have_same_values(one: Sense, other: Sense) -> bool:
    """Return whether two statements have the same values; a year or weekday beside a date may be on one side only."""
    ours, theirs = distinct_values(one), distinct_values(other)
    left, right = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    has_date = any(kind.startswith(Kind.DATE.value) for kind, _, _ in ours)
    if (left and right) or not all(has_date and is_of_date(value) for value in (*left, *right)):
        return False
    if not count_the_same(one, other):
        return False
    common = Counter(ours) & Counter(theirs)
    kinds = Counter(kind for kind, _, _ in common)
    if max(kinds.values(), default=0) < MANY:
        return True
    if all(sequence(ours, common, kind) == sequence(theirs, common, kind) for kind in kinds):
        return one.order == other.order or places_of_values(one) == places_of_values(other)
    places = places_of_values(one)
    return places == places_of_values(other) and len({word for _, word in places}) == len(places)


def sequence(values: Iterable[Value], common: Counter[Value], kind: str) -> list[Value]:
    """Return the values of a kind that both statements have, in order."""
    return [value for value in values if value in common and value[0] == kind]


def count_the_same(one: Sense, other: Sense) -> bool:
    """Return whether no number counts different things: "two meetings on Monday", "meetings on two Mondays"."""
    ours, theirs = counted_in(one), counted_in(other)
    return all(ours[number] == theirs[number] for number in ours.keys() & theirs.keys())


def counted_in(sense: Sense) -> dict[str, str]:
    """Return the word right after each plain number."""
    return {
        token.key: key_of_part(after) if after.is_content else after.key
        for token, after in pairwise(sense.tokens)
        if token.kind is Kind.NUMBER and not token.unit and (after.is_content or after.kind in VALUES)
    }


def distinct_values(sense: Sense) -> list[Value]:
    """Return the values of a statement without those that only repeat another one in another unit."""
    kept: list[Value] = []
    for value in sense.values:
        kind, key, _ = value
        is_same = any(kind == known and is_near(key, number) for known, number, _ in kept)
        if not (is_same and kind.split()[1:]):
            kept.append(value)
    return kept


def is_near(one: str, other: str) -> bool:
    """Return whether two numbers are the same but for rounding."""
    try:
        first, second = float(one), float(other)
    except ValueError:
        return one == other
    return abs(first - second) <= ROUNDED * max(abs(first), abs(second))


def is_of_date(value: Value) -> bool:
    """Return whether a value only says more of a date: its year or weekday."""
    kind, key, link = value
    if link:
        return False
    is_year = kind == f"{Kind.NUMBER.value} " and key.isdigit() and FIRST_YEAR <= int(key) <= LAST_YEAR
    return is_year or kind.startswith(Kind.WEEKDAY.value)


def places_of_values(sense: Sense) -> set[tuple[str, str]]:
    """Return each value with the word right after it, or else the one before it."""
    found = set()
    for at, token in enumerate(sense.tokens):
        if token.kind in VALUES:
            after = [key_of_part(near) for near in sense.tokens[at + 1 : at + 2] if near.is_content]
            before = [key_of_part(near) for near in sense.tokens[:at] if near.is_content][-1:]
            found.add((f"{token.unit} {token.key}", "".join(after or before)))
    return found
