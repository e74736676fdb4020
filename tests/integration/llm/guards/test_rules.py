from dataclasses import replace
from decimal import Decimal

import pytest

from apps.llm.domain.breaker import DEFAULT_CIRCUIT_CONFIG
from apps.llm.domain.budget import Budget
from apps.llm.guards.rules import GuardRules, guard_rules


def test_without_settings_numbers_of_spec_hold_and_there_is_no_budget() -> None:
    assert guard_rules() == GuardRules()
    assert guard_rules().circuit == DEFAULT_CIRCUIT_CONFIG
    assert not guard_rules().budget.is_enforced


@pytest.mark.parametrize(
    ("provider", "limit"),
    [
        ("anthropic", 40_000),
        ("claude", 40_000),
        ("openai", 90_000),
        ("openai@proxy.example:8443", 90_000),
        ("anthropic@127.0.0.1:4000", 40_000),
        ("local", None),
    ],
)
def test_spec_s_limits_hold_for_providers_that_it_names(provider: str, limit: int | None) -> None:
    assert GuardRules().rate_limit(provider).tokens_per_minute == limit


def test_operator_s_limits_go_before_spec_s_and_zero_is_none() -> None:
    ours = GuardRules(tokens_per_minute={"openai": 5, "anthropic": 0})
    assert ours.rate_limit("openai").tokens_per_minute == 5
    assert ours.rate_limit("anthropic").tokens_per_minute is None


def test_service_at_another_address_has_its_limit_unless_it_is_named_itself() -> None:
    ours = GuardRules(tokens_per_minute={"openai": 5, "openai@127.0.0.1:11434": 0, "openai@proxy.example": 7})
    limits = [
        ours.rate_limit(f"openai@{host}").tokens_per_minute for host in ("127.0.0.1:11434", "proxy.example", "other")
    ]
    assert limits == [None, 7, 5]


def test_the_settings_become_rules(settings) -> None:
    guards = replace(
        settings.MEMORYHUB.guards,
        daily_budget_usd=Decimal("2.5"),
        breaker_window_seconds=1.5,
        breaker_cooldown_seconds=0.1,
        breaker_probes=1,
        breaker_window_size=4,
        breaker_error_threshold=0.25,
        reservation_seconds=60,
        keep_content=True,
    )
    settings.MEMORYHUB = replace(settings.MEMORYHUB, guards=guards)
    ours = guard_rules()
    assert ours.budget == Budget(Decimal("2.5"))
    assert (ours.circuit.window_ms, ours.circuit.cooldown_ms, ours.circuit.probes_required) == (1_500, 100, 1)
    assert (ours.circuit.window_size, ours.circuit.error_threshold) == (4, 0.25)
    assert (ours.reservation_ms, ours.keeps_content) == (60_000, True)
