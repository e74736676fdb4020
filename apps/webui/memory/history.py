"""What happened to a memory, in sentences: who did what, the words before and after, and what brings them back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from apps.semantic.domain.word_diff import Piece
from apps.semantic.selectors import Memory, MemoryRevision, memory_contents, memory_history
from apps.semantic.services import SUCCESSOR_GONE, say_update
from apps.webui.actors import who
from apps.webui.differing import differing
from apps.webui.person import Person

CONTENT, SUCCESSOR = "content", "superseded_by"
SHOWN_CHARS = 2_000


@dataclass(frozen=True)
class Step:
    """A step in the life of a memory. before, after: its words where they changed. earlier: the ones to bring back.

    other: the memory that took its place, with the words of it in `said`.
    """

    words: str
    at: datetime
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    earlier: str = ""
    other: str = ""
    said: str = ""


def steps_of(person: Person, memory: Memory) -> list[Step]:
    """Return the life of a memory, the latest step first."""
    revisions = list(memory_history(person.access, memory.uuid))
    said = memory_contents(person.access, successors(revisions))
    return [step_of(person, memory, one, said) for one in reversed(revisions)]


def successors(revisions: Iterable[MemoryRevision]) -> set[UUID]:
    """Return the memories that took the place of one in some steps."""
    return {UUID(uuid) for one in revisions if (uuid := one.changes.get(SUCCESSOR, [None, None])[1])}


def step_of(person: Person, memory: Memory, revision: MemoryRevision, said: Mapping[UUID, str]) -> Step:
    """Return a step in words."""
    words = sentence_of(revision, who(revision.actor, person))
    if revision.action == "created" or CONTENT not in revision.changes:
        other = revision.changes.get(SUCCESSOR, [None, None])[1] or ""
        return Step(words, revision.at, other=other, said=said.get(UUID(other), "") if other else "")
    before, after = (text or "" for text in revision.changes[CONTENT])
    old, new = differing(before, after, SHOWN_CHARS)
    earlier = before if before != memory.content else ""
    return Step(words, revision.at, tuple(old), tuple(new), earlier)


def sentence_of(revision: MemoryRevision, actor: str) -> str:
    """Return who did what."""
    sentences = {
        "created": _("%(who)s saved it."),
        "reinforced": _("%(who)s said that it still holds."),
        "deleted": _("%(who)s forgot it."),
        "superseded": _("%(who)s replaced it:"),
        "merged": _("%(who)s made it one with another memory:"),
        "rejected": _("%(who)s did not take it over, since this holds:"),
        "reverted": _("%(who)s said that it is true after all."),
        "restored": _("%(who)s brought it back."),
    }
    if revision.action == "deleted" and revision.reason == "expired":
        return _("It was over, so the hub forgot it.")
    if revision.action == "restored" and revision.reason == SUCCESSOR_GONE:
        return _("It holds again, since what had replaced it was forgotten.")
    if revision.action != "updated":
        return sentences.get(revision.action, _("%(who)s changed it.")) % {"who": actor}
    return say_update(revision.changes, actor)
