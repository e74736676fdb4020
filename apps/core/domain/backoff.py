"""Capped exponential backoff with jitter, for retries of every kind (spec 002 section 2)."""

import math
from dataclasses import dataclass

from apps.core.domain.randomness import RNG


@dataclass(frozen=True)
class Backoff:
    """How long to wait before each further try.

    base_ms: the first delay. multiplier: growth per attempt. max_ms: cap before jitter.
    jitter_ms: up to this much is added or subtracted.
    """

    base_ms: int
    multiplier: float
    max_ms: int
    jitter_ms: int = 0

    def delay_ms(self, attempt: int, rng: RNG) -> int:
        """Return the milliseconds to wait after attempt number `attempt` (0 for the first) failed; never negative."""
        jitter = int(rng.next_float() * (self.jitter_ms * 2 + 1)) - self.jitter_ms
        try:
            delay = self.base_ms * math.pow(self.multiplier, attempt)
        except OverflowError:
            delay = self.max_ms if self.base_ms else 0
        return max(0, int(min(delay, self.max_ms)) + jitter)
