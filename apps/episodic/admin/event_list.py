"""The list of recorded events, whose pages cost the same with millions of rows.

Rows have indexes by user, household, persona, segment and arrival. A list that is narrowed to one of the first four
reads all of its rows; any other list shows the latest arrivals only, and says so.
"""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateTimeFilter, RangeNumericFilter, TextFilter
from unfold.views import ChangeList

from apps.core.admin.lists import HouseholdFilter, IdentifierFilter, PersonaFilter, UserFilter, as_uuid, comparable
from apps.episodic.models import TimelineEvent

LATEST = 200_000
SEGMENT = "segment"
OWNERS = ("user_id", "household_id", "persona_id")
Events = QuerySet[TimelineEvent]


class TypeFilter(IdentifierFilter):
    title, parameter_name = "type", "event_type"


class SourceFilter(IdentifierFilter):
    title, parameter_name = "source", "source"


class SegmentFilter(TextFilter):
    """Filter by the whole id of a segment, as the pages of segments link to it."""

    title, parameter_name = "segment (whole id)", SEGMENT

    def queryset(self, request: HttpRequest, queryset: Events) -> Events:
        value = comparable(self.value())
        if not value:
            return queryset
        uuid = as_uuid(value)
        return queryset.filter(segment__uuid=uuid) if uuid else queryset.none()


FILTERS = [
    UserFilter,
    HouseholdFilter,
    PersonaFilter,
    TypeFilter,
    SourceFilter,
    SegmentFilter,
    ("timestamp", RangeDateTimeFilter),
    ("importance", RangeNumericFilter),
]


class EventList(ChangeList):
    """The rows of one owner or segment, or the latest ones of all."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Events:
        found: Events = super().get_queryset(request, exclude_parameters)
        self.is_narrowed = is_narrowed(request)
        return found if self.is_narrowed else found.filter(pk__gt=latest_from())


def is_owned(request: HttpRequest) -> bool:
    """Return whether the list is narrowed to one user, household or persona."""
    return any(comparable(request.GET.get(name)) for name in OWNERS)


def is_narrowed(request: HttpRequest) -> bool:
    """Return whether an index finds all rows of the list."""
    return is_owned(request) or bool(comparable(request.GET.get(SEGMENT))) or bool(comparable(request.GET.get("q")))


def latest_from() -> int:
    """Return the arrival number after which the latest rows begin."""
    newest = TimelineEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    return (newest or 0) - LATEST


def matching(events: Events, term: str) -> Events:
    """Return all rows of the user with this id; of the latest rows, also those of this type or with this id."""
    among_latest = Q(event_type=term)
    if uuid := as_uuid(term):
        among_latest |= Q(uuid=uuid) | Q(identity=uuid)
    return events.filter(Q(user_id=term) | Q(pk__gt=latest_from()) & among_latest)
