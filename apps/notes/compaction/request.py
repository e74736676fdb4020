"""Asking for a compaction: by hand, or after an extraction when MEMORY.md has become long."""

from datetime import timedelta

from django.db import transaction
from django_q.tasks import async_task

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.notes.domain.compaction.draft import LastCompaction, should_compact
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_read
from apps.notes.files.config import config_of
from apps.notes.models import Compaction, CompactionState

TASK = "apps.notes.tasks.compact"
# A task that has not ended after so long was lost; longer than django-q2 waits before it begins one again.
LOST_AFTER = timedelta(minutes=20)


@transaction.atomic
def compaction_request(user_id: str, *, actor: str, automatic: bool = False, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Enqueue a compaction of a user's MEMORY.md, and return it; one that is under way is returned instead.

    Raises UserLockedError.
    """
    hold_users([user_id])
    now = utcnow(clock)
    compaction, is_new = Compaction.objects.get_or_create(
        user_id=user_id,
        state=CompactionState.ASKED,
        defaults={"actor": actor, "automatic": automatic, "created_at": now},
    )
    if is_new or compaction.created_at < now - LOST_AFTER:
        async_task(TASK, str(compaction.uuid), task_name="notes: compact", save=False)
    return compaction


def compaction_request_due(user_id: str, *, actor: str, clock: Clock = SYSTEM_CLOCK) -> Compaction | None:
    """Enqueue a compaction if the user has turned it on and MEMORY.md is long enough (spec 001, compaction trigger).

    Called after an extraction. Returns None where none is due. Raises UserLockedError, ConflictError, UnavailableError.
    """
    config = config_of(user_id)
    if not config.llm_compaction_enabled:
        return None
    note = note_read(user_id, MAIN, clock=clock)
    if not should_compact(config, note.text or b"", note.sha256, last_of(user_id)):
        return None
    return compaction_request(user_id, actor=actor, automatic=True, clock=clock)


def last_of(user_id: str) -> LastCompaction | None:
    """Return the last compaction of a user that has read the text; None where there is none."""
    last = Compaction.objects.filter(user_id=user_id).exclude(base_sha256="").newest_first().first()
    if last is None:
        return None
    is_shorter = last.state == CompactionState.APPLIED
    facts = last.facts_after if is_shorter else last.facts_before
    return LastCompaction(frozenset({last.base_sha256, last.draft_sha256}), facts)
