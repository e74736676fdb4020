"""How long the contents of conversations are kept."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.notes.models import ConversationMessage, RunState

BATCH = 1_000


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
