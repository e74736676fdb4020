"""Tiles and bars of the admin's first page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Tile:
    """A number, what it counts, and a link to details. tone: good, warn, bad or empty."""

    label: str
    value: str
    note: str
    icon: str
    link: str
    tone: str = ""


def bars(by_day: Mapping[date, int]) -> list[dict[str, Any]]:
    """Return one bar per day; its height is a share of the highest, in percent. label: the count, short enough."""
    highest = max(by_day.values()) or 1
    return [
        {
            "day": day,
            "count": f"{count:,}",
            "label": short_number(count),
            "height": max(round(100 * count / highest), 2 if count else 0),
        }
        for day, count in by_day.items()
    ]


def short_number(count: int) -> str:
    """Format a count in five characters at most, up to a billion: 9,999, 10k, 999k, 1.0M, 999M. Never rounded up."""
    if count < 10_000:
        return f"{count:,}"
    if count < 1_000_000:
        return f"{count // 1_000}k"
    millions = count / 1_000_000
    return f"{int(millions * 10) / 10:.1f}M" if millions < 100 else f"{int(millions):,}M"
