"""What decides whether a source is due."""

from apps.sync.domain.triggers import TriggerFacts
from apps.sync.models import KnowledgeSource, SyncState


def trigger_facts(source: KnowledgeSource, state: SyncState) -> TriggerFacts:
    """Return what decides about the next sync of a source."""
    return TriggerFacts(
        last_sync_at=state.last_sync_at,
        sessions_since_sync=state.sessions_since_sync,
        staleness_seconds=source.staleness_seconds,
        session_threshold=source.session_threshold,
        daily_at=source.daily_at,
        is_enabled=source.enabled,
        paused=source.paused,
        retries=state.retries,
        next_try_at=state.next_try_at,
        has_more=state.remaining > 0,
    )
