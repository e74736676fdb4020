"""The door of `given` for writes: noting what a key got, and reading it again at once."""

from collections.abc import Sequence
from uuid import UUID

from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access
from apps.given.domain.given import AnswerKind, Item
from apps.given.models import GivenAnswer
from apps.given.recording import given_answers

__all__ = ["given_get", "given_note"]


def given_note(access: Access, kind: AnswerKind, items: Sequence[Item], uuid: UUID | None = None) -> None:
    """Note what a caller got as an answer, in its order; it is written some seconds later. uuid: of the answer."""
    given_answers().note(access.actor, kind, items, uuid)


def given_get(access: Access, kind: AnswerKind, uuid: UUID) -> list[GivenAnswer]:
    """Return what of an answer the caller may see, a row for each scope. Raises NotFoundError."""
    given_answers().flush()
    rows = list(GivenAnswer.objects.all().visible_to(access).filter(uuid=uuid, asked=kind).order_by("pk"))
    if not rows:
        raise NotFoundError("There is no such answer.")
    return rows
