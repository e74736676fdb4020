"""Events of conversations: when facts are extracted, and flushed before the context is compacted (spec 001)."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access
from apps.events.services import request_once
from apps.notes import metrics
from apps.notes.conversations.messages import check_session_id, conversation_lock
from apps.notes.domain.conversation import (
    ConversationState,
    Decision,
    EventType,
    begins_cycle,
    decide_end,
    decide_flush,
    decide_turn,
)
from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.config import config_of
from apps.notes.files.owner import owner_to_write
from apps.notes.models import Conversation, ConversationMessage, ExtractionRun, RunTrigger

# A longer conversation is extracted from in several runs.
RUN_MESSAGES = 200
TASK = "apps.notes.tasks.extract_facts"
TRIGGERS = {
    EventType.IDLE: RunTrigger.IDLE,
    EventType.END: RunTrigger.END,
    EventType.USAGE: RunTrigger.USAGE,
    EventType.COMPACTION_START: RunTrigger.COMPACTION,
}
FLUSHES = (RunTrigger.USAGE, RunTrigger.COMPACTION)


def runs_enqueue() -> None:
    """Have a worker take the runs that are due, once this transaction is committed; several requests make one task."""
    request_once(TASK, "notes: extract facts")


def runs_request(conversation: Conversation, trigger: RunTrigger, *, actor: str, now: datetime) -> list[ExtractionRun]:
    """Have facts extracted from all new messages of a conversation that the caller has locked. Return the runs."""
    new = ConversationMessage.objects.filter(conversation=conversation).new().order_by("number")
    numbers = dict(new.values_list("pk", "number"))
    keys = list(numbers)
    runs = []
    for first in range(0, len(keys), RUN_MESSAGES):
        claimed = keys[first : first + RUN_MESSAGES]
        run = ExtractionRun.objects.create(
            user_id=conversation.user_id,
            conversation=conversation,
            session_id=conversation.session_id,
            trigger=trigger,
            cycle=conversation.cycle,
            actor=actor,
            received={"messages": len(claimed), "first": numbers[claimed[0]], "last": numbers[claimed[-1]]},
            requested_at=now,
            next_try_at=now,
        )
        ConversationMessage.objects.filter(pk__in=claimed).update(run=run)
        runs.append(run)
    if runs:
        runs_enqueue()
    return runs


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event that came in. context_use: as a share; tokens: where the application counts them."""

    type: EventType
    tokens_used: int | None = None
    token_limit: int | None = None
    context_use: float | None = None


@dataclass(frozen=True, slots=True)
class EventAnswer:
    """What an event led to. decision: None for one that leads to no extraction, the end of a compaction."""

    conversation: Conversation
    decision: Decision | None
    runs: list[ExtractionRun]

    @property
    def outcome(self) -> str:
        """Return in one word what the event led to, or why it was skipped."""
        if self.decision is None:
            return "noted"
        is_flush = any(run.trigger in FLUSHES for run in self.runs)
        return self.decision.reason or ("flushing" if is_flush else "extracting")


def event_add(
    *, access: Access, user_id: str | None, session_id: str, event: EventDraft, clock: Clock = SYSTEM_CLOCK
) -> EventAnswer:
    """Take an event of a conversation; begin an extraction where it is time for one.

    Events of one conversation follow each other, whatever comes in at the same time: two that want to flush flush once.
    Raises ForbiddenError, InvalidInputError.
    """
    owner, now = owner_to_write(access, user_id), utcnow(clock)
    check_session_id(session_id)
    config = config_of(owner)
    with transaction.atomic():
        hold_users([owner])
        conversation = conversation_lock(owner, session_id, now)
        if event.type is EventType.USAGE:
            conversation.tokens_used, conversation.token_limit = event.tokens_used, event.token_limit
            conversation.context_use = event.context_use
            if is_flushed(conversation) and begins_cycle(config, event.context_use):
                conversation.cycle += 1
        elif event.type is EventType.COMPACTION_END:
            conversation.cycle += 1
            conversation.tokens_used = conversation.context_use = None
        elif event.type is EventType.END:
            conversation.ended_at = now
        decision = decide(config, conversation, event.type, now)
        runs = []
        if decision is not None and decision.is_extracted:
            trigger = TRIGGERS[event.type]
            runs = runs_request(conversation, trigger, actor=access.actor, now=now)
            conversation.last_extraction_at = now
            if trigger in FLUSHES:
                conversation.flushed_cycle = conversation.cycle
        conversation.save()
    answer = EventAnswer(conversation, decision, runs)
    metrics.EVENTS.labels(event.type.value, answer.outcome).inc()
    return answer


def is_flushed(conversation: Conversation) -> bool:
    """Return whether a flush began in the present cycle of compaction."""
    return conversation.flushed_cycle >= conversation.cycle


def decide(config: MemoryConfig, conversation: Conversation, event: EventType, now: datetime) -> Decision | None:
    """Return whether facts are extracted because of an event; None for one that never leads to that."""
    state = ConversationState(
        new_messages=ConversationMessage.objects.filter(conversation=conversation).new().count(),
        last_extraction_at=conversation.last_extraction_at,
        context_use=conversation.context_use,
        is_flushed=is_flushed(conversation),
    )
    if event is EventType.COMPACTION_END:
        return None
    if event is EventType.IDLE:
        return decide_turn(config, state, now)
    if event is EventType.END:
        return decide_end(config, state)
    return decide_flush(config, state, is_last_chance=event is EventType.COMPACTION_START)
