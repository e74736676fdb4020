"""The token rate in the database: one row for each call that is under way or was a minute ago (spec 002 section 3).

A reservation locks the provider, so callers come one after another. Rows that were never settled stop counting when
they expire, and settled ones when they have left the window; neither needs a sweep for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime
from apps.llm.domain.rate import Projection, RateDecision, RateLimit, TokenUsage, decide_rate, project_token_usage
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.rules import GuardRules

# Any number that no other pair of advisory locks of this project has. There may be no row yet that could be locked.
RATE_LOCK = 0x7261_7465
LOCK_SQL = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"
# Moments as numbers, because reading a timestamp takes 0.01 ms.
HISTORY_SQL = """
SELECT (extract(epoch FROM settled_at) * 1000)::bigint, tokens FROM llm_tokenuse
WHERE provider = %s AND (settled_at >= %s OR (settled_at IS NULL AND expires_at > %s))
"""
RESERVE_SQL = """
INSERT INTO llm_tokenuse (id, provider, model, tokens, reserved_at, expires_at) VALUES (%s, %s, %s, %s, %s, %s)
"""
SETTLE_SQL = "UPDATE llm_tokenuse SET tokens = %s, settled_at = %s WHERE id = %s AND settled_at IS NULL"
RELEASE_SQL = "DELETE FROM llm_tokenuse WHERE id = %s AND settled_at IS NULL"


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


def token_window(provider: str, *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> Projection:
    """Return what a provider's minute holds, calls under way among it."""
    limit, now = rules.rate_limit(provider), clock.now()
    settled, reserved = parse_usage(run(select_usage(provider, limit, now)), now)
    return project_token_usage([*settled, *reserved], 0, limit, now)


def select_usage(provider: str, limit: RateLimit, now: int) -> Statement:
    """Return the statement whose result `parse_usage` reads."""
    return Statement(HISTORY_SQL, [provider, to_datetime(now - limit.window_ms), to_datetime(now)])


def lock_rate(provider: str, limit: RateLimit, now: int) -> list[Statement]:
    """Return the statements that lock a provider until the transaction ends, for `grant_tokens`.

    Without a limit there are none.
    """
    if limit.tokens_per_minute is None:
        return []
    return [Statement(LOCK_SQL, [RATE_LOCK, provider]), select_usage(provider, limit, now)]


def parse_usage(results: Sequence[Result], now: int) -> tuple[Sequence[TokenUsage], Sequence[TokenUsage]]:
    """Return the usage of settled calls and the estimates of calls under way, from the last result."""
    rows = results[-1].rows if results else []
    settled = [TokenUsage(settled_at, tokens) for settled_at, tokens in rows if settled_at is not None]
    return settled, [TokenUsage(now, tokens) for settled_at, tokens in rows if settled_at is None]


def grant_tokens(
    request: TokenRequest, results: Sequence[Result], rules: GuardRules, now: int
) -> tuple[TokenGrant, list[Statement]]:
    """Return the decision, and the statements that store it; none when it is refused, or there is no limit."""
    limit, (settled, reserved) = rules.rate_limit(request.provider), parse_usage(results, now)
    decision = decide_rate(settled, reserved, request.estimated_tokens, limit, now, request.queue_depth)
    if limit.tokens_per_minute is None or not decision.allowed:
        return TokenGrant(decision), []
    grant, expires_at = TokenGrant(decision, uuid4()), to_datetime(now + rules.reservation_ms)
    use = [request.provider, request.model, request.estimated_tokens]
    return grant, [Statement(RESERVE_SQL, [grant.reservation_id, *use, to_datetime(now), expires_at])]


def settle_sql(reservation_id: UUID, total_tokens: int, now: int) -> Statement:
    """Return the statement whose result `require_settled` checks."""
    if total_tokens == 0:
        return Statement(RELEASE_SQL, [reservation_id])
    return Statement(SETTLE_SQL, [total_tokens, to_datetime(now), reservation_id])


def require_settled(result: Result) -> None:
    """Raise UnknownReservationError when nothing was settled."""
    if not result.count:
        raise UnknownReservationError("There is no such reservation of tokens to settle.")
