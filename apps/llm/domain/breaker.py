"""A circuit breaker: stop calling a provider that fails, and probe whether it is back (spec 002 section 4).

The state is immutable and every transition a pure function, because all processes share one breaker for each
provider in the database: read it, compute the next one, and store that where nothing changed it in between. A
transition that changes nothing returns the very same object, so the usual call (closed, no recent failure) writes
nothing. Which errors count as failures is for the caller to say: a request that was itself wrong is not one.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import dropwhile
from typing import NamedTuple

ERROR_THRESHOLD = 0.5
WINDOW_SIZE = 20
WINDOW_MS = 60_000
COOLDOWN_MS = 30_000
PROBES_REQUIRED = 3
PROBE_TIMEOUT_MS = 120_000
HALF_OPEN_RETRY_MS = 1_000


class Phase(StrEnum):
    """CLOSED: calls pass. OPEN: none does. HALF_OPEN: a few probes may find out whether the provider is back."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"

    @property
    def metric_value(self) -> int:
        """Return the value of the gauge of the circuit's state."""
        return {Phase.CLOSED: 0, Phase.OPEN: 1, Phase.HALF_OPEN: 2}[self]


@dataclass(frozen=True)
class CircuitConfig:
    """error_threshold: the failure rate from which the circuit opens. window_size, window_ms: the attempts that count.

    cooldown_ms: how long it stays open. probes_required: successful probes that close it. probe_timeout_ms: after
    that long a probe without a result (its process may have died) no longer holds its place; the spec has none.
    """

    error_threshold: float = ERROR_THRESHOLD
    window_size: int = WINDOW_SIZE
    window_ms: int = WINDOW_MS
    cooldown_ms: int = COOLDOWN_MS
    probes_required: int = PROBES_REQUIRED
    probe_timeout_ms: int = PROBE_TIMEOUT_MS

    def __post_init__(self) -> None:
        if self.window_size < 1 or self.probes_required < 1:
            raise ValueError("window_size and probes_required must be 1 or more.")
        if not 0 < self.error_threshold <= 1:
            raise ValueError(f"error_threshold must be above 0 and at most 1, not {self.error_threshold}.")


DEFAULT_CIRCUIT_CONFIG = CircuitConfig()


class Attempt(NamedTuple):
    """A finished call: its time (milliseconds since the epoch), and whether it failed."""

    at: int
    failed: bool


class Probe(NamedTuple):
    """A call under way in the half-open phase."""

    number: int
    started_at: int


@dataclass(frozen=True)
class BreakerState:
    """changed_at: when the phase began, in milliseconds since the epoch.

    attempts: the last ones, oldest first, beginning with a failure: successes before the oldest failure change
    nothing, and without them a healthy provider's state never changes. term: counts the changes of phase, so that
    a result of an earlier phase can be recognised. probes, last_probe, successful_probes: of this half-open phase.
    """

    changed_at: int
    phase: Phase = Phase.CLOSED
    term: int = 0
    attempts: tuple[Attempt, ...] = ()
    successful_probes: int = 0
    probes: tuple[Probe, ...] = ()
    last_probe: int = 0


@dataclass(frozen=True)
class Ticket:
    """A call that was let through, to be handed back with its result.

    probe: its number when it is a probe.
    """

    term: int
    probe: int | None = None


@dataclass(frozen=True)
class Admission:
    """Whether a call may be made. ticket: exactly when it may. retry_after_ms: else, when to ask again."""

    phase: Phase
    ticket: Ticket | None = None
    retry_after_ms: int | None = None

    @property
    def allowed(self) -> bool:
        """Return whether the call may be made."""
        return self.ticket is not None


def admit(state: BreakerState, now: int, config: CircuitConfig) -> tuple[BreakerState, Admission]:
    """Return the state after a call was requested at `now`, and the answer.

    Once the cooldown is over the circuit is half-open; there, no more calls are let through at once than
    successful probes are missing (the spec would let through any number).
    """
    if state.phase is Phase.CLOSED:
        return state, Admission(state.phase, Ticket(state.term))
    if state.phase is Phase.OPEN:
        cooldown_left = state.changed_at + config.cooldown_ms - now
        if cooldown_left > 0:
            return state, Admission(state.phase, retry_after_ms=min(cooldown_left, config.cooldown_ms))
        state = change_phase(state, Phase.HALF_OPEN, now)
    probes = tuple(probe for probe in state.probes if now - probe.started_at < config.probe_timeout_ms)
    if state.successful_probes + len(probes) >= config.probes_required:
        return state, Admission(state.phase, retry_after_ms=HALF_OPEN_RETRY_MS)
    number = state.last_probe + 1
    state = replace(state, probes=(*probes, Probe(number, now)), last_probe=number)
    return state, Admission(state.phase, Ticket(state.term, number))


def record_success(state: BreakerState, ticket: Ticket, now: int, config: CircuitConfig) -> BreakerState:
    """Return the state after the call of `ticket` succeeded; the last probe that was missing closes the circuit."""
    state = add_attempt(state, Attempt(now, failed=False), config)
    if not is_current_probe(state, ticket):
        return state
    state = replace(release(state, ticket), successful_probes=state.successful_probes + 1)
    return change_phase(state, Phase.CLOSED, now) if state.successful_probes >= config.probes_required else state


def record_failure(state: BreakerState, ticket: Ticket, now: int, config: CircuitConfig) -> BreakerState:
    """Return the state after the call of `ticket` failed.

    A failed probe opens the circuit again; a call that began before the half-open phase does not, since it says
    nothing about the present. While closed, the circuit opens when the failure rate reaches the threshold.
    """
    state = add_attempt(state, Attempt(now, failed=True), config)
    must_open = state.phase is Phase.CLOSED and failure_rate(state, now, config) >= config.error_threshold
    return change_phase(state, Phase.OPEN, now) if must_open or is_current_probe(state, ticket) else state


def release(state: BreakerState, ticket: Ticket) -> BreakerState:
    """Return the state when the call of `ticket` was not made after all: its place is free, and nothing counts."""
    if not is_current_probe(state, ticket):
        return state
    return replace(state, probes=tuple(probe for probe in state.probes if probe.number != ticket.probe))


def reset(state: BreakerState, now: int) -> BreakerState:
    """Return the closed state with no attempts: an operator's decision."""
    return BreakerState(changed_at=now, term=state.term + 1)


def failure_rate(state: BreakerState, now: int, config: CircuitConfig) -> float:
    """Return the failures among the last `window_size` attempts younger than `window_ms`, divided by `window_size`.

    Divided by the whole size even when there were fewer attempts, as in the spec, so that the first failure of all
    does not open the circuit. Up to `window_size` attempts in `window_ms` this is the spec's formula. Beyond, its code
    counts every failure of the minute and no success, which would open the circuit at ten failures among thousands of
    calls; its words, "consider last 20 attempts", are followed (ADR 29).
    """
    return sum(attempt.failed for attempt in recent_attempts(state.attempts, now, config)) / config.window_size


def recent_attempts(attempts: tuple[Attempt, ...], now: int, config: CircuitConfig) -> tuple[Attempt, ...]:
    """Return the attempts that count, from the first failure on."""
    recent = [attempt for attempt in attempts[-config.window_size :] if attempt.at > now - config.window_ms]
    return tuple(dropwhile(lambda attempt: not attempt.failed, recent))


def add_attempt(state: BreakerState, attempt: Attempt, config: CircuitConfig) -> BreakerState:
    """Return the state with one more attempt.

    The attempts of one phase count on in the next, as in the spec: soon after closing, little opens it again.
    """
    attempts = recent_attempts((*state.attempts, attempt), attempt.at, config)
    return state if attempts == state.attempts else replace(state, attempts=attempts)


def is_current_probe(state: BreakerState, ticket: Ticket) -> bool:
    """Return whether it is a probe of this phase under way: a result that comes twice or too late decides nothing."""
    return ticket.term == state.term and any(probe.number == ticket.probe for probe in state.probes)


def change_phase(state: BreakerState, phase: Phase, now: int) -> BreakerState:
    """Return the state in another phase, which begins without probes."""
    return BreakerState(changed_at=now, phase=phase, term=state.term + 1, attempts=state.attempts)
