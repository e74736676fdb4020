"""Reading and changing notes: every call holds the lock of the user, and works at the desk of the note."""

from datetime import datetime

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, NotFoundError
from apps.core.steps import Step, no_step
from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import add_entry, digest, is_wide
from apps.notes.files.desk import Change, Desk, Note, changed
from apps.notes.files.folder import MAX_BYTES, too_large
from apps.notes.files.lock import notes_lock
from apps.notes.files.removal import note_delete
from apps.notes.files.versions import DISK, add_version, text_of
from apps.notes.models import ChangeKind, NoteVersion

# A note can be read nevertheless.
UNWRITABLE = frozenset({"disk_full", "no_permission"})


def note_read(user_id: str, place: NotePlace, *, clock: Clock = SYSTEM_CLOCK) -> Note:
    """Return a note as it is on the disk now, also where the disk is full or may only be read."""
    with notes_lock(user_id):
        desk = Desk(user_id, place, DISK, utcnow(clock))
        try:
            return desk.look()
        except MemoryHubError as error:
            if error.code not in UNWRITABLE:
                raise
            text = desk.folder.read(place)
            versions = NoteVersion.objects.of(user_id, place).current().filter(sha256=digest(text or b""))
            return Note(place, text, versions.without_texts().order_by("number").last())


def note_append(
    user_id: str,
    place: NotePlace,
    entry: str,
    *,
    author: str,
    category: str = "",
    operation: str = "",
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> tuple[NoteVersion, bool]:
    """Add an entry; return its version, and whether it is new: an operation that was done before is not done again."""
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock), step)
        note = desk.look()
        done = find_done(desk, operation)
        if done is not None:
            return done, False
        if is_wide(note.text or b""):
            raise ConflictError("The note is in UTF-16: it can only be edited on the disk.", code="not_utf8")
        change: Change = lambda text: add_entry(text, entry, category)  # noqa: E731
        version, _ = desk.write(change, ChangeKind.APPEND, note.text, operation=operation)
        return version, True


def find_done(desk: Desk, operation: str) -> NoteVersion | None:
    """Return the version of an operation that was done. Raises ConflictError when it was done to another note.

    Daily logs count as one note: a repetition may come after midnight, or with another time zone.
    """
    if not operation:
        return None
    done = NoteVersion.objects.filter(user_id=desk.user_id, operation=operation).first()
    if done is not None and done.place != str(desk.place):
        if done.is_written and desk.place.day is not None and place_of(done).day is not None:
            return done
        if done.is_written:
            raise ConflictError("This operation was done to another note.", attr="operation_id", code="operation_used")
        Desk(desk.user_id, place_of(done), desk.author, desk.now).look()
        return find_done(desk, operation)
    return done


def place_of(version: NoteVersion) -> NotePlace:
    """Return the place of the note of a version."""
    return NotePlace(tuple(version.place.split("/")))


def note_edit(
    user_id: str,
    place: NotePlace,
    text: str | bytes,
    *,
    base: str | None,
    author: str,
    kind: ChangeKind = ChangeKind.EDIT,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> NoteVersion:
    """Replace the text of a note that is still the one that the caller has read.

    text: as bytes of a caller who has read them, so that the note need not be valid UTF-8. base: the digest of the text
    that was read; None only for a note that does not exist.

    Raises NoteChangedError with the present text, and keeps what was not written as a version; InvalidInputError.
    """
    content = text.encode() if isinstance(text, str) else text
    if len(content) > MAX_BYTES:
        raise too_large(place.name)
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock), step)
        note = desk.look()
        if note.text == content and note.version is not None:
            return note.version
        if note.text is not None and base is None:
            raise InvalidInputError(
                "Send `base_sha256` of the text that you read.", attr="base_sha256", code="required"
            )
        if base is not None and base != note.sha256:
            add_version(user_id, place, ChangeKind.KEPT, content, author=author, at=desk.now)
            raise changed(note.text or b"")
        if isinstance(text, str):
            require_utf8(note)
        version, _ = desk.write(lambda _: content, kind, note.text)
        return version


def require_utf8(note: Note) -> None:
    """Raise ConflictError for a note whose text a caller could not have read exactly."""
    try:
        (note.text or b"").decode()
    except UnicodeDecodeError as error:
        detail = f"The note is not valid UTF-8 (byte {error.start}): it can be added to, and edited on the disk."
        raise ConflictError(detail, code="not_utf8") from error


def note_restore(
    user_id: str, place: NotePlace, number: int, *, author: str, clock: Clock = SYSTEM_CLOCK
) -> NoteVersion:
    """Make a former version the present text. What is there now stays as a version. Raises NotFoundError."""
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock))
        note = desk.look()
        wanted = NoteVersion.objects.of(user_id, place).filter(number=number).first()
        if wanted is None:
            raise NotFoundError(f"The note has no version {number}.")
        if wanted.kind == ChangeKind.DELETE:
            detail = f"Version {number} is the deletion of the note: restore the one before it."
            raise ConflictError(detail, code="no_text")
        text = text_of(wanted)
        if note.version is not None and note.sha256 == digest(text):
            return note.version
        version, _ = desk.write(lambda _: text, ChangeKind.RESTORE, note.text)
        return version


def note_bring(
    user_id: str,
    place: NotePlace,
    text: bytes,
    *,
    author: str,
    written_at: datetime | None = None,
    clock: Clock = SYSTEM_CLOCK,
    is_dry: bool = False,
) -> bool:
    """Write a note of elsewhere where there is none. Return whether it was written, or would be; not if it is there.

    written_at: becomes the time of the file. is_dry: change nothing. Raises ConflictError where a note has the name and
    other words, InvalidInputError for one that is too large, UnavailableError.
    """
    if len(text) > MAX_BYTES:
        raise too_large(place.name)
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock))
        present = desk.folder.read(place) if is_dry else desk.look().text
        if present is not None:
            if present == text:
                return False
            raise ConflictError("There is a note of this name with other words.", code="note_exists")
        if not is_dry:
            desk.write(lambda _: text, ChangeKind.EDIT, None)
            if written_at is not None:
                desk.folder.set_time(place, written_at.timestamp())
        return True


def notes_take_back(user_id: str, *, brought_by: str, author: str, clock: Clock = SYSTEM_CLOCK) -> tuple[int, int]:
    """Delete the notes that `brought_by` wrote and nobody has changed since. Return how many, and how many stay."""
    versions = NoteVersion.objects.filter(user_id=user_id, author=brought_by)
    deleted = kept = 0
    for path in sorted(set(versions.values_list("place", flat=True))):
        place = NotePlace(tuple(path.split("/")))
        with notes_lock(user_id):
            note = Desk(user_id, place, author, utcnow(clock)).look()
        if note.text is None:
            continue
        if note.version is not None and note.version.author == brought_by:
            note_delete(user_id, place, author=author, clock=clock)
            deleted += 1
        else:
            kept += 1
    return deleted, kept
