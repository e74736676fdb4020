"""Notes of what a request or a command changes, held until it ends, and the entry of a command."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError

from apps.audit.domain.changes import Changes, changed_fields
from apps.audit.models import ActorKind, AuditEntry
from apps.audit.recording.entries import build_entry, note_loss, write_entries
from apps.core.domain.scope import IDENTIFIERS, Scope

# One statement writes them; what is beyond is counted.
MAX_NOTES = 500


@dataclass
class AuditNote:
    """An object that was changed. name: what people call it. said: a sentence of the page about the change."""

    object_type: str
    object_id: str
    name: str = ""
    scope: Scope = field(default_factory=Scope)
    changes: Changes = field(default_factory=dict)
    said: str = ""

    @property
    def detail(self) -> dict[str, Any]:
        """Return what an entry keeps of it."""
        parts = {"name": self.name[:200], "changes": self.changes, "said": self.said[:500]}
        return {name: value for name, value in parts.items() if value}


@dataclass
class Recording:
    """What was noted so far. acts: entries in place of that of the request, as of a sign-in. left_out: notes."""

    notes: dict[tuple[str, str], AuditNote] = field(default_factory=dict)
    acts: list[AuditEntry] = field(default_factory=list)
    left_out: int = 0

    def note(self, object_type: str, object_id: object) -> AuditNote:
        """Return the note of an object, a new one if there is none."""
        key = (object_type, str(object_id))
        if key not in self.notes and len(self.notes) >= MAX_NOTES:
            self.left_out += 1
            return AuditNote(*key)
        return self.notes.setdefault(key, AuditNote(*key))


_current: ContextVar[Recording | None] = ContextVar("audit_recording", default=None)


def current_recording() -> Recording | None:
    """Return what is held for the request or the command that runs; None outside of any that is recorded."""
    return _current.get()


@contextmanager
def recording() -> Iterator[Recording]:
    """Hold notes until the block ends. A recording inside another one is a part of it."""
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    token = _current.set(held := Recording())
    try:
        yield held
    finally:
        _current.reset(token)


def note_change(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    object_type: str,
    object_id: object,
    name: str = "",
    scope: Scope | None = None,
) -> None:
    """Note what changed of an object of settings, for the entry of the current request; nothing outside of one.

    Secrets are left out by the names of their fields (`domain.changes.SECRET`).
    """
    held = current_recording()
    if held is None:
        return
    note = held.note(object_type, object_id)
    note.changes |= changed_fields(before, after)
    note.name, note.scope = name or note.name, scope or note.scope


def note_act(**act: Any) -> None:
    """Have an act written in place of the entry of the current request, or at once outside of one.

    See `build_entry` for what it has: as an act of a person on their own pages, whose actor is `person:<user>`.
    """
    held, entry = current_recording(), build_entry(**act)
    if held is None:
        write_entries([entry])
    else:
        held.acts.append(entry)


def note_object(object_type: str, object_id: object, *, said: str = "", scope: Scope | None = None) -> None:
    """Note that an object was acted upon. said: what the page says of it, no content."""
    held = current_recording()
    if held is not None:
        note = held.note(object_type, object_id)
        note.said, note.scope = said or note.said, scope or note.scope


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
