"""Entries of the audit in the stream: what no hub event says, such as sign-ins, keys, accounts and exports."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from apps.audit.selectors import entries
from apps.cockpit.domain.activity import Entry
from apps.core.domain.scope import Access

# What hub events, versions of notes and their own tables say already.
SAID_ELSEWHERE = (
    "memory.", "memories.", "conflict.", "conflicts.", "decisions.", "rule.", "rules.", "merge_rule.", "event.",
    "events.", "timeline_event.", "note.", "notes.", "note_version.", "sync.", "model_call.",
)  # fmt: skip
PAST = {
    "accept": "accepted", "add": "added", "apply": "applied", "change": "changed", "create": "created",
    "delete": "deleted", "dismiss": "dismissed", "execute": "ran", "export": "exported", "import": "imported",
    "load": "loaded", "open": "opened", "override": "overrode", "pause": "paused", "replace": "replaced",
    "resolve": "resolved", "restore": "restored", "resume": "resumed", "revert": "reverted", "revoke": "revoked",
    "rotate": "rotated", "run": "ran", "undo": "undid",
}  # fmt: skip
SIGNS = {"session.sign_in": "signed in", "session.sign_out": "signed out"}
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
        how = "" if row["outcome"] == "done" else f" ({row['outcome']})"
        yield Entry(
            at=row["at"],
            source="audit",
            position=row["id"],
            kind="access",
            verb="audit",
            actor="" if row["actor_kind"] == "hub" else f"{row['actor_kind']}:{row['actor']}",
            person=row["user_id"],
            words=f"{describe(row['action'])}{how}",
            tone=TONES.get(row["outcome"], ""),
        )


def describe(action: str) -> str:
    """Return an act as the rest of a sentence: `api_key.rotate` is "rotated an API key"."""
    if action in SIGNS:
        return SIGNS[action]
    what, _, verb = action.partition(".")
    noun = what.replace("_", " ").replace("api key", "API key")
    if verb not in PAST:
        return f"{noun}: {verb.replace('_', ' ')}" if verb else noun
    article = "an" if noun[:1].lower() in "aeiou" else "a"
    return f"{PAST[verb]} {article} {noun}"
