"""What of the notes a context may hold: what the person has asked for in MEMORY.md, and lines that answer."""

from collections.abc import Iterable

from apps.context.domain.context import Candidate, ContextQuery, ItemKind
from apps.core.domain.errors import ConflictError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.notes.domain.places import MAIN
from apps.notes.selectors import main_chunks, notes_search

MAX_QUERY_CHARS, MAX_HITS = 2_000, 20
# Of MEMORY.md without a message: so many of its last parts.
MAX_PARTS = 60


def note_candidates(access: Access, scope: Scope, query: ContextQuery, problems: list[str]) -> Iterable[Candidate]:
    """Yield wishes of MEMORY.md, and what the notes say of the message; without one the end of MEMORY.md.

    Notes are of a person as a whole: none for a caller that sees, or asks for, a part of one, and none as of the past.
    """
    if scope.user_id is None or scope.ends() or access.bound.ends() or query.as_of is not None:
        return
    try:
        main = main_chunks(access, scope.user_id)
        for chunk in main.wishes:
            where = str(MAIN), chunk.first_line, chunk.last_line
            yield lines(main.owner, ItemKind.WISH, where, chunk.text, "A standing wish of the person, in MEMORY.md.")
        if query.message:
            found = notes_search(access, scope.user_id, query.message[:MAX_QUERY_CHARS], limit=MAX_HITS)
            for hit in found.hits:
                why = f"Answers the message (score {hit.score:.2f})."
                where = hit.path, hit.first_line, hit.last_line
                yield lines(main.owner, ItemKind.NOTE, where, hit.text, why)
        else:
            for chunk in reversed(main.parts[-MAX_PARTS:]):
                where = str(MAIN), chunk.first_line, chunk.last_line
                yield lines(main.owner, ItemKind.NOTE, where, chunk.text, "In MEMORY.md.")
    except (UnavailableError, ConflictError) as error:
        problems.append(error.detail)


def lines(owner: str, kind: ItemKind, where: tuple[str, int, int], text: str, why: str) -> Candidate:
    """Return lines of a note as a candidate. where: path, first line, last line."""
    path, first, last = where
    return Candidate(kind, f"{path}#L{first}-L{last}", owner, text, why, path=path, first_line=first, last_line=last)
