"""Where a page of a list begins, as clients send it back: one format for all (docs/reference/api-conventions.md)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from apps.core.domain.errors import InvalidInputError, NotFoundError

OLDER, NEWER = "older", "newer"
CURSOR_PATTERN = r"^(older|newer)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([0-9.e-]{1,32}))?$"
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_CURSOR = re.compile(CURSOR_PATTERN)
Row = TypeVar("Row")


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


@dataclass(frozen=True)
class CursorPage(Generic[Row]):
    """A page of rows in their order, the cursors of the pages beside it, and on demand the number of all rows."""

    rows: Sequence[Row]
    older: str | None = None
    newer: str | None = None
    total: int | None = None

    @classmethod
    def cut(
        cls,
        found: Sequence[Row],
        limit: int,
        cursor_of: Callable[[str, Row], Cursor],
        *,
        is_first: bool,
        is_backwards: bool,
        total: int | None = None,
    ) -> "CursorPage[Row]":
        """Return the page of rows that were read from where it begins, one more than `limit` where there are more.

        cursor_of: the cursor in a direction after a row. is_first: it begins at no cursor. is_backwards: the rows were
        read towards the newer ones, the nearest first.
        """
        has_more, rows = len(found) > limit, found[:limit]
        has_older, has_newer = (not is_first, has_more) if is_backwards else (has_more, not is_first)
        rows = rows[::-1] if is_backwards else rows
        older = str(cursor_of(OLDER, rows[-1])) if rows and has_older else None
        return cls(rows, older, str(cursor_of(NEWER, rows[0])) if rows and has_newer else None, total)


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
