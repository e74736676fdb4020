"""The token rate in the database: one row for each call that is under way or was a minute ago (spec 002 section 3).

Who reserves holds a lock of the provider, so callers come one after another. Rows that nobody settled stop counting
when they expire, and settled ones when they have left the window; neither needs a sweep for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.db import transaction

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime
from apps.llm.domain.rate import Projection, RateDecision, RateLimit, TokenUsage, decide_rate, project_token_usage
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.rules import GuardRules

# Any number that no other pair of advisory locks of this project has. There may be no row yet that could be locked.
_RATE_LOCK = 0x7261_7465
_HOLD = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"
# Moments as numbers, because reading a timestamp takes 0.01 ms.
_HISTORY = """
SELECT (extract(epoch FROM settled_at) * 1000)::bigint, tokens FROM llm_tokenuse
WHERE provider = %s AND (settled_at >= %s OR (settled_at IS NULL AND expires_at > %s))
"""
_RESERVE = """
INSERT INTO llm_tokenuse (id, provider, model, tokens, reserved_at, expires_at) VALUES (%s, %s, %s, %s, %s, %s)
"""
_SETTLE = "UPDATE llm_tokenuse SET tokens = %s, settled_at = %s WHERE id = %s AND settled_at IS NULL"
_RELEASE = "DELETE FROM llm_tokenuse WHERE id = %s AND settled_at IS NULL"


@dataclass(frozen=True)
class TokenRequest:
    """A call that asks for tokens.

    estimated_tokens: the most that it may use. queue_depth: calls that wait for the provider, this one among them.
    """

    provider: str
    model: str
    estimated_tokens: int
    queue_depth: int = 1


@dataclass(frozen=True)
class TokenGrant:
    """The decision about a call.

    reservation_id: to be settled or released; None when it is refused, or the provider has no limit.
    """

    decision: RateDecision
    reservation_id: UUID | None = None


def tokens_reserve(*, request: TokenRequest, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> TokenGrant:
    """Set aside the most tokens that a call may use, if the provider's minute has room for them.

    A provider without a limit is not asked about.
    """
    limit, now = rules.rate_limit(request.provider), clock.now()
    if limit.tokens_per_minute is None:
        return grant_of(request, [], rules, now)[0]
    with transaction.atomic(savepoint=False):
        grant, writes = grant_of(request, run(*holding(request.provider, limit, now)), rules, now)
        run(*writes)
    return grant


def tokens_settle(*, reservation_id: UUID, total_tokens: int, clock: Clock = SYSTEM_CLOCK) -> None:
    """Record what a call used, which counts from now on for a minute. Raises UnknownReservationError.

    A call that used none leaves no row, as it says nothing about what a call uses.
    """
    [result] = run(settling(reservation_id, total_tokens, clock.now()))
    require_settled(result)


def tokens_release(*, reservation_id: UUID) -> None:
    """Give back the tokens of a call that was not made. Raises UnknownReservationError."""
    [result] = run(Statement(_RELEASE, [reservation_id]))
    require_settled(result)


def token_window(provider: str, *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> Projection:
    """What a provider's minute holds, calls under way among it."""
    limit, now = rules.rate_limit(provider), clock.now()
    settled, reserved = _usage(run(_looking(provider, limit, now)), now)
    return project_token_usage([*settled, *reserved], 0, limit, now)


def holding(provider: str, limit: RateLimit, now: int) -> list[Statement]:
    """Statements that hold the provider's minute until the transaction ends, for `grant_of`; none without a limit."""
    if limit.tokens_per_minute is None:
        return []
    return [Statement(_HOLD, [_RATE_LOCK, provider]), _looking(provider, limit, now)]


def grant_of(
    request: TokenRequest, results: Sequence[Result], rules: GuardRules, now: int
) -> tuple[TokenGrant, list[Statement]]:
    """The decision, and the statements that make it hold; none when it is refused, or there is no limit."""
    limit, (settled, reserved) = rules.rate_limit(request.provider), _usage(results, now)
    decision = decide_rate(settled, reserved, request.estimated_tokens, limit, now, request.queue_depth)
    if limit.tokens_per_minute is None or not decision.allowed:
        return TokenGrant(decision), []
    grant, expires_at = TokenGrant(decision, uuid4()), to_datetime(now + rules.reservation_ms)
    use = [request.provider, request.model, request.estimated_tokens]
    return grant, [Statement(_RESERVE, [grant.reservation_id, *use, to_datetime(now), expires_at])]


def settling(reservation_id: UUID, total_tokens: int, now: int) -> Statement:
    """The statement whose result `require_settled` checks."""
    if total_tokens == 0:
        return Statement(_RELEASE, [reservation_id])
    return Statement(_SETTLE, [total_tokens, to_datetime(now), reservation_id])


def require_settled(result: Result) -> None:
    """Raises UnknownReservationError when nothing was settled."""
    if not result.count:
        raise UnknownReservationError("There is no such reservation of tokens to settle.")


def _looking(provider: str, limit: RateLimit, now: int) -> Statement:
    return Statement(_HISTORY, [provider, to_datetime(now - limit.window_ms), to_datetime(now)])


def _usage(results: Sequence[Result], now: int) -> tuple[Sequence[TokenUsage], Sequence[TokenUsage]]:
    """The usage of settled calls in the window and the estimates of calls under way, out of the last result."""
    rows = results[-1].rows if results else []
    settled = [TokenUsage(settled_at, tokens) for settled_at, tokens in rows if settled_at is not None]
    return settled, [TokenUsage(now, tokens) for settled_at, tokens in rows if settled_at is None]
