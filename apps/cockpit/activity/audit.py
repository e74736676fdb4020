"""Entries of the audit in the stream: what no hub event says, such as sign-ins, keys, accounts and exports."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from apps.audit.selectors import entries
from apps.cockpit.activity.phrases import ACT
from apps.cockpit.domain.activity import Entry
from apps.core.domain.scope import Access

# What hub events, versions of notes and their own tables say already.
SAID_ELSEWHERE = (
    "memory.", "memories.", "conflict.", "conflicts.", "decisions.", "rule.", "rules.", "merge_rule.", "event.",
    "events.", "timeline_event.", "note.", "notes.", "note_version.", "sync.", "model_call.",
)  # fmt: skip
TONES = {"refused": "warn", "failed": "bad"}


def audit_rows(access: Access) -> QuerySet[Any]:
    """Return the entries that the viewer may see, and that nothing else says."""
    said = Q()
    for prefix in SAID_ELSEWHERE:
        said |= Q(action__startswith=prefix)
    return entries(access).exclude(said)


def audit_entries(rows: QuerySet[Any]) -> Iterable[Entry]:
    """Return entries of the audit as entries of the stream; details stay on the pages of the audit."""
    for row in rows.values("id", "at", "actor_kind", "actor", "action", "outcome", "user_id"):
        yield Entry(
            at=row["at"],
            source="audit",
            position=row["id"],
            kind="access",
            verb=f"{ACT}{row['outcome']}",
            actor="" if row["actor_kind"] == "hub" else f"{row['actor_kind']}:{row['actor'].removeprefix('person:')}",
            person=row["user_id"],
            words=row["action"],
            tone=TONES.get(row["outcome"], ""),
        )
