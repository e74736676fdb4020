"""Requests for runs of extraction, in the transaction of the event that leads to them."""

from datetime import datetime

from apps.events.services import request_once
from apps.notes.models import Conversation, ConversationMessage, ExtractionRun, RunTrigger

# A longer conversation is extracted from in several runs.
RUN_MESSAGES = 200
TASK = "apps.notes.tasks.extract_facts"


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
