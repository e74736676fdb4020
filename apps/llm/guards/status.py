"""The present state of the guards: for the status over REST and for pages of the admin."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, to_datetime
from apps.llm.domain.breaker import Phase
from apps.llm.domain.budget import DAY_MS, WARNING_THRESHOLDS
from apps.llm.domain.rate import Projection
from apps.llm.guards.breakers import breaker_state
from apps.llm.guards.budgets import budget_window
from apps.llm.guards.moments import day_of, midnight
from apps.llm.guards.rates import token_window
from apps.llm.guards.rules import GuardRules
from apps.llm.models import Breaker, BudgetDay

ZERO = Decimal(0)


@dataclass(frozen=True)
class BreakerStatus:
    """The circuit breaker of a provider.

    since: when its phase began, None if it never failed. retry_at: while it is open, when calls pass again.
    failures: those within the window before it opened; of a closed one, within the window until now.
    """

    provider: str
    phase: Phase
    since: datetime | None
    retry_at: datetime | None
    failures: int

    def passes(self, now: datetime) -> bool:
        """Return whether a call may get through."""
        return self.phase is not Phase.OPEN or self.retry_at is None or now >= self.retry_at


@dataclass(frozen=True)
class BudgetStatus:
    """The budget of a day of UTC, in US dollars.

    limit: None without a budget. spent: what counts. waived: what was spent and does not count since an operator reset
    the budget (waived_by, waived_at). warned: the thresholds, in percent, that were reached.
    """

    day: date
    limit: Decimal | None
    spent: Decimal
    reserved: Decimal
    waived: Decimal
    warned: tuple[int, ...]
    resets_at: datetime
    waived_by: str = ""
    waived_at: datetime | None = None

    @property
    def percent(self) -> float:
        """Return what is spent, in percent of the limit; 0 without one."""
        return float(self.spent * 100 / self.limit) if self.limit else 0.0

    @property
    def reserved_percent(self) -> float:
        """Return what is reserved, in percent of the limit; 0 without one."""
        return float(self.reserved * 100 / self.limit) if self.limit else 0.0

    @property
    def tone(self) -> str:
        """Return how bad it is that so much is spent: good, warn or bad, by the first two warnings."""
        warning, last_warning, _ = WARNING_THRESHOLDS
        return "bad" if self.percent >= last_warning else "warn" if self.percent >= warning else "good"

    @property
    def remaining(self) -> Decimal | None:
        """Return what may still be reserved; None without a limit."""
        return None if self.limit is None else max(ZERO, self.limit - self.spent - self.reserved)


def breaker_status(provider: str, *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> BreakerStatus:
    """Return the breaker of one provider. Changes nothing: what would half-open with the next call is still open."""
    state = breaker_state(provider, clock=clock)
    known = state.term > 0 or bool(state.attempts)
    # What led to the phase, or what would count now.
    moment = clock.now() if state.phase is Phase.CLOSED else state.changed_at
    begin = moment - rules.circuit.window_ms
    recent = state.attempts[-rules.circuit.window_size :]
    cooled_down = to_datetime(state.changed_at + rules.circuit.cooldown_ms)
    return BreakerStatus(
        provider=provider,
        phase=state.phase,
        since=to_datetime(state.changed_at) if known else None,
        retry_at=cooled_down if state.phase is Phase.OPEN else None,
        failures=sum(attempt.failed and attempt.at > begin for attempt in recent),
    )


def breaker_statuses(
    providers: Iterable[str] = (), *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> list[BreakerStatus]:
    """Return the breakers of these providers, and after them those of all others that ever failed."""
    remembered = Breaker.objects.values_list("provider", flat=True)
    names = dict.fromkeys([*providers, *remembered])
    return [breaker_status(name, rules=rules, clock=clock) for name in names]


def open_breakers() -> int:
    """Return how many breakers are not closed."""
    return Breaker.objects.exclude(phase=Phase.CLOSED.value).count()


def budget_status(*, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> BudgetStatus:
    """Return today's budget."""
    today = day_of(clock.now())
    window = budget_window(clock=clock)
    row = BudgetDay.objects.filter(day=today).first()
    return BudgetStatus(
        day=today,
        limit=rules.budget.usd if rules.budget.is_enforced else None,
        spent=window.spent,
        reserved=window.reserved,
        waived=row.waived_usd if row else ZERO,
        warned=tuple(sorted(window.warned)),
        resets_at=to_datetime(midnight(today) + DAY_MS),
        waived_by=row.reset_by if row else "",
        waived_at=row.reset_at if row else None,
    )


def token_windows(
    providers: Iterable[str], *, rules: GuardRules, clock: Clock = SYSTEM_CLOCK
) -> Mapping[str, Projection]:
    """Return what the minute of each provider holds; nothing is counted for one without a limit."""
    return {name: token_window(name, rules=rules, clock=clock) for name in dict.fromkeys(providers)}
