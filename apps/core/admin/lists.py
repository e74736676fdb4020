"""Filters and paginator of lists in the admin whose pages cost the same with many rows."""

from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.admin import ShowFacets
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
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


class LongList:
    """A list that may be long, newest first, whose pages cost the same with many rows."""

    list_filter_submit = True
    list_fullwidth = True
    list_per_page = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # they would count all rows, once for each choice
    paginator: ClassVar[Any] = BoundedPaginator
    ordering: ClassVar[list[Any]] = ["-id"]


class SearchedList(LongList):
    """A long list that is searched by the id of a row, or by words."""

    search_fields: ClassVar[list[str]] = ["uuid"]  # shows the box; `get_search_results` decides

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find the row with an id, else rows by words."""
        term = comparable(search_term)
        if not term:
            return queryset, False
        if (uuid := as_uuid(term)) is not None:
            return self.find_by_id(queryset, uuid), False
        return self.find_by_words(queryset, term), False

    def find_by_id(self, queryset: QuerySet[Any], uuid: UUID) -> QuerySet[Any]:
        """Return the rows that an id names."""
        return queryset.filter(uuid=uuid)

    def find_by_words(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Return the rows that a text which is no id finds."""
        raise NotImplementedError


class IdentifierFilter(TextFilter):  # type: ignore[misc]
    """Filter by a whole identifier, which uses an index."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = comparable(self.value())
        return queryset.filter(**{self.parameter_name: value}) if value else queryset


class UserFilter(IdentifierFilter):
    title, parameter_name = _("user"), "user_id"


class HouseholdFilter(IdentifierFilter):
    title, parameter_name = _("household"), "household_id"


class PersonaFilter(IdentifierFilter):
    title, parameter_name = _("persona"), "persona_id"


SCOPE_FILTERS = (UserFilter, HouseholdFilter, PersonaFilter)


def comparable(value: str | None) -> str:
    """Return text that a database can compare, without NUL characters and outer white space."""
    return (value or "").replace("\x00", "").strip()


def as_uuid(term: str) -> UUID | None:
    """Return the UUID of a text, None when it is not one."""
    try:
        return UUID(term)
    except ValueError:
        return None
