"""Filters and paginator of lists in the admin whose pages cost the same with many rows."""

from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import TextFilter

# More than a person reads: counting further would cost time on every page.
MAX_COUNTED = 10_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to MAX_COUNTED; beyond that filters find more."""

    counted_by: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by(*self.counted_by).values("pk")[:MAX_COUNTED].count())


class IdentifierFilter(TextFilter):  # type: ignore[misc]
    """Filter by a whole identifier, which uses an index."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = comparable(self.value())
        return queryset.filter(**{self.parameter_name: value}) if value else queryset


class UserFilter(IdentifierFilter):
    title, parameter_name = "user", "user_id"


class HouseholdFilter(IdentifierFilter):
    title, parameter_name = "household", "household_id"


class PersonaFilter(IdentifierFilter):
    title, parameter_name = "persona", "persona_id"


def comparable(value: str | None) -> str:
    """Return text that a database can compare, without NUL characters and outer white space."""
    return (value or "").replace("\x00", "").strip()


def as_uuid(term: str) -> UUID | None:
    """Return the UUID of a text, None when it is not one."""
    try:
        return UUID(term)
    except ValueError:
        return None
