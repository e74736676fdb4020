"""The admin's page of the events in the file of a segment."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.core.admin.kit import filesize
from apps.episodic.admin.columns import event_row, short
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.selectors import SegmentFilePage, segment_page
from apps.episodic.services import segment_quarantine

PER_PAGE = 50
WITH_FILE = frozenset({SegmentState.SEALED, SegmentState.ARCHIVED})


def segment_events_page(model_admin: Any, request: HttpRequest, segment: Segment) -> HttpResponse:
    """One page of them. A file that turns out to be damaged is taken out of service, as when a query reads it."""
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Events of a segment",
        "opts": model_admin.opts,
        "original": segment,
        "short": short(segment),
        **_shown(segment, _number(request)),
    }
    return TemplateResponse(request, "episodic/segment_events.html", context)


def _number(request: HttpRequest) -> int:
    given = request.GET.get("page", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 1


def _shown(segment: Segment, number: int) -> dict[str, Any]:
    if segment.state not in WITH_FILE:
        return {"problem": f"The segment is {segment.get_state_display().lower()}: there is no file that is read."}
    try:
        page = segment_page(segment, number, PER_PAGE)
    except SegmentDamagedError as damage:
        segment_quarantine(segment_id=segment.pk, error=damage)
        return {"problem": f"The file cannot be read: {damage} It was taken out of service."}
    return {
        "page": page,
        "first": (page.number - 1) * PER_PAGE + 1,
        "before": page.number - 1,
        "after": page.number + 1 if page.number < page.count else 0,
        "rows": [event_row(event) for event in page.events],
        "sizes": _sizes(segment, page),
    }


def _sizes(segment: Segment, page: SegmentFilePage) -> str:
    share = 100 * segment.size_bytes / page.raw_bytes
    return (
        f"{segment.event_count:,} events; {filesize(page.raw_bytes)} as text, {filesize(segment.size_bytes)} in the "
        f"file, which is {share:.0f}%."
    )
