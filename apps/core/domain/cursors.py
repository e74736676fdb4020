"""Where a page of a list begins, as clients send it back: one format for all (docs/reference/api-conventions.md)."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from apps.core.domain.errors import InvalidInputError, NotFoundError

OLDER, NEWER = "older", "newer"
CURSOR_PATTERN = r"^(older|newer)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([0-9.e-]{1,32}))?$"
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_CURSOR = re.compile(CURSOR_PATTERN)


class Cursor(NamedTuple):
    """A direction, the row of the list after which the page begins, and in an order of values its value when listed.

    It says nothing that the list itself does not say: row numbers would say how much others write.
    """

    direction: str
    id: UUID
    value: str = ""

    @classmethod
    def read(cls, text: str) -> "Cursor":
        """Return the cursor of a text. Raises NotFoundError for one that does not match CURSOR_PATTERN."""
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise cursor_gone()
        return cls(found[1], UUID(found[2]), found[3] or "")

    def __str__(self) -> str:
        return f"{self.direction}-{self.id}{self.value and '_'}{self.value}"


def write_value(value: datetime | float) -> str:
    """Return the value of an order as a cursor has it: moments as microseconds since 1970."""
    return str((value - EPOCH) // MICROSECOND if isinstance(value, datetime) else value)


def read_value(text: str, like: datetime | float) -> datetime | float:
    """Return the value of an order from a cursor, of the type of another one. Raises InvalidInputError."""
    if isinstance(like, datetime):
        return read_moment(text)
    try:
        return float(text)
    except ValueError:
        raise other_order() from None


def read_moment(text: str) -> datetime:
    """Return the moment that a cursor has. Raises InvalidInputError."""
    try:
        return EPOCH + int(text) * MICROSECOND
    except (ValueError, OverflowError):
        raise other_order() from None


def other_order() -> InvalidInputError:
    """Return the error for a cursor whose value is none of the order asked for."""
    return InvalidInputError("This cursor belongs to another sort order.", attr="cursor")


def cursor_gone() -> NotFoundError:
    """Return the error for a cursor that names no row of the caller's."""
    return NotFoundError("The row where this page begins is gone: start again without a cursor.", attr="cursor")
