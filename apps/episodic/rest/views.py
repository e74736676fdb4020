"""The timeline over REST (DESIGN section 5)."""

from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from apps.core.domain.errors import MemoryHubError
from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.batches import ItemRefusedError, item_error, validate_item
from apps.core.schemas.serializers import Problem, validate
from apps.episodic import selectors, services
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.schemas import event_outputs
from apps.episodic.schemas.events import EventBatchInput, EventInput, SegmentListInput, draft_of

RETRY_SECONDS = "2"


class EventsView(HubView):
    """Record an event."""

    @extend_schema(
        operation_id="events_record",
        request=EventInput,
        responses={201: event_outputs.RecordOutput, 200: event_outputs.RecordOutput},
    )
    def post(self, request: Request) -> Response:
        """Record something that happened. The same event in the same scope is kept once, as it was told first."""
        draft = draft_of(validate(EventInput, request.data))
        result = services.event_record(access=self.access, draft=draft)
        return Response(event_outputs.record_json(result), status=_status_of(result))


class EventBatchView(HubView):
    """Record many events."""

    @extend_schema(
        operation_id="events_record_batch", request=EventBatchInput, responses={200: event_outputs.EventBatchOutput}
    )
    def post(self, request: Request) -> Response:
        """Record up to 1,000 events in one transaction. One answer per item, in order; a bad item fails alone."""
        items = [_checked(item) for item in validate(EventBatchInput, request.data)["events"]]
        drafts = [item for item in items if isinstance(item, EventDraft)]
        recorded = iter(services.events_record(access=self.access, drafts=drafts))
        results = [_answer(next(recorded)) if isinstance(item, EventDraft) else item for item in items]
        return Response({"results": results, "count": len(results)})


class TimelineStatusView(HubView):
    """The state of the timeline."""

    @extend_schema(
        operation_id="timeline_status",
        responses={200: event_outputs.TimelineStatusOutput, 503: event_outputs.TimelineStatusOutput},
    )
    def get(self, request: Request) -> Response:
        """Say whether the timeline answers queries, what is wrong, and how many events this key can see."""
        return _status_answer(selectors.timeline_status(self.access))

    def handle_exception(self, exc: Exception) -> Response:
        """Without a database not even the key can be checked; that is an answer here."""
        if isinstance(exc, DatabaseError | InterfaceError):
            response = _status_answer(selectors.unreachable_status(exc))
            response.exception = True
            return response
        return super().handle_exception(exc)


class SegmentsView(HubView):
    """The segments of the timeline."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="segments_list",
        parameters=[SegmentListInput],
        responses={200: event_outputs.SegmentPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List segments, the newest first; for keys without a bound, as segments hold everybody's events."""
        data = validate_query(SegmentListInput, request)
        state, cursor = data.get("state"), data.get("cursor")
        page = selectors.segment_list(
            self.access,
            state=SegmentState(state) if state else None,
            cursor=UUID(cursor) if cursor else None,
            limit=data["limit"],
        )
        following = page.cursor and replace_query_param(request.build_absolute_uri(), "cursor", str(page.cursor))
        return Response({"next": following, "results": [event_outputs.segment_json(*row) for row in page.rows]})


def _status_of(result: services.RecordResult) -> int:
    is_new = result.action is services.RecordAction.RECORDED
    return status.HTTP_201_CREATED if is_new else status.HTTP_200_OK


def _checked(item: Any) -> EventDraft | dict[str, Any]:
    try:
        return draft_of(validate_item(EventInput, item))
    except ItemRefusedError as refused:
        return refused.answer


def _answer(outcome: services.RecordOutcome) -> dict[str, Any]:
    if isinstance(outcome, MemoryHubError):
        return item_error(outcome)
    return {"status": _status_of(outcome), **event_outputs.record_json(outcome)}


def _status_answer(report: selectors.TimelineStatus) -> Response:
    body = event_outputs.status_json(report)
    return Response(body) if report.problem is None else Response(body, 503, headers={"Retry-After": RETRY_SECONDS})
