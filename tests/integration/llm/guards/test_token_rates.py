import pytest
from django.db import IntegrityError, transaction

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.rate import RateVerdict
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.rates import TokenGrant, TokenRequest, token_window
from apps.llm.models import TokenUse
from tests.integration.llm.guards.rules import MINUTE, noon, rules
from tests.integration.llm.single_guards import tokens_release, tokens_reserve, tokens_settle

pytestmark = pytest.mark.django_db

RULES = rules(tokens_per_minute={"openai": 1_000, "local": 0})


def reserve(tokens: int, clock: DeterministicClock, provider: str = "openai", model: str = "gpt") -> TokenGrant:
    return tokens_reserve(request=TokenRequest(provider, model, tokens), rules=RULES, clock=clock)


def use(tokens: int, clock: DeterministicClock, model: str = "gpt") -> None:
    reservation = reserve(tokens, clock, model=model).reservation_id
    assert reservation is not None
    tokens_settle(reservation_id=reservation, total_tokens=tokens, clock=clock)


def test_minute_takes_its_limit_and_not_one_token_more() -> None:
    clock = noon()
    use(300, clock)
    assert reserve(701, clock).decision.verdict is RateVerdict.FULL
    assert reserve(700, clock).reservation_id is not None


def test_calls_are_held_back_above_80_percent_of_what_is_projected() -> None:
    clock = noon()
    use(400, clock)
    assert reserve(0, clock).decision.verdict is RateVerdict.ALLOWED
    clock.advance(MINUTE + 1)
    TokenUse.objects.filter(settled_at=None).delete()
    use(401, clock)
    clock.advance(1_000)
    held_back = reserve(0, clock, model="another of the same provider")
    assert held_back.decision.verdict is RateVerdict.THROTTLED
    assert held_back.decision.retry_after_ms == MINUTE + 1 - 1_000


def test_calls_under_way_count_with_their_estimates() -> None:
    clock = noon()
    first = reserve(1_000, clock).reservation_id
    assert first is not None
    assert not reserve(1, clock).decision.allowed
    tokens_settle(reservation_id=first, total_tokens=10, clock=clock)
    assert reserve(900, clock).decision.allowed


def test_use_leaves_window_minute_after_it_was_settled() -> None:
    clock = noon()
    first = reserve(600, clock).reservation_id
    assert first is not None
    clock.advance(5 * MINUTE)
    tokens_settle(reservation_id=first, total_tokens=600, clock=clock)
    clock.advance(MINUTE)
    assert not reserve(600, clock).decision.allowed
    clock.advance(1)
    assert reserve(600, clock).decision.allowed


def test_expired_reservation_comes_back_by_itself_and_can_still_be_settled() -> None:
    clock = noon()
    late = reserve(1_000, clock).reservation_id
    assert late is not None
    clock.advance(RULES.reservation_ms - 1)
    assert not reserve(1_000, clock).decision.allowed
    clock.advance(1)
    assert token_window("openai", rules=RULES, clock=clock).window_tokens_used == 0
    tokens_settle(reservation_id=late, total_tokens=400, clock=clock)
    assert token_window("openai", rules=RULES, clock=clock).window_tokens_used == 400


def test_tokens_that_were_not_used_are_given_back() -> None:
    clock = noon()
    first = reserve(1_000, clock).reservation_id
    assert first is not None
    tokens_release(reservation_id=first)
    assert reserve(1_000, clock).decision.allowed


def test_reservation_is_settled_or_released_once() -> None:
    clock = noon()
    first = reserve(10, clock).reservation_id
    assert first is not None
    tokens_settle(reservation_id=first, total_tokens=10, clock=clock)
    with pytest.raises(UnknownReservationError):
        tokens_settle(reservation_id=first, total_tokens=10, clock=clock)
    with pytest.raises(UnknownReservationError):
        tokens_release(reservation_id=first)
    assert token_window("openai", rules=RULES, clock=clock).window_tokens_used == 10


def test_more_than_any_minute_takes_is_not_asked_again() -> None:
    refused = reserve(1_001, noon()).decision
    assert (refused.verdict, refused.retry_after_ms) == (RateVerdict.TOO_LARGE, None)


def test_provider_without_limit_is_not_asked_about(django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        grant = reserve(10**9, noon(), "local")
    assert grant.decision.allowed
    assert grant.reservation_id is None


def test_each_provider_has_a_window_of_its_own() -> None:
    clock = noon()
    use(800, clock)
    assert not reserve(300, clock).decision.allowed
    assert reserve(300, clock, "anthropic", "claude").decision.allowed


def test_calls_that_wait_are_projected() -> None:
    clock = noon()
    use(200, clock)
    for waiting, allowed in [(4, False), (3, True)]:
        request = TokenRequest("openai", "gpt", 1, queue_depth=waiting)
        assert tokens_reserve(request=request, rules=RULES, clock=clock).decision.allowed is allowed


def test_the_window_shows_what_it_holds() -> None:
    clock = noon()
    use(200, clock)
    reserve(50, clock)
    window = token_window("openai", rules=RULES, clock=clock)
    assert (window.window_tokens_used, window.window_limit, window.utilization_percent) == (250, 1_000, 25.0)


def test_no_row_can_make_room_in_a_window() -> None:
    reserve(10, noon())
    with pytest.raises(IntegrityError), transaction.atomic():
        TokenUse.objects.update(tokens=-1)
