"""Tables of notes."""

from apps.notes.models.versions import MAX_PLACE_CHARS, ChangeKind, NoteVersion

__all__ = ["MAX_PLACE_CHARS", "ChangeKind", "NoteVersion"]
