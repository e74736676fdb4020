"""What a person has asked of the assistant: the items of MEMORY.md under Instructions that are theirs.

An item is the person's where they wrote it themselves, in an editor or on their pages, or said it in a conversation
from which the hub extracted it. What an application added or put there by an edit is not, whatever heading it chose.
"""

from collections.abc import Iterator

from apps.core.models import PERSON_ACTOR
from apps.notes.domain.chunks import Chunk, chunk_note
from apps.notes.domain.extraction.fact import Category
from apps.notes.domain.places import MAIN
from apps.notes.files.versions import DISK, inserted_by, item_of, text_of
from apps.notes.models import ChangeKind, NoteVersion

# The operation of a fact that was extracted begins with it.
EXTRACTED = "fact:"


def standing_wishes(user_id: str, text: bytes) -> list[str]:
    """Return what MEMORY.md says under Instructions in the words of the person, each on one line."""
    return [" ".join(chunk.text.removeprefix("- ").split()) for chunk in wish_chunks(user_id, text)]


def wish_chunks(user_id: str, text: bytes) -> list[Chunk]:
    """Return the items of MEMORY.md under Instructions that are in the words of the person."""
    wanted = {
        bare(chunk.text): chunk
        for chunk in chunk_note(text)
        if chunk.is_item and chunk.heading.rpartition(" > ")[2].casefold() == Category.INSTRUCTION.casefold()
    }
    if not wanted:
        return []
    versions = NoteVersion.objects.of(user_id, MAIN).current().filter(again=False)
    by_person = versions.filter(author__startswith=PERSON_ACTOR) | versions.filter(author=DISK)
    extracted = versions.filter(operation__startswith=EXTRACTED)
    # Those in which an application wrote something.
    versions = versions.exclude(pk__in=by_person).exclude(pk__in=extracted).order_by("number")
    foreign = {bare(line) for version in versions.iterator(100) for line in introduced_by(version)}
    return [chunk for key, chunk in wanted.items() if key not in foreign]


def introduced_by(version: NoteVersion) -> Iterator[str]:
    """Yield the items that a version has and the one before it had not."""
    if version.offset is not None:
        yield item_of(inserted_by(version)).decode(errors="replace")
        return
    earlier = NoteVersion.objects.beside(version).current().filter(number__lt=version.number).order_by("number").last()
    before = {bare(chunk.text) for chunk in chunk_note(text_of(earlier))} if earlier else set()
    if version.kind != ChangeKind.RESTORE:
        yield from (chunk.text for chunk in chunk_note(text_of(version)) if bare(chunk.text) not in before)


def bare(item: str) -> str:
    """Return an item without its bullet, case and spaces, by which two are the same."""
    return " ".join(item.strip().lstrip("-*+ ").casefold().split())
