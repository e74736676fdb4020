"""Extract memories from a conversation by a chat model; prompt and answer are in `domain.extraction`.

`memories_find` asks and saves nothing; `memories_extract` saves what was found. The slow call of the model holds no
transaction; memories are saved by the usual write path, so duplicates and conflicts are decided as for any other one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from apps.core.db.memberships import WriteScopes
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.errors import UnavailableError
from apps.core.domain.randomness import RNG, SYSTEM_RNG
from apps.core.domain.scope import Access, Scope
from apps.llm.domain.chat import ChatProvider
from apps.llm.domain.outcome import ChatFailure, Effort, StoppedBy
from apps.llm.domain.salience import DEFAULT_SALIENCE_CONFIG, MoodDelta, SalienceConfig, select_salient_messages
from apps.llm.services import ChosenModel, GatewayPolicy, chat
from apps.semantic.domain.extraction import (
    ConversationMessage,
    ExtractedMemory,
    Extraction,
    Provenance,
    extraction_request,
    harmless,
    make_draft,
    readable,
)
from apps.semantic.memories.save import SaveOutcome, memory_save_many

PURPOSE = "extract"


@dataclass(frozen=True)
class ExtractionResult:
    """The result of an extraction.

    memories: those found. outcomes: of saving each of them, or its error, in the same order; empty where saving was not
    possible at all, and then `unsaved` says why. refused: how many others held a request to run a tool, and are not
    saved. failure: why no model answered; None also where there was nothing to read. read: how many messages the model
    read. left_out: how many it did not. is_cut: the end of the answer is missing, and with it memories. effort: of the
    call. provider, model: who answered.
    """

    memories: tuple[ExtractedMemory, ...] = ()
    outcomes: tuple[SaveOutcome, ...] = ()
    refused: int = 0
    failure: ChatFailure | None = None
    unsaved: UnavailableError | None = None
    read: int = 0
    left_out: int = 0
    is_cut: bool = False
    effort: Effort = field(default_factory=Effort)
    provider: str = ""
    model: str = ""

    @property
    def is_configured(self) -> bool:
        """Return whether a chat model is configured."""
        return self.failure is None or self.failure.stopped_by is not StoppedBy.CONFIGURATION


def memories_extract(
    *,
    access: Access,
    messages: Sequence[ConversationMessage],
    scope: Scope,
    session_id: str = "",
    base_confidence: float | None = None,
    mood_deltas: Sequence[MoodDelta | None] = (),
    salience: SalienceConfig = DEFAULT_SALIENCE_CONFIG,
    providers: Sequence[ChatProvider] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    sleep: Callable[[float], None] = time.sleep,
) -> ExtractionResult:
    """Have a model read the salient messages of a conversation, and save what it finds worth remembering in `scope`.

    A model that does not answer is a `failure` in the result, a missing configuration included. What was found is
    paid for, so it is returned even if it cannot be saved.

    Args:
        mood_deltas: one for each message by position.
        base_confidence: how much the conversation is to be trusted, 0.5 unless given.
        providers: None for the configured ones.

    Raises:
        ForbiddenError, InvalidInputError: the caller may not write to the scope; before the call.
        OpenTransactionError: a transaction is open.
    """
    owner = WriteScopes(access, settings.MEMORYHUB.default_user).settle(scope)
    heard, deltas = readable(messages, mood_deltas)
    chosen = select_salient_messages(heard, deltas, salience, rng).selected_messages
    if not chosen:
        return ExtractionResult(left_out=len(messages))
    found = memories_find(
        actor=access.actor,
        user_id=owner.user_id or "",
        messages=chosen,
        providers=providers,
        clock=clock,
        rng=rng,
        sleep=sleep,
    )
    result = replace(found, left_out=len(messages) - len(chosen))
    if not found.memories:
        return result
    origin = Provenance(owner, chosen, base_confidence, session_id, {"provider": found.provider, "model": found.model})
    drafts = [make_draft(memory, origin) for memory in found.memories]
    try:
        outcomes = memory_save_many(access=access, drafts=drafts, clock=clock)
    except UnavailableError as error:
        return replace(result, unsaved=error)
    return replace(result, outcomes=tuple(outcomes))


def memories_find(
    *,
    actor: str,
    user_id: str,
    messages: Sequence[ConversationMessage],
    model: ChosenModel | None = None,
    partial_ok: bool = True,
    providers: Sequence[ChatProvider] | None = None,
    policy: GatewayPolicy | None = None,
    clock: Clock = SYSTEM_CLOCK,
    rng: RNG = SYSTEM_RNG,
    sleep: Callable[[float], None] = time.sleep,
) -> ExtractionResult:
    """Have a model read messages, and return what it finds worth remembering. Saves nothing.

    messages: at least one, all `readable`. model: the one to ask; None for the configured ones. partial_ok: what is
    whole of an answer that was cut is used; else the model is asked again, and a second such answer is a failure.

    Raises OpenTransactionError.
    """
    request = extraction_request(messages, rng)
    answer = chat(
        actor=actor,
        purpose=PURPOSE,
        user_id=user_id,
        request=request if model is None else model.ask(request),
        schema=Extraction,
        partial_ok=partial_ok,
        providers=providers if model is None else (model.provider,),
        policy=policy,
        clock=clock,
        rng=rng,
        sleep=sleep,
    )
    result = ExtractionResult(read=len(messages), effort=answer.effort)
    if isinstance(answer, ChatFailure):
        return replace(result, failure=answer)
    memories = harmless(answer.value.memories)
    return replace(
        result,
        memories=tuple(memories),
        refused=len(answer.value.memories) - len(memories),
        is_cut=answer.is_cut,
        provider=answer.provider,
        model=answer.model,
    )
