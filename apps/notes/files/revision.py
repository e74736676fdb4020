"""Changes that are made of the present text of a note: read, changed and written under one lock."""

from collections.abc import Callable

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.steps import Step, no_step
from apps.notes.domain.places import NotePlace
from apps.notes.files.desk import Desk, NoteChangedError
from apps.notes.files.folder import MAX_BYTES, too_large
from apps.notes.files.lock import notes_lock
from apps.notes.models import ChangeKind, NoteVersion

_TRIES = 20
# Returns the new text of a note from the present one, None where there is no file; may raise.
Revise = Callable[[bytes | None], bytes]


def note_revise(
    user_id: str,
    place: NotePlace,
    revise: Revise,
    *,
    author: str,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> tuple[NoteVersion, bytes]:
    """Replace the text of a note by what a function makes of it; return the version and the text.

    No digest is needed: nothing comes between. What an editor saves in that very moment is read again.
    Raises what the function raises, InvalidInputError, ConflictError, UnavailableError.
    """
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock), step)
        for _ in range(_TRIES):
            note = desk.look()
            text = revise(note.text)
            if len(text) > MAX_BYTES:
                raise too_large(place.name)
            if note.text == text and note.version is not None:
                return note.version, text
            try:
                return desk.write(lambda _, text=text: text, ChangeKind.EDIT, note.text)  # type: ignore[misc]
            except NoteChangedError:
                continue
        raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)
