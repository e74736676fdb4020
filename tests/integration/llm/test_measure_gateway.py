import re
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.core.domain.clock import SYSTEM_CLOCK
from apps.llm.domain.outcome import ChatFailure, Stop, StoppedBy
from apps.llm.guards.moments import day_of
from apps.llm.models import BudgetDay, BudgetReservation, ModelCall, Price, TokenUse
from benchmarks import gateway

pytestmark = pytest.mark.django_db


def measured(calls: int) -> str:
    out = StringIO()
    call_command("measure_gateway", "--calls", str(calls), stdout=out)
    return out.getvalue()


def test_it_says_what_gateway_adds_and_where_that_goes(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    told = measured(5)
    for row in ("the provider alone", "through the gateway", "asking the guards", "settling with them"):
        [line] = [line for line in told.splitlines() if row in line]
        assert len(re.findall(r"\d+\.\d\d / +\d+\.\d\d", line)) == 2
    assert "Too few calls to conclude anything from." in told
    assert re.search(r"The gateway adds -?\d+\.\d\d ms to the median call", told)


def test_nothing_of_it_is_left_and_nothing_is_spent(monkeypatch):
    monkeypatch.setattr(gateway, "measure_served", gateway.measure_scripted)
    monkeypatch.setattr("benchmarks.management.commands.measure_gateway.measure_served", gateway.measure_scripted)
    BudgetDay.objects.create(day=day_of(SYSTEM_CLOCK.now()), limit_usd=Decimal(7), spent_usd=Decimal(3))
    measured(5)
    assert not any(model.objects.exists() for model in (ModelCall, Price, TokenUse, BudgetReservation))
    day = BudgetDay.objects.get()
    assert (day.limit_usd, day.spent_usd) == (Decimal(7), Decimal(3))


def test_calls_that_get_no_answer_are_no_measurement(monkeypatch):
    failure = ChatFailure((Stop(StoppedBy.PROVIDER, "overloaded", "scripted"),))
    monkeypatch.setattr(gateway, "chat", lambda **given: failure)
    with pytest.raises(CommandError, match="overloaded"):
        measured(1)
    assert not Price.objects.exists()
