"""The guards of the gateway in one process: models for tests of the pure rules and of the guards in the database."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock

from apps.core.domain.clock import Clock
from apps.llm.domain import breaker, budget, rate


class CircuitBreaker:
    """A circuit breaker in this process; safe to use from several threads.

    on_change: called with each new phase, under the lock, so in order.
    """

    def __init__(
        self,
        clock: Clock,
        config: breaker.CircuitConfig = breaker.DEFAULT_CIRCUIT_CONFIG,
        on_change: Callable[[breaker.Phase], object] = lambda phase: None,
    ) -> None:
        self._clock = clock
        self._config = config
        self._on_change = on_change
        self._lock = Lock()
        self._state = breaker.BreakerState(changed_at=clock.now())

    @property
    def state(self) -> breaker.BreakerState:
        return self._state

    def admit(self) -> breaker.Admission:
        """Return whether a call may be made now."""
        with self._lock:
            state, admission = breaker.admit(self._state, self._clock.now(), self._config)
            self._become(state)
            return admission

    def record_success(self, ticket: breaker.Ticket) -> None:
        with self._lock:
            self._become(breaker.record_success(self._state, ticket, self._clock.now(), self._config))

    def record_failure(self, ticket: breaker.Ticket) -> None:
        with self._lock:
            self._become(breaker.record_failure(self._state, ticket, self._clock.now(), self._config))

    def release(self, ticket: breaker.Ticket) -> None:
        with self._lock:
            self._become(breaker.release(self._state, ticket))

    def _become(self, state: breaker.BreakerState) -> None:
        before, self._state = self._state, state
        if state.phase is not before.phase:
            self._on_change(state.phase)


class BudgetTracker:
    """A budget in this process; safe to use from several threads.

    on_alert: called once for each threshold and day with the threshold and the window, under the lock.
    """

    def __init__(
        self,
        limits: budget.Budget,
        clock: Clock,
        on_alert: Callable[[int, budget.BudgetWindow], object] = lambda threshold, window: None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._on_alert = on_alert
        self._lock = Lock()
        today = budget.BudgetWindow(budget.window_start(clock.now()))
        self._windows = {today.start: today}

    @property
    def window(self) -> budget.BudgetWindow:
        with self._lock:
            return self._current()

    def reserve(self, estimated: Decimal) -> budget.BudgetDecision:
        with self._lock:
            window, decision = budget.reserve(self._current(), estimated, self._limits, self._clock.now())
            self._windows[window.start] = window
            return decision

    def settle(self, reservation: budget.Reservation, actual: Decimal) -> budget.Settlement:
        with self._lock:
            window = self._windows[reservation.window_start]
            window, settlement = budget.settle(window, reservation, actual, self._limits)
            self._windows[window.start] = window
            for threshold in settlement.alerts:
                self._on_alert(threshold, window)
            return settlement

    def release(self, reservation: budget.Reservation) -> None:
        with self._lock:
            self._windows[reservation.window_start] = budget.release(
                self._windows[reservation.window_start], reservation
            )

    def _current(self) -> budget.BudgetWindow:
        window = budget.roll_window(self._windows[max(self._windows)], self._clock.now())
        return self._windows.setdefault(window.start, window)


@dataclass(frozen=True)
class RateTicket:
    """A call that a RateLimiter let through."""

    number: int
    estimated_tokens: int


class RateLimiter:
    """A limit on tokens in this process; safe to use from several threads."""

    def __init__(self, limit: rate.RateLimit, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._lock = Lock()
        self._settled: list[rate.TokenUsage] = []
        self._under_way: dict[int, rate.TokenUsage] = {}
        self._last_number = 0

    def reserve(self, estimated_tokens: int, queue_depth: int = 1) -> tuple[rate.RateDecision, RateTicket | None]:
        """Return the decision, and a ticket to settle or release later when the call is allowed."""
        with self._lock:
            now, under_way = self._clock.now(), self._under_way.values()
            decision = rate.decide_rate(self._settled, under_way, estimated_tokens, self._limit, now, queue_depth)
            if not decision.allowed:
                return decision, None
            self._last_number += 1
            self._under_way[self._last_number] = rate.TokenUsage(now, estimated_tokens)
            return decision, RateTicket(self._last_number, estimated_tokens)

    def settle(self, ticket: RateTicket, total_tokens: int) -> None:
        """Count `total_tokens` from now on. Raises KeyError for a ticket used before."""
        with self._lock:
            del self._under_way[ticket.number]
            now = self._clock.now()
            self._settled = [usage for usage in self._settled if usage.timestamp >= now - self._limit.window_ms]
            self._settled.append(rate.TokenUsage(now, total_tokens))

    def release(self, ticket: RateTicket) -> None:
        with self._lock:
            del self._under_way[ticket.number]
