"""The admin page of the events in the file of a segment."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.core.admin.kit import filesize
from apps.episodic.admin.columns import event_row, short
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.selectors import segment_page
from apps.episodic.services import segment_quarantine

PER_PAGE = 50
WITH_FILE = frozenset({SegmentState.SEALED, SegmentState.ARCHIVED})


def segment_events_page(model_admin: Any, request: HttpRequest, segment: Segment) -> HttpResponse:
    """Show a page of the events. A damaged file is taken out of service, as when a query reads it."""
    asked = request.GET.get("page", "")
    number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else 1
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Events of a segment",
        "opts": model_admin.opts,
        "original": segment,
        "short": short(segment),
        **page_context(segment, number),
    }
    return TemplateResponse(request, "episodic/segment_events.html", context)


def page_context(segment: Segment, number: int) -> dict[str, Any]:
    """Return the events of a page and their figures, or the problem with the file."""
    if segment.state not in WITH_FILE:
        return {"problem": f"The segment is {segment.get_state_display().lower()}: it has no file to read."}
    try:
        page = segment_page(segment, number, PER_PAGE)
    except SegmentDamagedError as damage:
        segment_quarantine(segment_id=segment.pk, error=damage)
        return {"problem": f"The file cannot be read: {damage} It was taken out of service."}
    share = 100 * segment.size_bytes / page.raw_bytes
    return {
        "page": page,
        "first": (page.number - 1) * PER_PAGE + 1,
        "before": page.number - 1,
        "after": page.number + 1 if page.number < page.count else 0,
        "rows": [event_row(event) for event in page.events],
        "sizes": (
            f"{segment.event_count:,} events; {filesize(page.raw_bytes)} as text, {filesize(segment.size_bytes)} in "
            f"the file, which is {share:.0f}%."
        ),
    }
