"""Ask a chat model (spec 002, DESIGN D11)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack, overload

from pydantic import BaseModel

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.llm.domain.answers import Expectation
from apps.llm.domain.chat import ChatProvider, ChatRequest
from apps.llm.domain.outcome import NO_MODEL, AnswerPiece, ChatFailure, ChatResult, Stop, StoppedBy
from apps.llm.gateway.call import Call
from apps.llm.gateway.context import CallContext, CallRequest, GatewayPolicy, gateway_policy, is_in_transaction
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.providers.configured import chat_providers

M = TypeVar("M", bound=BaseModel)


class OpenTransactionError(RuntimeError):
    """A model was to be asked inside a database transaction, which would last as long as the model thinks."""


class ChatOptions(TypedDict, total=False):
    """The options of `chat` that do not change the type of its result."""

    user_id: str
    partial_ok: bool
    on_piece: Callable[[AnswerPiece], None] | None
    providers: Sequence[ChatProvider] | None
    rules: GuardRules | None
    policy: GatewayPolicy | None
    clock: Clock
    rng: RNG
    sleep: Callable[[float], None]


@overload
def chat(
    *, actor: str, purpose: str, request: ChatRequest, schema: type[M], **options: Unpack[ChatOptions]
) -> ChatResult[M]: ...


@overload
def chat(
    *, actor: str, purpose: str, request: ChatRequest, schema: None = ..., **options: Unpack[ChatOptions]
) -> ChatResult[Any]: ...


def chat(
    *,
    actor: str,
    purpose: str,
    request: ChatRequest,
    schema: type[BaseModel] | None = None,
    user_id: str = "",
    partial_ok: bool = False,
    on_piece: Callable[[AnswerPiece], None] | None = None,
    providers: Sequence[ChatProvider] | None = None,
    rules: GuardRules | None = None,
    policy: GatewayPolicy | None = None,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    sleep: Callable[[float], None] = time.sleep,
) -> ChatResult[Any]:
    """Ask the configured model, or its fallback, under the guards. A ChatFailure says what stopped it.

    actor: who wants it; purpose: what for, a short code; user_id: whose memories it is about; for the record.
    schema: with one, JSON is expected and the answer's `value` is an instance. partial_ok: see `Expectation`.
    on_piece: called with the answer as it comes in; what it raises ends the call and is raised. providers, rules,
    policy: None for the configured ones. sleep: wait, in seconds.

    Blocks until there is an answer, at most for the policy's deadline. Raises OpenTransactionError inside a
    transaction: a call may take minutes. What is set aside of budget and rate is handed back on every way out.
    """
    if is_in_transaction():
        raise OpenTransactionError(
            "A chat model was asked inside transaction.atomic(): its locks and its connection would be held for as "
            "long as the model takes. Ask before the transaction, and write the result in one."
        )
    asked = chat_providers() if providers is None else tuple(providers)
    if not asked:
        return ChatFailure((Stop(StoppedBy.CONFIGURATION, NO_MODEL),))
    expected = Expectation(schema, request.expects_json or schema is not None, partial_ok)
    question = replace(request, expects_json=expected.json)
    return Call(
        CallRequest(
            actor=actor, purpose=purpose, user_id=user_id, question=question, expected=expected, on_piece=on_piece
        ),
        asked,
        CallContext(rules=rules or guard_rules(), policy=policy or gateway_policy(), clock=clock, rng=rng, sleep=sleep),
    ).run()
