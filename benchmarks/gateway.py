"""How much the gateway adds to a call: all guards in the database, a model that answers at once.

What is measured runs under a provider of its own whose tokens cost nothing, so budget and circuits of real providers
are left alone; its rows are removed in the end.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import repeat
from typing import TypeVar

from django.conf import settings

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.latency import Measurement, measure, monotonic_ms
from apps.llm.domain.budget import Budget
from apps.llm.domain.chat import ChatMessage, ChatProvider, ChatRequest, MessageRole, Usage
from apps.llm.domain.outcome import ChatFailure
from apps.llm.gateway.chat import chat
from apps.llm.guards.attempts import AttemptPlan, Permit, attempt_admit, attempt_settle
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.calls import CallRecord
from apps.llm.guards.moments import day_of
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.models import Breaker, BudgetDay, CallOutcome, ModelCall, Price, TokenUse
from apps.llm.pricing.prices import price_save
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.scripted import ScriptedChat
from benchmarks.answering_server import ANSWER

T = TypeVar("T")
ACTOR = "measure_gateway"
REQUEST = ChatRequest(
    (ChatMessage(MessageRole.USER, "How is the weather? Answer in JSON."),), max_tokens=50, expects_json=True
)
# So high that no call is held back, but budget and rate are asked about like any other.
TOKENS_PER_MINUTE = 10**9
BUDGET_USD = Decimal(10**9)
FREE = Decimal(0)


@dataclass(frozen=True)
class GatewayFigures:
    """Milliseconds. bare: the provider alone. whole: the same through the gateway. admit, settle: the guards alone."""

    bare: Measurement
    whole: Measurement
    admit: Measurement
    settle: Measurement

    @property
    def overhead_p50(self) -> float:
        """Return what the gateway adds to the median call."""
        return self.whole.summary.p50 - self.bare.summary.p50


class MeasurementError(Exception):
    """A call of a measurement got no answer."""


def measure_scripted(calls: int) -> GatewayFigures:
    """Measure the gateway with a provider that does nothing but answer."""
    return _measured(ScriptedChat(repeat(ANSWER), name=f"{ACTOR}-script", model="m"), calls)


def measure_served(calls: int) -> GatewayFigures:
    """Measure the gateway with the OpenAI provider and a local server that answers at once."""
    # The SDK takes most of a second to import.
    from apps.llm.providers.openai_chat import OpenAIChat

    with _server() as address:
        provider = OpenAIChat(Endpoint("openai", "m", base_url=f"{address}/v1"))
        try:
            return _measured(provider, calls)
        finally:
            provider.close()


def _measured(provider: ChatProvider, calls: int) -> GatewayFigures:
    limits = {provider.name: TOKENS_PER_MINUTE}
    rules = replace(guard_rules(), budget=Budget(BUDGET_USD), tokens_per_minute=limits)
    plan = AttemptPlan(provider=provider.name, model="m", input_tokens=12, output_tokens=50)
    stages: dict[str, list[float]] = {name: [] for name in ("bare", "whole", "admit", "settle")}
    with free_of_charge(provider.name):
        # In turns, so that whatever else this machine does is in all of them.
        for _ in range(calls):
            stages["bare"].append(_duration(partial(drain, provider))[0])
            stages["whole"].append(_duration(partial(ask, provider, rules))[0])
            duration, permit = _duration(partial(admitted, plan, rules))
            stages["admit"].append(duration)
            stages["settle"].append(_duration(partial(_settle, permit, rules))[0])
    return GatewayFigures(**{name: measure(durations) for name, durations in stages.items()})


def drain(provider: ChatProvider) -> None:
    for _ in provider.stream(REQUEST):
        pass


def ask(provider: ChatProvider, rules: GuardRules) -> None:
    result = chat(actor=ACTOR, purpose=ACTOR, request=REQUEST, providers=[provider], rules=rules)
    if isinstance(result, ChatFailure):
        raise MeasurementError(result.detail)


def admitted(plan: AttemptPlan, rules: GuardRules) -> Permit:
    permit = attempt_admit(plan=plan, rules=rules).permit
    if permit is None:
        raise MeasurementError("The guards refused.")
    return permit


def _settle(permit: Permit, rules: GuardRules) -> None:
    record = CallRecord(
        actor=ACTOR,
        purpose=ACTOR,
        outcome=CallOutcome.SUCCEEDED,
        latency_ms=1.0,
        started_at=SYSTEM_CLOCK.now(),
        provider=permit.plan.provider,
        model="m",
        attempts=1,
    )
    used = Usage(12, 6)
    attempt_settle(permit=permit, result=CallResult.SUCCEEDED, usage=used, rules=rules, record=record)


def _duration(work: Callable[[], T]) -> tuple[float, T]:
    began = monotonic_ms()
    done = work()
    return monotonic_ms() - began, done


@contextmanager
def free_of_charge(provider: str) -> Iterator[None]:
    """Set a price of zero for a provider, and remove all traces of the provider afterwards."""
    today = day_of(SYSTEM_CLOCK.now())
    limit = BudgetDay.objects.filter(day=today).values_list("limit_usd", flat=True).first()
    price = Price(provider=provider, model="*", input_per_million=FREE, output_per_million=FREE, source=ACTOR)
    price.valid_from = utcnow(SYSTEM_CLOCK).date()
    price_save(price=price, actor=ACTOR)
    try:
        yield
    finally:
        for model in (Price, TokenUse, Breaker, ModelCall):
            model._default_manager.filter(provider=provider).delete()
        BudgetDay.objects.filter(day=today).update(limit_usd=limit)


@contextmanager
def _server() -> Iterator[str]:
    """Run a server in a process of its own, while the context lasts."""
    command = [sys.executable, "-m", "benchmarks.answering_server"]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin:
            yield process.stdout.readline().strip()
