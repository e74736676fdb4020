"""Which events are recorded already, without recording any."""

from collections.abc import Sequence

from django.conf import settings

from apps.core.db.memberships import WriteScopes
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.episodic.domain.event import EventDraft, EventRecord
from apps.episodic.recording.record import prepare_event
from apps.episodic.recording.rows import known_rows, may_be_archived
from apps.episodic.store.archived_segments import ArchivedFileDamagedError
from apps.episodic.store.file_cache import archive_cache


def events_known(
    *, access: Access, drafts: Sequence[EventDraft], clock: Clock = SYSTEM_CLOCK
) -> list[EventRecord | MemoryHubError | None]:
    """Return for each draft the event that it would be a duplicate of, or why it must not be recorded; else None.

    Raises UnavailableError while files are being loaded. An event of a damaged file is not known.
    """
    now, scopes = utcnow(clock), WriteScopes(access, settings.MEMORYHUB.default_user)
    prepared = [prepare_event(access, scopes, draft, now) for draft in drafts]
    records = {one.identity: one for one in prepared if isinstance(one, EventRecord)}
    found = {identity: record for identity, (record, _) in known_rows(records).items()}
    moments = {identity: record.timestamp for identity, record in records.items() if identity not in found}
    if moments and may_be_archived(min(moments.values())):
        try:
            found |= archive_cache().find(moments)
        except ArchivedFileDamagedError as damage:
            damage.report()
    return [one if isinstance(one, MemoryHubError) else found.get(one.identity) for one in prepared]
