import pytest
from django.db import IntegrityError, transaction

from apps.core.domain.clock import DeterministicClock
from apps.events.models import Event
from apps.llm import metrics
from apps.llm.domain.breaker import CircuitConfig, Phase, Ticket
from apps.llm.guards.breakers import CallResult, breaker_reset, breaker_state
from apps.llm.models import Breaker
from tests.integration.llm.guards.rules import NOON, noon, rules
from tests.integration.llm.single_guards import breaker_admit, breaker_record

pytestmark = pytest.mark.django_db

RULES = rules()


def call(clock: DeterministicClock, result: CallResult, provider: str = "openai") -> Phase:
    ticket = breaker_admit(provider=provider, rules=RULES, clock=clock).ticket
    assert ticket is not None
    return breaker_record(provider=provider, ticket=ticket, result=result, rules=RULES, clock=clock)


def opened(clock: DeterministicClock, provider: str = "openai") -> None:
    for _ in range(10):
        call(clock, CallResult.FAILED, provider)
    assert breaker_state(provider).phase is Phase.OPEN


def changes() -> list[tuple[str, str, str]]:
    payloads = Event.objects.filter(name="llm:breaker:changed").order_by("id").values_list("payload", flat=True)
    return [(payload["provider"], payload["previous"], payload["phase"]) for payload in payloads]


def test_provider_that_never_failed_costs_one_query_and_no_row(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        admission = breaker_admit(provider="openai", rules=RULES, clock=noon())
    assert admission.ticket == Ticket(term=0)
    with django_assert_num_queries(1):
        breaker_record(
            provider="openai", ticket=admission.ticket, result=CallResult.SUCCEEDED, rules=RULES, clock=noon()
        )
    assert not Breaker.objects.exists()


def test_ten_failures_among_last_twenty_calls_open_circuit() -> None:
    clock = noon()
    for _ in range(9):
        assert call(clock, CallResult.FAILED) is Phase.CLOSED
        assert call(clock, CallResult.SUCCEEDED) is Phase.CLOSED
    assert call(clock, CallResult.FAILED) is Phase.OPEN
    refusal = breaker_admit(provider="openai", rules=RULES, clock=clock)
    assert (refusal.ticket, refusal.phase, refusal.retry_after_ms) == (None, Phase.OPEN, 30_000)


def test_other_providers_are_not_held_responsible() -> None:
    clock = noon()
    opened(clock)
    assert breaker_admit(provider="anthropic", rules=RULES, clock=clock).allowed


def test_circuit_recovers_by_itself_and_says_each_change_once() -> None:
    clock = noon()
    opened(clock)
    clock.advance(30_000)
    assert call(clock, CallResult.SUCCEEDED) is Phase.HALF_OPEN
    assert call(clock, CallResult.SUCCEEDED) is Phase.HALF_OPEN
    assert call(clock, CallResult.SUCCEEDED) is Phase.CLOSED
    assert changes() == [
        ("openai", "closed", "open"),
        ("openai", "open", "half_open"),
        ("openai", "half_open", "closed"),
    ]


def test_a_failed_probe_opens_the_circuit_again() -> None:
    clock = noon()
    opened(clock)
    clock.advance(30_000)
    assert call(clock, CallResult.FAILED) is Phase.OPEN


def test_probe_that_was_not_made_gives_its_place_back() -> None:
    clock = noon()
    opened(clock)
    clock.advance(30_000)
    for _ in range(5):
        assert call(clock, CallResult.NOT_MADE) is Phase.HALF_OPEN
    assert breaker_state("openai").probes == ()


def test_everything_that_is_remembered_is_read_back_to_millisecond() -> None:
    clock = DeterministicClock(NOON + 123)
    opened(clock)
    clock.advance(30_001)
    breaker_admit(provider="openai", rules=RULES, clock=clock)
    state = breaker_state("openai")
    assert (state.phase, state.changed_at, state.term, state.last_probe) == (Phase.HALF_OPEN, NOON + 30_124, 2, 1)
    assert [tuple(probe) for probe in state.probes] == [(1, NOON + 30_124)]
    assert [tuple(attempt) for attempt in state.attempts] == [(NOON + 123, True)] * 10


def test_an_operator_closes_the_circuit() -> None:
    clock = noon()
    opened(clock)
    breaker_reset(provider="openai", actor="operator", clock=clock)
    state = breaker_state("openai")
    assert (state.phase, state.attempts) == (Phase.CLOSED, ())
    assert changes()[-1] == ("openai", "open", "closed")
    assert Event.objects.latest("id").payload["actor"] == "operator"
    assert call(clock, CallResult.FAILED) is Phase.CLOSED


def test_ticket_from_before_reset_decides_nothing() -> None:
    clock = noon()
    opened(clock)
    clock.advance(30_000)
    ticket = breaker_admit(provider="openai", rules=RULES, clock=clock).ticket
    assert ticket is not None
    breaker_reset(provider="openai", actor="operator", clock=clock)
    result = breaker_record(provider="openai", ticket=ticket, result=CallResult.FAILED, rules=RULES, clock=clock)
    assert result is Phase.CLOSED


def test_resetting_provider_that_never_failed_tells_nobody() -> None:
    breaker_reset(provider="openai", actor="operator", clock=noon())
    assert breaker_state("openai").phase is Phase.CLOSED
    assert changes() == []


def test_the_operator_s_numbers_count() -> None:
    ours = rules(circuit=CircuitConfig(window_size=2, cooldown_ms=1_000))
    ticket = breaker_admit(provider="openai", rules=ours, clock=noon()).ticket
    assert ticket is not None
    phase = breaker_record(provider="openai", ticket=ticket, result=CallResult.FAILED, rules=ours, clock=noon())
    assert phase is Phase.OPEN
    assert breaker_admit(provider="openai", rules=ours, clock=noon()).retry_after_ms == 1_000


def test_the_gauge_shows_the_phase() -> None:
    clock = noon()
    opened(clock, "gauged")
    assert metrics.CIRCUIT_STATE.labels("gauged")._value.get() == 1
    clock.advance(30_000)
    call(clock, CallResult.SUCCEEDED, "gauged")
    assert metrics.CIRCUIT_STATE.labels("gauged")._value.get() == 2
    breaker_reset(provider="gauged", actor="operator", clock=clock)
    assert metrics.CIRCUIT_STATE.labels("gauged")._value.get() == 0


def test_no_row_can_say_that_closed_circuit_has_probes() -> None:
    clock = noon()
    opened(clock)
    with pytest.raises(IntegrityError), transaction.atomic():
        Breaker.objects.update(probes=[[1, NOON]])
