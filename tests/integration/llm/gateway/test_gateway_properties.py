"""Whatever providers do, a call ends with a result, everything set aside is handed back, and the books agree."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.domain.randomness import DeterministicRNG
from apps.llm.domain.chat import (
    ChatAuthError,
    ChatBadRequestError,
    ChatBadResponseError,
    ChatConnectionError,
    ChatCutOffError,
    ChatOverloadedError,
    ChatRateLimitedError,
    ChatTimeoutError,
    EndChunk,
    FinishReason,
    TimeoutPhase,
    Usage,
)
from apps.llm.domain.outcome import ChatAnswer, ChatFailure
from apps.llm.domain.retry import CallRetryPolicy
from apps.llm.gateway.chat import chat
from apps.llm.gateway.context import GatewayPolicy
from apps.llm.guards.budgets import budget_window
from apps.llm.models import BudgetReservation, ModelCall, TokenUse
from apps.llm.providers.scripted import ScriptedChat, Silence
from tests.effort import examples
from tests.integration.llm.gateway.support import CLEAR, QUESTION, Days, Weather
from tests.integration.llm.guards.rules import noon, rules

pytestmark = pytest.mark.django_db

KINDS = (
    ChatAuthError, ChatBadRequestError, ChatBadResponseError, ChatConnectionError, ChatCutOffError, ChatOverloadedError,
)  # fmt: skip
TOLD = st.builds(Usage, st.integers(0, 200), st.integers(0, 60))
PROBABLE = st.none() | TOLD


def timeout(phase: TimeoutPhase, usage: Usage | None) -> ChatTimeoutError:
    return ChatTimeoutError("slow", phase=phase, usage=usage)


ERRORS = st.one_of(
    st.builds(timeout, st.sampled_from(TimeoutPhase), PROBABLE),
    st.builds(lambda wait: ChatRateLimitedError("x", retry_after_ms=wait), st.none() | st.integers(0, 50_000)),
    st.builds(lambda kind, usage: kind("x", usage=usage), st.sampled_from(KINDS), PROBABLE),
)
PIECES = st.sampled_from([CLEAR, '{"days": [1, 2', ", 3]}", "Sunny.", "", "{'sky': 'clear', ", "}"])
PAUSES = st.builds(Silence, st.sampled_from([0.1, 40.0, 200.0]))
LINES = st.lists(PIECES | st.text(max_size=5) | PAUSES, max_size=3)
ENDS = st.none() | ERRORS | st.builds(EndChunk, TOLD, st.sampled_from(FinishReason), st.just("m"))
TURNS = st.builds(lambda lines, end: (*lines, end) if end else tuple(lines), LINES, ENDS)
POLICIES = st.builds(
    lambda tries, corrections, deadline: GatewayPolicy(
        retry=CallRetryPolicy(max_attempts=tries), corrections=corrections, deadline_ms=deadline
    ),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from([1_000, 60_000, 600_000]),
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scripts=st.lists(st.lists(TURNS, min_size=1, max_size=4), min_size=1, max_size=2),
    schema=st.sampled_from([None, Weather, Days]),
    policy=POLICIES,
    partial_ok=st.booleans(),
    budget=st.sampled_from(["0", "0.0002", "10"]),
    passed=st.integers(0, 120_000),
    seed=st.integers(0, 100),
)
def test_every_call_ends_with_result_and_books_agree(price, scripts, schema, policy, partial_ok, budget, passed, seed):
    clock = noon()
    clock.advance(ModelCall.objects.count() * 1_000 + passed)

    def sleep(seconds: float) -> None:
        clock.advance(round(seconds * 1_000))

    # A script begins anew when it is at its end.
    providers = [
        ScriptedChat((turn for _ in range(9) for turn in turns), name=name, model="m", sleep=sleep)
        for name, turns in zip(("scripted", "second"), scripts, strict=False)
    ]
    if not ModelCall.objects.exists():
        price("scripted", 1)
        price("second", 2)
    before = ModelCall.objects.count()
    spent_before = budget_window(clock=clock).spent
    result = chat(
        actor="key:app",
        purpose="test",
        request=QUESTION,
        schema=schema,
        partial_ok=partial_ok,
        providers=providers,
        rules=rules(budget, tokens_per_minute={"scripted": 2_000, "second": 2_000}),
        policy=policy,
        clock=clock,
        rng=DeterministicRNG(seed),
        sleep=sleep,
    )
    assert isinstance(result, ChatAnswer | ChatFailure)
    assert result.effort.attempts <= len(providers) * policy.retry.max_attempts * (1 + policy.corrections)
    assert result.effort.attempts == sum(len(provider.requests) for provider in providers)
    if isinstance(result, ChatAnswer) and schema:
        assert isinstance(result.value, schema)
    assert not BudgetReservation.objects.exists()
    assert not TokenUse.objects.filter(settled_at=None).exists()
    assert ModelCall.objects.count() == before + 1
    call = ModelCall.objects.order_by("-id")[0]
    assert (call.attempts, call.cost_usd) == (result.effort.attempts, result.effort.cost_usd)
    assert (call.outcome == "succeeded") is isinstance(result, ChatAnswer)
    assert budget_window(clock=clock).spent - spent_before == call.cost_usd
