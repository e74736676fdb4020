"""What several admin pages of the timeline show in the same words."""

from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import NOTHING, choice_badge, link, moment, pretty_json, two_lines
from apps.core.words import Counted
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.selectors import timeline_health

SHOWN_ID_CHARS = 8
STATE_COLOURS = {
    "open": "success", "sealing": "info", "sealed": "info", "archived": "primary", "compacted": None,
    "quarantined": "danger", "pruned": None,
}  # fmt: skip
STATE_WORDS = {
    SegmentState.OPEN: _("new events are added to it"),
    SegmentState.SEALING: _("closed; its events are to be written to a file"),
    SegmentState.SEALED: _("its file is written and verified; its rows are still read"),
    SegmentState.ARCHIVED: _("read from its file"),
    SegmentState.COMPACTED: _("its events are in another segment now"),
    SegmentState.QUARANTINED: _("its file cannot be read; queries leave it out and say so"),
    SegmentState.PRUNED: _("all its events were deleted"),
}
# What is counted.
NOUNS = {
    "event": Counted("%(shown)s event", "%(shown)s events", "count"),
    "archived segment": Counted("%(shown)s archived segment", "%(shown)s archived segments", "count"),
    "day": Counted("%(shown)s day", "%(shown)s days", "count"),
    "hour": Counted("%(shown)s hour", "%(shown)s hours", "count"),
    "minute": Counted("%(shown)s minute", "%(shown)s minutes", "count"),
}
ROWS_WORDS = {
    "complete": _("complete"),
    "leaving": _("leaving: the file is read, and the remaining rows are deleted in the background"),
    "gone": _("gone: the events are in the file"),
}


class TimelinePage:
    """A page with the style of the timeline."""

    class Media:
        css: ClassVar = {"all": ["episodic/timeline.css"]}


class TimelineTab(TimelinePage):
    """A list that is a tab of the timeline: the tabs are above it, and how the timeline is."""

    list_before_template = "episodic/tabs.html"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, with what is above it."""
        context = {**health_context(request), **(extra_context or {})}
        return super().changelist_view(request, context)  # type: ignore[misc]


def health_context(request: HttpRequest) -> dict[str, Any]:
    """Return how the timeline is, for who may see its segments, which hold the events of all users."""
    return {"timeline_health": timeline_health() if request.user.has_perm("episodic.view_segment") else None}


def whose(row: Any) -> SafeString:
    """Render the user, and below it household and persona."""
    return two_lines(row.user_id, " / ".join(filter(None, (row.household_id, row.persona_id))))


def mono(text: str) -> SafeString | str:
    """Render text for programs, such as an id, in a fixed width; a dash for none."""
    return format_html('<span class="mh-mono">{}</span>', text) if text else NOTHING


def short(segment: Segment) -> str:
    """Return the beginning of a segment's id, by which people tell segments apart."""
    return str(segment.uuid)[:SHOWN_ID_CHARS]


def state_label(segment: Segment) -> SafeString | str:
    """Render the coloured state of a segment, for pages."""
    return choice_badge(segment, "state", STATE_COLOURS)


def segment_link(segment: Segment | None, *, with_state: bool = False) -> SafeString | str:
    """Render a link to a segment's page; a dash for none."""
    if segment is None:
        return NOTHING
    found = link("admin:episodic_segment_change", segment.pk, short(segment))
    return format_html("{} {}", found, state_label(segment)) if with_state else found


def span(first: datetime | None, last: datetime | None) -> str:
    """Format a span of time; a dash for none."""
    return (
        gettext("%(first)s to %(last)s") % {"first": moment(first), "last": moment(last)} if first and last else NOTHING
    )


def count_of(count: int, noun: str) -> str:
    """Format a number with one of NOUNS, such as `2 events`."""
    return NOUNS[noun] % {"count": count, "shown": f"{count:,}"}


def event_row(event: EventRecord) -> dict[str, Any]:
    """Return the context of `episodic/event_row.html`, for rows and archived events alike."""
    return {
        "event": event,
        "when": moment(event.timestamp),
        "recorded": moment(event.recorded_at),
        "whose": " / ".join(filter(None, (event.key.household_id, event.key.persona_id))),
        "metadata": pretty_json(event.metadata) if event.metadata else "",
    }
