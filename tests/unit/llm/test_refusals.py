"""What is said of refused calls: each reason that a guard can have names its own setting."""

import re
from pathlib import Path

import pytest

from apps.llm.domain.breaker import Phase
from apps.llm.domain.budget import BUDGET_EXCEEDED
from apps.llm.domain.rate import RateVerdict
from apps.llm.domain.refusals import ADVICE, PRICE_UNKNOWN, UNKNOWN, Help, advice_for

BUDGET, TOKENS = "MEMORYHUB_CHAT_DAILY_BUDGET_USD", "MEMORYHUB_CHAT_TOKENS_PER_MINUTE"
CONFIGURATION = Path(__file__).parents[3] / "docs" / "operate" / "configuration.md"


@pytest.mark.parametrize(
    ("guard", "reason", "setting", "help_"),
    [
        ("budget", "budget_exceeded", BUDGET, Help.WAIVE),
        ("budget", "price_unknown", "", Help.PRICE),
        ("breaker", "open", "MEMORYHUB_CHAT_BREAKER_COOLDOWN_SECONDS", Help.RESET),
        ("breaker", "half_open", "MEMORYHUB_CHAT_BREAKER_PROBES", Help.RESET),
        ("rate", "throttled", TOKENS, Help.SETTING),
        ("rate", "full", TOKENS, Help.SETTING),
        ("rate", "too_large", TOKENS, Help.SETTING),
    ],
)
def test_reason_names_the_setting_that_decides_it(guard: str, reason: str, setting: str, help_: Help) -> None:
    advice = advice_for(guard, reason)
    assert (advice.setting, advice.help) == (setting, help_)


def test_every_reason_of_a_guard_has_advice() -> None:
    reasons = {("budget", BUDGET_EXCEEDED), ("budget", PRICE_UNKNOWN)}
    reasons |= {("breaker", phase.value) for phase in Phase if phase is not Phase.CLOSED}
    reasons |= {("rate", verdict.value) for verdict in RateVerdict if verdict is not RateVerdict.ALLOWED}
    assert reasons == ADVICE.keys()


def test_named_settings_exist() -> None:
    documented = set(re.findall(r"`(MEMORYHUB_\w+)`", CONFIGURATION.read_text("utf-8")))
    assert {advice.setting for advice in ADVICE.values() if advice.setting} <= documented


def test_unknown_reason_blames_no_setting() -> None:
    assert advice_for("rate", "moon") is UNKNOWN
    assert UNKNOWN.setting == ""
