"""How automatic memory of a user is doing."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from apps.core.domain.scope import Access
from apps.notes.domain.settings import MemoryConfig
from apps.notes.files.config import config_of
from apps.notes.files.owner import owner_to_read
from apps.notes.models import Conversation, ConversationMessage, ExtractedFact, ExtractionRun, FactState, RunState


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
