"""Whether and when a failed call to a model is tried again (spec 002 section 2).

The delay itself is `core`'s `Backoff`. The spec's jitter providers are the two `RNG`s of section 10: the system's,
and a deterministic one with a seed or a fixed sequence.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from email.utils import parsedate_to_datetime

from apps.core.domain.backoff import Backoff
from apps.core.domain.clock import to_datetime
from apps.core.domain.randomness import RNG

BASE_DELAY_MS = 500
MULTIPLIER = 2
MAX_DELAY_MS = 8_000
JITTER_RANGE_MS = 200
MAX_ATTEMPTS = 3
MAX_RETRY_AFTER_MS = 30_000
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")

DEFAULT_BACKOFF = Backoff(base_ms=BASE_DELAY_MS, multiplier=MULTIPLIER, max_ms=MAX_DELAY_MS, jitter_ms=JITTER_RANGE_MS)


@dataclass(frozen=True)
class CallRetryPolicy:
    """max_attempts: tries in all, the first one among them. max_retry_after_ms: a provider that asks for a longer
    pause is not waited for. The spec names neither.
    """

    backoff: Backoff = DEFAULT_BACKOFF
    max_attempts: int = MAX_ATTEMPTS
    max_retry_after_ms: int = MAX_RETRY_AFTER_MS


DEFAULT_RETRY_POLICY = CallRetryPolicy()


def retry_in_ms(
    policy: CallRetryPolicy,
    attempts: int,
    rng: RNG,
    *,
    retry_after_ms: int | None = None,
    remaining_ms: int | None = None,
) -> int | None:
    """Return the milliseconds until the next try after `attempts` (1 or more) failed ones; None to give up.

    retry_after_ms: the pause that the provider asked for; the wait is never shorter. remaining_ms: what is left of
    the caller's time; a wait that would use all of it is not begun.
    """
    if attempts >= policy.max_attempts or (retry_after_ms or 0) > policy.max_retry_after_ms:
        return None
    wait = max(policy.backoff.delay_ms(attempts - 1, rng), retry_after_ms or 0)
    return None if remaining_ms is not None and wait >= remaining_ms else wait


def parse_retry_after(header: str | None, now_ms: int) -> int | None:
    """Return the pause in milliseconds that a Retry-After header asks for (RFC 9110 section 10.2.3).

    Seconds, of which some servers send fractions, or an HTTP date. None when there is none or it cannot be read;
    0 for a date in the past.
    """
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return math.ceil(Decimal(text) * 1_000)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0, round((aware - to_datetime(now_ms)).total_seconds() * 1_000))
