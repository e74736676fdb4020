"""Durations in words."""

from datetime import timedelta

MINUTE, HOUR, DAY = 60, 3600, 86_400


def in_words(duration: timedelta) -> str:
    """Return a duration in its largest units: `40 s`, `3 min`, `2 h 5 min`, `4 days`."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        minutes = seconds % HOUR // MINUTE
        return f"{seconds // HOUR} h {minutes} min" if minutes else f"{seconds // HOUR} h"
    days = seconds // DAY
    return "1 day" if days == 1 else f"{days:,} days"
