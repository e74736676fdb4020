"""Whether a sync should run now, why, and when a failed one is tried again (spec 003, sync triggers)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

from apps.core.domain.errors import InvalidInputError

UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
DURATION = re.compile(r"(?:\d{1,9}[dhms])+", re.ASCII)
PART = re.compile(r"(\d+)([dhms])")
MAX_DURATION_SECONDS = 3_650 * 86_400
# Clocks of two machines may differ by so much; a time further ahead was taken from a clock that was wrong.
MAX_AHEAD = timedelta(minutes=5)
FIRST_DELAY = timedelta(minutes=1)
LONGEST_DELAY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class TriggerFacts:
    """What decides about the next sync: settings of a source, and the state that the last sync left.

    retries: failures in a row. next_try_at: not before then. has_more: `max_items` left items for the next run.
    """

    last_sync_at: datetime | None = None
    sessions_since_sync: int = 0
    staleness_seconds: int | None = None
    session_threshold: int | None = None
    daily_at: time | None = None
    is_enabled: bool = True
    paused: str = ""
    retries: int = 0
    next_try_at: datetime | None = None
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class ShouldSync:
    """Whether a sync should run now. reason: one word. detail: for people. due_at: since when, or when next if known.

    reason: `threshold` for staleness and sessions, `scheduled`, `retry`, `remaining` after a limit; `manual` where
    no trigger is met; `paused`, `disabled` and `backoff` keep one from running.
    """

    should: bool
    reason: str
    detail: str
    due_at: datetime | None = None


def parse_duration(text: str, attr: str | None = None) -> int:
    """Return the seconds of a duration such as `6h`, `90m`, `1d12h` or `45s`.

    Raises InvalidInputError for anything else, for nothing, and for more than ten years.
    """
    clean = text.strip().lower()
    seconds = sum(int(number) * UNITS[unit] for number, unit in PART.findall(clean)) if DURATION.fullmatch(clean) else 0
    if not 1 <= seconds <= MAX_DURATION_SECONDS:
        raise InvalidInputError(
            "A duration is a number with s, m, h or d, such as 6h, of at most ten years.", attr=attr
        )
    return seconds


def format_duration(seconds: int) -> str:
    """Return a duration as `parse_duration` reads it, such as `1d12h`."""
    parts = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def should_sync(facts: TriggerFacts, now: datetime) -> ShouldSync:
    """Return whether a sync should run now. Of several triggers that are met the first one names the reason.

    A last sync in the future, after a clock was set back, counts as none, so that it does not keep the next one away.
    """
    if facts.last_sync_at and facts.last_sync_at > now + MAX_AHEAD:
        facts = replace(facts, last_sync_at=None)
    if not facts.is_enabled:
        return ShouldSync(False, "disabled", "The source is disabled.")
    if facts.paused:
        return ShouldSync(False, "paused", f"The source is paused: {facts.paused}")
    if facts.next_try_at and now < facts.next_try_at:
        detail = f"Failed {facts.retries} times in a row; it is tried again later."
        return ShouldSync(False, "backoff", detail, facts.next_try_at)
    met = next(triggers_met(facts, now), None)
    if met:
        return met
    daily = last_time(facts.daily_at, now) + timedelta(days=1) if facts.daily_at else None
    due = min(filter(None, (staleness_ends(facts), daily)), default=None)
    detail = "The source has no trigger; a person or a program starts its syncs."
    if facts.session_threshold:
        detail = f"{facts.sessions_since_sync} sessions since the last sync, of {facts.session_threshold}."
    return ShouldSync(False, "manual", "No trigger is met." if due else detail, due)


def triggers_met(facts: TriggerFacts, now: datetime) -> Iterator[ShouldSync]:
    """Yield the triggers that are met. A source that was never synced is due as soon as it has any trigger."""
    if facts.retries:
        yield ShouldSync(True, "retry", f"Failed {facts.retries} times in a row.", facts.next_try_at)
    if facts.has_more:
        yield ShouldSync(True, "remaining", "The last sync left items for the next one.", facts.last_sync_at)
    if facts.last_sync_at is None and (facts.staleness_seconds or facts.session_threshold):
        yield ShouldSync(True, "threshold", "It was never synced.", now)
    elif facts.last_sync_at is not None:
        stale_at = staleness_ends(facts)
        if stale_at and now > stale_at:
            words = format_duration(facts.staleness_seconds or 0)
            yield ShouldSync(True, "threshold", f"The last sync is more than {words} ago.", stale_at)
        if facts.session_threshold and facts.sessions_since_sync >= facts.session_threshold:
            words = f"{facts.sessions_since_sync} sessions since the last sync, of {facts.session_threshold}."
            yield ShouldSync(True, "threshold", words, now)
    if facts.daily_at:
        due = last_time(facts.daily_at, now)
        if facts.last_sync_at is None or facts.last_sync_at < due:
            yield ShouldSync(True, "scheduled", f"Due every day at {facts.daily_at:%H:%M} UTC.", due)


def staleness_ends(facts: TriggerFacts) -> datetime | None:
    """Return when the last sync is too old, if there is such a moment."""
    if facts.last_sync_at is None or not facts.staleness_seconds:
        return None
    return facts.last_sync_at + timedelta(seconds=facts.staleness_seconds)


def last_time(at: time, now: datetime) -> datetime:
    """Return the last moment, up to now, at which it was this time of the day in UTC."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today <= now else today - timedelta(days=1)


def retry_delay(failures: int) -> timedelta:
    """Return how long to wait after so many failures in a row: a minute after the first, doubled up to an hour."""
    doublings = min(max(failures, 1) - 1, 10)
    return min(FIRST_DELAY * (1 << doublings), LONGEST_DELAY)
