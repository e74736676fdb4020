"""The entry of a management command."""

from collections.abc import Mapping, Sequence

from django.db import DatabaseError

from apps.audit.models import ActorKind
from apps.audit.recording.entries import build_entry, write_entries
from apps.audit.recording.losses import note_loss
from apps.audit.recording.notes import Recording
from apps.core.domain.scope import IDENTIFIERS, Scope


def record_command(
    *,
    held: Recording,
    actor: str,
    action: str,
    identifiers: Mapping[str, str],
    options: Sequence[str],
    outcome: str,
) -> None:
    """Write the entry of a command, and one for each object of settings that it changed. It raises nothing.

    actor: the user of the operating system. identifiers: whose data it was about. options: names without values.
    """
    common = {"actor_kind": ActorKind.COMMAND, "actor": actor, "action": action, "outcome": outcome}
    scope, detail = (
        Scope(*(identifiers.get(name) for name in IDENTIFIERS)),
        {"options": list(options)} if options else {},
    )
    entries = [build_entry(**common, scope=scope, detail=detail)]
    entries += [
        build_entry(
            **common, object_type=note.object_type, object_id=note.object_id, scope=note.scope, detail=note.detail
        )
        for note in held.notes.values()
    ]
    try:
        write_entries(entries)
    except DatabaseError as error:
        note_loss(action, error)
