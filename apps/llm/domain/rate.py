"""The projected use of a provider's tokens, and whether to delay calls (spec 002 section 3).

The history is shared by all processes (DESIGN section 6), so these are pure functions of
the usage in a table, the reservations of calls under way, and the time.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

TOKENS_PER_MINUTE: Mapping[str, int] = {"claude": 40_000, "openai": 90_000}
THROTTLE_PERCENT = 80
MINUTE_MS = 60_000
DEFAULT_WINDOW_MS = MINUTE_MS
UNDER_WAY_RETRY_MS = 1_000
_TIMESTAMP = attrgetter("timestamp")


@dataclass(frozen=True)
class TokenUsage:
    """What one call used. timestamp: milliseconds since the epoch at which it is counted."""

    timestamp: int
    total_tokens: int

    def __post_init__(self) -> None:
        if self.total_tokens < 0:
            raise ValueError(f"A call uses 0 tokens or more, not {self.total_tokens}.")


@dataclass(frozen=True)
class RateLimit:
    """tokens_per_minute: None for a provider without a limit, such as a model on the same machine.

    window_ms: the length of the window; long enough that its limit is a token at least.
    """

    tokens_per_minute: int | None
    window_ms: int = DEFAULT_WINDOW_MS

    def __post_init__(self) -> None:
        if self.window_ms < 1:
            raise ValueError(f"A window lasts at least a millisecond, not {self.window_ms}.")
        if self.tokens is not None and self.tokens < 1:
            raise ValueError("The limit of the window is below one token, so no call could ever be made.")

    @property
    def tokens(self) -> int | None:
        """Return the tokens that the window may hold."""
        if self.tokens_per_minute is None:
            return None
        # The share of a minute's limit that falls to the window, rounded down: in whole numbers, so exact.
        return self.tokens_per_minute * self.window_ms // MINUTE_MS


@dataclass(frozen=True)
class Projection:
    """What the window holds and will hold.

    window_tokens_used: in the window. projected_tokens: what the waiting calls will add, at the average of the
    window. utilization_percent: of the limit, 0 without one; it may exceed 100. window_limit: None without one.
    """

    projected_tokens: float
    projected_total: float
    utilization_percent: float
    should_throttle: bool
    window_tokens_used: int
    window_limit: int | None


def project_token_usage(history: Iterable[TokenUsage], queue_depth: int, limit: RateLimit, now: int) -> Projection:
    """Return the spec's projection at `now` (milliseconds since the epoch).

    history: in any order. An entry exactly as old as the window still counts, and so does one from the future,
    which another machine's clock may have written. queue_depth: calls that wait to be made. Without usage in the
    window nothing is projected. Throttling begins above 80%, not at it; it is decided in whole numbers, and
    without a limit never.
    """
    recent = [usage for usage in history if usage.timestamp >= now - limit.window_ms]
    return project_load(Load(0, 0).plus(recent), queue_depth, limit.tokens)


class RateVerdict(StrEnum):
    """ALLOWED. THROTTLED: the projection is above 80%. FULL: the window has no room now for the call's own tokens.

    TOO_LARGE: no window has room for it.
    """

    ALLOWED = "allowed"
    THROTTLED = "throttled"
    FULL = "full"
    TOO_LARGE = "too_large"


@dataclass(frozen=True)
class RateDecision:
    """retry_after_ms: after how long the same request is allowed if nothing else happens.

    A second where calls under way use the room, since their end is unknown; None where the call is allowed, or where
    another request is of no use.
    """

    verdict: RateVerdict
    projection: Projection
    retry_after_ms: int | None = None

    @property
    def allowed(self) -> bool:
        """Return whether the call may be made."""
        return self.verdict is RateVerdict.ALLOWED


def decide_rate(
    settled: Collection[TokenUsage],
    reserved: Collection[TokenUsage],
    estimated_tokens: int,
    limit: RateLimit,
    now: int,
    queue_depth: int = 1,
) -> RateDecision:
    """Decide whether a call may be made that will use at most `estimated_tokens`.

    The spec only projects; this adds that calls under way count as well, so that callers at once cannot pass
    together what none may pass alone. settled: usage of finished calls. reserved: the estimates of calls under
    way, which count however long they take. queue_depth: calls that wait, this one among them. If no call uses
    more than its estimate, the window never holds more than its limit.
    """
    if estimated_tokens < 0:
        raise ValueError(f"A call uses 0 tokens or more, not {estimated_tokens}.")
    recent = [usage for usage in settled if usage.timestamp >= now - limit.window_ms]
    load = Load(0, 0).plus(reserved).plus(recent)
    projection = project_load(load, queue_depth, limit.tokens)
    verdict = judge_projection(projection, estimated_tokens)
    if verdict in (RateVerdict.ALLOWED, RateVerdict.TOO_LARGE):
        return RateDecision(verdict, projection)
    wait = UNDER_WAY_RETRY_MS
    for timestamp, leaving in groupby(sorted(recent, key=_TIMESTAMP), key=_TIMESTAMP):
        load = load.plus(list(leaving), -1)
        rest = project_load(load, queue_depth, limit.tokens)
        if judge_projection(rest, estimated_tokens) is RateVerdict.ALLOWED:
            wait = timestamp + limit.window_ms + 1 - now
            break
    return RateDecision(verdict, projection, retry_after_ms=wait)


class Load(NamedTuple):
    """What counts at one moment: `used` tokens by `calls` calls."""

    used: int
    calls: int

    def plus(self, usages: Collection[TokenUsage], sign: int = 1) -> "Load":
        """Return the load with these usages added, or removed."""
        return Load(self.used + sign * sum(usage.total_tokens for usage in usages), self.calls + sign * len(usages))


def project_load(load: Load, queue_depth: int, limit: int | None) -> Projection:
    """Return the projection of a load and of the calls that wait."""
    if queue_depth < 0:
        raise ValueError(f"A queue holds 0 calls or more, not {queue_depth}.")
    used, calls = load
    if calls == 0:
        return Projection(0.0, 0.0, 0.0, should_throttle=False, window_tokens_used=0, window_limit=limit)
    projected = used * queue_depth / calls
    return Projection(
        projected_tokens=projected,
        projected_total=used + projected,
        utilization_percent=0.0 if limit is None else (used + projected) / limit * 100,
        should_throttle=limit is not None and used * (calls + queue_depth) * 100 > THROTTLE_PERCENT * limit * calls,
        window_tokens_used=used,
        window_limit=limit,
    )


def judge_projection(projection: Projection, estimated_tokens: int) -> RateVerdict:
    """Return whether a call of `estimated_tokens` may be made."""
    limit = math.inf if projection.window_limit is None else projection.window_limit
    if estimated_tokens > limit:
        return RateVerdict.TOO_LARGE
    if projection.should_throttle:
        return RateVerdict.THROTTLED
    return RateVerdict.FULL if projection.window_tokens_used + estimated_tokens > limit else RateVerdict.ALLOWED
