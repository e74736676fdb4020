"""Messages of conversations, as the chat application sends them, and how long their contents are kept."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import MD5

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, NotFoundError
from apps.core.domain.scope import Access
from apps.core.pauses import require_saving
from apps.notes import metrics
from apps.notes.files.config import config_of
from apps.notes.files.owner import owner_to_write
from apps.notes.models import Conversation, ConversationMessage, MessageRole, RunState
from apps.notes.models.conversations import MAX_NAME_CHARS

# Recalled texts among them.
MAX_SESSION_MESSAGES = 20_000
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message that came in. caller_id: the application's, blank for none. at: None for now."""

    role: str
    content: str
    caller_id: str = ""
    speaker: str = ""
    at: datetime | None = None
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class AddedMessage:
    """A message with whether it is new: False for one that came in before."""

    message: ConversationMessage
    is_new: bool


def messages_add(
    *,
    access: Access,
    user_id: str | None,
    session_id: str,
    drafts: Sequence[MessageDraft],
    recalled: Sequence[str] = (),
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[Conversation, list[AddedMessage]]:
    """Add messages to a conversation, which the first ones create. Return it with one result for each draft.

    recalled: texts that the assistant was given from memory; each is kept once. A message whose id came in before is
    not added again. While memory is off, nothing that was said is kept: such messages are never extracted from.
    Raises ForbiddenError, InvalidInputError; ConflictError for a conversation that is full;
    PausedError.
    """
    owner, now = owner_to_write(access, user_id), utcnow(clock)
    require_saving(access, owner, clock=clock)
    check_session_id(session_id)
    is_on = config_of(owner).enabled
    texts = [MessageDraft(MessageRole.SYSTEM, text, recalled=True) for text in recalled if is_on]
    with transaction.atomic():
        hold_users([owner])
        conversation = conversation_lock(owner, session_id, now)
        intake = Intake(conversation, now, is_on=is_on)
        results = intake.add([*drafts, *texts])
        intake.write()
    for message in intake.added:
        metrics.MESSAGES.labels("recalled" if message.recalled else message.role).inc()
    return conversation, results[: len(drafts)]


def check_session_id(session_id: str) -> None:
    """Raise InvalidInputError for an id of a session that cannot be one."""
    if not 0 < len(session_id) <= MAX_NAME_CHARS or "\x00" in session_id:
        detail = f"The id of a session has 1 to {MAX_NAME_CHARS} characters, and no NUL among them."
        raise InvalidInputError(detail, attr="session_id")


def conversation_lock(user_id: str, session_id: str, now: datetime) -> Conversation:
    """Return a conversation that no one else changes until the caller's transaction ends; create a missing one."""
    Conversation.objects.get_or_create(user_id=user_id, session_id=session_id, defaults={"created_at": now})
    found: Conversation = Conversation.objects.select_for_update().get(user_id=user_id, session_id=session_id)
    return found


def session_delete(*, access: Access, user_id: str | None, session_id: str) -> None:
    """Delete a conversation with its messages. What was learnt from it stays. Raises NotFoundError."""
    owner = owner_to_write(access, user_id)
    check_session_id(session_id)
    with transaction.atomic():
        hold_users([owner])
        found = Conversation.objects.select_for_update().filter(user_id=owner, session_id=session_id).first()
        if found is None:
            raise NotFoundError("There is no such conversation.")
        found.delete()


class Intake:
    """Adds drafts to a conversation that the caller has locked. is_on: whether what they say is kept."""

    def __init__(self, conversation: Conversation, now: datetime, *, is_on: bool = True) -> None:
        self.conversation, self.now, self.is_on = conversation, now, is_on
        self.added: list[ConversationMessage] = []

    def add(self, drafts: Sequence[MessageDraft]) -> list[AddedMessage]:
        """Return one result for each draft; the rows are written by `write`. Raises ConflictError."""
        rows = ConversationMessage.objects.filter(conversation=self.conversation)
        ids = [draft.caller_id for draft in drafts if draft.caller_id]
        by_id = {row.caller_id: row for row in rows.filter(caller_id__in=ids)} if ids else {}
        # PostgreSQL finds a text in its index by this digest.
        digests = [
            hashlib.md5(draft.content.encode(), usedforsecurity=False).hexdigest() for draft in drafts if draft.recalled
        ]
        recalled = rows.filter(recalled=True, cleared_at=None).annotate(digest=MD5("content"))
        by_text = {row.content: row for row in recalled.filter(digest__in=digests)} if digests else {}
        results = []
        for draft in drafts:
            known = by_id.get(draft.caller_id) or (by_text.get(draft.content) if draft.recalled else None)
            message = known or self.make(draft)
            if draft.caller_id:
                by_id[draft.caller_id] = message
            if draft.recalled:
                by_text[draft.content] = message
            results.append(AddedMessage(message, is_new=known is None))
        return results

    def make(self, draft: MessageDraft) -> ConversationMessage:
        """Return the next row of the conversation. Raises ConflictError when it is full."""
        if self.conversation.last_number >= MAX_SESSION_MESSAGES:
            detail = f"A conversation has at most {MAX_SESSION_MESSAGES} messages: begin another one."
            raise ConflictError(detail, attr="messages", code="conversation_full")
        self.conversation.last_number += 1
        message = ConversationMessage(
            user_id=self.conversation.user_id,
            conversation=self.conversation,
            number=self.conversation.last_number,
            caller_id=draft.caller_id,
            role=draft.role,
            speaker=draft.speaker if self.is_on else "",
            content=draft.content if self.is_on else "",
            recalled=draft.recalled,
            at=draft.at or self.now,
            received_at=self.now,
            cleared_at=None if self.is_on else self.now,
        )
        self.added.append(message)
        return message

    def write(self) -> None:
        """Write the new rows, and what changes of the conversation: one that had ended goes on."""
        if not self.added:
            return
        ConversationMessage.objects.bulk_create(self.added)
        said = sum(not message.recalled for message in self.added)
        self.conversation.messages += said
        if said:
            self.conversation.last_message_at, self.conversation.ended_at = self.now, None
        self.conversation.save(update_fields=["last_number", "messages", "last_message_at", "ended_at"])


def contents_clear(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Delete the contents of messages some days after they were extracted from; return how many.

    Those from which nothing was extracted, and recalled texts, go as many days after they came in. What a run is still
    to read stays. The rows stay without content, so that a message that is sent again is known.
    """
    now = utcnow(clock)
    cutoff = now - timedelta(days=settings.MEMORYHUB.conversation_days)
    is_over = Q(run=None) | Q(run__ended_at__lt=cutoff) & ~Q(run__state__in=(RunState.WAITING, RunState.RUNNING))
    old = ConversationMessage.objects.filter(is_over, cleared_at=None, received_at__lt=cutoff)
    cleared = 0
    while keys := list(old.order_by("received_at").values_list("pk", flat=True)[:BATCH]):
        rows = ConversationMessage.objects.filter(pk__in=keys, cleared_at=None)
        cleared += rows.update(content="", speaker="", cleared_at=now)
    return cleared
