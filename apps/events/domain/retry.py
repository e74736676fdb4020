"""When a failed delivery is retried, when it is given up, and what is stored about its error."""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import RNG

MAX_ERROR_CHARS = 300
MIN_REDACTED_CHARS = 3


@dataclass(frozen=True)
class RetryPolicy:
    """backoff: the wait between tries. max_attempts: tries before a delivery is given up.

    max_claims: how often a worker may die while it runs a delivery before that is given up, too.
    """

    backoff: Backoff
    max_attempts: int
    max_claims: int

    def retry_in_ms(self, attempts: int, rng: RNG) -> int | None:
        """Return the milliseconds until the next try after `attempts` (1 or more) failed ones; None to give up."""
        if attempts >= self.max_attempts:
            return None
        return self.backoff.delay_ms(attempts - 1, rng)


# 5 s, 15 s, 45 s, ... capped at an hour: ten tries spread over some four hours.
DEFAULT_POLICY = RetryPolicy(
    backoff=Backoff(base_ms=5_000, multiplier=3.0, max_ms=3_600_000, jitter_ms=1_000),
    max_attempts=10,
    max_claims=5,
)


def describe_error(error: BaseException, values: Iterable[object]) -> str:
    """Return type, place and first line of an error, without any of the payload's `values`.

    A database error quotes the rows that caused it, so of those only the SQLSTATE is kept.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    if state := getattr(error.__cause__, "sqlstate", None):
        text = f"SQLSTATE {state}"
    else:
        line = str(error).strip().split("\n", 1)[0]
        private = {value for value in values if isinstance(value, str) and len(value) >= MIN_REDACTED_CHARS}
        for value in sorted(private, key=len, reverse=True):
            line = line.replace(value, "…")
        text = "".join(c if c.isprintable() else " " for c in line)
    return f"{type(error).__name__} at {place}: {text}"[:MAX_ERROR_CHARS].rstrip(": ")
