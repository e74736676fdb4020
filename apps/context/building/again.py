"""What a context had given, by the log of given answers."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.core.domain.scope import Access
from apps.given.domain.given import AnswerKind, ItemKind
from apps.given.services import given_get


@dataclass(frozen=True)
class GivenItem:
    """Something that a context had. id: of a note `path#Lfirst-Llast`."""

    kind: ItemKind
    id: str
    user_id: str


@dataclass(frozen=True)
class GivenContext:
    """A context that was given: when, to which key, in which run of its caller, and with what."""

    id: UUID
    at: datetime
    app: str
    run_id: str
    items: tuple[GivenItem, ...]


def context_given(access: Access, uuid: UUID) -> GivenContext:
    """Return of a context what the caller may see, as long as it is kept. Raises NotFoundError."""
    rows = given_get(access, AnswerKind.CONTEXT, uuid)
    items: list[GivenItem] = []
    for row in rows:
        items += [GivenItem(ItemKind.MEMORY, str(one), row.user_id) for one in row.memories]
        items += [GivenItem(ItemKind.EVENT, str(one), row.user_id) for one in row.events]
        items += [GivenItem(ItemKind.NOTE, one, row.user_id) for one in row.notes]
    return GivenContext(uuid, rows[0].at, rows[0].app, rows[0].run_id, tuple(items))
