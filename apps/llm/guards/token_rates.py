"""The token rate in the database: one row for each call that is under way or was a minute ago (spec 002 section 3).

Who reserves holds a lock of the provider, so callers come one after another. Rows that nobody settled stop counting
when they expire, and settled ones when they have left the window; neither needs a sweep for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime
from apps.llm.domain.projection import Projection, RateDecision, RateLimit, TokenUsage, decide_rate, project_token_usage
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.rules import GuardRules
from apps.llm.models import TokenUse

# Any number that no other pair of advisory locks of this project has.
_RATE_LOCK = 0x7261_7465
_EPOCH = to_datetime(0)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class TokenGrant:
    """The decision about a call.

    reservation_id: to be settled or released; None when it is refused, or the provider has no limit.
    """

    decision: RateDecision
    reservation_id: int | None = None


def tokens_reserve(
    *,
    provider: str,
    model: str,
    estimated_tokens: int,
    rules: GuardRules,
    queue_depth: int = 1,
    clock: Clock = SYSTEM_CLOCK,
) -> TokenGrant:
    """Set aside the most tokens that a call may use, if the provider's minute has room for them.

    queue_depth: calls that wait, this one among them. A provider without a limit is not asked about.
    """
    limit, now = rules.rate_limit(provider), clock.now()
    if limit.tokens_per_minute is None:
        return TokenGrant(decide_rate([], [], estimated_tokens, limit, now, queue_depth))
    with transaction.atomic(savepoint=False):
        _hold(provider)
        settled, reserved = _history(provider, limit, now)
        decision = decide_rate(settled, reserved, estimated_tokens, limit, now, queue_depth)
        if not decision.allowed:
            return TokenGrant(decision)
        row = TokenUse.objects.create(
            provider=provider,
            model=model,
            tokens=estimated_tokens,
            reserved_at=to_datetime(now),
            expires_at=to_datetime(now + rules.reservation_ms),
        )
    return TokenGrant(decision, row.pk)


def tokens_settle(*, reservation_id: int, total_tokens: int, clock: Clock = SYSTEM_CLOCK) -> None:
    """Record what a call used, which counts from now on for a minute. Raises UnknownReservationError."""
    open_row = TokenUse.objects.filter(pk=reservation_id, settled_at=None)
    if not open_row.update(tokens=total_tokens, settled_at=to_datetime(clock.now())):
        raise UnknownReservationError(f"There is no reservation {reservation_id} of tokens to settle.")


def tokens_release(*, reservation_id: int) -> None:
    """Give back the tokens of a call that used none. Raises UnknownReservationError."""
    if not TokenUse.objects.filter(pk=reservation_id, settled_at=None).delete()[0]:
        raise UnknownReservationError(f"There is no reservation {reservation_id} of tokens to release.")


def token_window(provider: str, *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> Projection:
    """What a provider's minute holds, calls under way among it."""
    limit, now = rules.rate_limit(provider), clock.now()
    settled, reserved = _history(provider, limit, now)
    under_way = [TokenUsage(now, usage.total_tokens) for usage in reserved]
    return project_token_usage([*settled, *under_way], 0, limit, now)


def _hold(provider: str) -> None:
    with connection.cursor() as cursor:
        # There may be no row yet that could be locked.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_RATE_LOCK, provider])


def _history(provider: str, limit: RateLimit, now: int) -> tuple[Sequence[TokenUsage], Sequence[TokenUsage]]:
    """The usage of settled calls and the estimates of those under way."""
    in_window = Q(settled_at__gte=to_datetime(now - limit.window_ms))
    under_way = Q(settled_at=None, expires_at__gt=to_datetime(now))
    settled, reserved = [], []
    rows = TokenUse.objects.filter(in_window | under_way, provider=provider)
    for settled_at, tokens in rows.values_list("settled_at", "tokens"):
        if settled_at is None:
            reserved.append(TokenUsage(now, tokens))
        else:
            settled.append(TokenUsage((settled_at - _EPOCH) // _MILLISECOND, tokens))
    return settled, reserved
