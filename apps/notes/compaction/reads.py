"""Reading compactions inside the bound of a caller."""

from dataclasses import dataclass, field
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.domain.diff import compare_lines
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Access
from apps.notes.compaction.decide import base_of, draft_of
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_read
from apps.notes.files.owner import owner_to_read
from apps.notes.files.versions import text_of
from apps.notes.models import Compaction
from apps.notes.querysets import CompactionQuerySet


@dataclass(frozen=True)
class CompactionDetail:
    """A compaction with what it changes.

    text: the draft; None without one. diff: the lines that differ from the text that was read, as in a unified diff;
    None where that text is not kept any more. is_current: MEMORY.md is still that text.
    """

    compaction: Compaction
    text: str | None = field(repr=False)
    diff: str | None = field(repr=False)
    is_current: bool


def compaction_list(access: Access, user_id: str | None) -> CompactionQuerySet:
    """Return the compactions of a user. Raises NotFoundError outside the bound of the key."""
    owner = owner_to_read(access, user_id)
    return Compaction.objects.all().visible_to(access).filter(user_id=owner)


def compaction_get(access: Access, uuid: UUID) -> Compaction:
    """Return a compaction inside the bound; a key for a part of a person has none. Raises NotFoundError."""
    is_whole = access.bound.household_id is None and access.bound.persona_id is None
    found = Compaction.objects.all().visible_to(access).filter(uuid=uuid).first() if is_whole else None
    if found is None:
        raise NotFoundError("There is no such compaction.")
    return found


def compaction_detail(compaction: Compaction, *, clock: Clock = SYSTEM_CLOCK) -> CompactionDetail:
    """Return a compaction with its draft and what that changes."""
    try:
        is_current = note_read(compaction.user_id, MAIN, clock=clock).sha256 == compaction.base_sha256
    except MemoryHubError:  # out of reach now
        is_current = False
    if not compaction.draft:
        return CompactionDetail(compaction, None, None, is_current)
    text, base, diff = draft_of(compaction).decode(), base_of(compaction), None
    if base is not None:
        lines = compare_lines(text_of(base).decode(), text)
        diff = "".join(f"{line}\n" for line in ("--- MEMORY.md", "+++ draft", *(each.marked for each in lines)))
    return CompactionDetail(compaction, text, diff, is_current)
