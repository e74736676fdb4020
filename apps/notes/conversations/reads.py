"""Reads of conversations and of what was learnt from them. Every one takes the caller's access."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access
from apps.notes.conversations.messages import check_session_id
from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.config import config_of
from apps.notes.files.owner import owner_to_read
from apps.notes.models import Conversation, ConversationMessage, ExtractedFact, ExtractionRun, FactState, RunState
from apps.notes.querysets import ConversationQuerySet, RunQuerySet

LATEST = 100
NO_SUCH_FACT = "There is no such fact."


def conversation_list(access: Access, user_id: str | None) -> ConversationQuerySet:
    """Return the conversations of a user."""
    owner = owner_to_read(access, user_id)
    return Conversation.objects.all().visible_to(access).filter(user_id=owner)


def conversation_get(access: Access, user_id: str | None, session_id: str) -> Conversation:
    """Return a conversation by the id of its session. Raises NotFoundError."""
    check_session_id(session_id)
    found = conversation_list(access, user_id).filter(session_id=session_id).first()
    if found is None:
        raise NotFoundError("There is no such conversation.")
    return found


def new_message_counts(conversations: Iterable[Conversation]) -> Counter[int]:
    """Return from how many messages of each conversation nothing was extracted yet, by its key."""
    keys = [conversation.pk for conversation in conversations]
    rows = ConversationMessage.objects.filter(conversation__in=keys).new()
    return Counter(dict(rows.order_by().values_list("conversation").annotate(Count("pk"))))


def latest_messages(conversation: Conversation, limit: int = LATEST) -> list[ConversationMessage]:
    """Return the latest messages of a conversation, the last one last."""
    rows = ConversationMessage.objects.filter(conversation=conversation).select_related("run")
    return list(rows.order_by("-number")[:limit])[::-1]


def run_list(access: Access, user_id: str | None, filters: Mapping[str, Any]) -> RunQuerySet:
    """Return the runs of extraction of a user. filters: exact values of columns."""
    owner = owner_to_read(access, user_id)
    return ExtractionRun.objects.all().visible_to(access).filter(user_id=owner, **filters).annotate_facts()


def run_get(access: Access, uuid: UUID) -> ExtractionRun:
    """Return a run inside the bound of the caller. Raises NotFoundError."""
    rows = ExtractionRun.objects.all()
    found = rows.visible_to(access).filter(uuid=uuid).annotate_facts().first() if is_whole(access) else None
    if found is None:
        raise NotFoundError("There is no such run.")
    return found


def run_facts(run: ExtractionRun) -> list[ExtractedFact]:
    """Return the facts that a run found, in their order."""
    return list(ExtractedFact.objects.filter(run=run).select_related("message").order_by("number"))


def fact_get(access: Access, uuid: UUID) -> ExtractedFact:
    """Return a fact inside the bound of the caller. Raises NotFoundError."""
    rows = ExtractedFact.objects.all()
    found = rows.visible_to(access).filter(uuid=uuid).select_related("message").first() if is_whole(access) else None
    if found is None:
        raise NotFoundError(NO_SUCH_FACT)
    return found


def is_whole(access: Access) -> bool:
    """Return whether a key may see persons as a whole: one for a part of a person has no conversations."""
    return access.bound.household_id is None and access.bound.persona_id is None


@dataclass(frozen=True)
class AutoMemoryStatus:
    """Settings that matter here, and counts. new_messages: from which nothing was extracted yet."""

    config: MemoryConfig
    conversations: int
    new_messages: int
    runs: dict[str, int]
    facts: dict[str, int]
    last_extraction_at: datetime | None


def auto_memory_status(access: Access, user_id: str | None) -> AutoMemoryStatus:
    """Return how automatic memory of a user is doing. Raises NotFoundError outside the bound."""
    owner = owner_to_read(access, user_id)
    runs = ExtractionRun.objects.filter(user_id=owner).order_by().values_list("state").annotate(Count("pk"))
    facts = ExtractedFact.objects.filter(user_id=owner).order_by().values_list("state").annotate(Count("pk"))
    conversations = Conversation.objects.filter(user_id=owner)
    return AutoMemoryStatus(
        config=config_of(owner),
        conversations=conversations.count(),
        new_messages=ConversationMessage.objects.filter(user_id=owner).new().count(),
        runs=dict.fromkeys(RunState.values, 0) | dict(runs),
        facts=dict.fromkeys(FactState.values, 0) | dict(facts),
        last_extraction_at=conversations.aggregate(latest=Max("last_extraction_at"))["latest"],
    )
