"""The timeline over REST (DESIGN section 5)."""

from dataclasses import asdict
from io import BytesIO
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.cursors import Cursor
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Permission
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.batches import ItemRefusedError, item_error, validate_item
from apps.core.schemas.bodies import batch_limit, item_limit, lines_limit, search_limit
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import DEFAULT_PAGE, Total, page_output
from apps.core.schemas.parsers import LinesParser
from apps.episodic import selectors, services
from apps.episodic.domain.event import EventDraft
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.schemas import events, queries, timeline

RETRY_SECONDS = "2"


class EventsView(HubView):
    """Record and list events."""

    body_limit = staticmethod(item_limit)

    @operation(
        "events_list",
        query=queries.EventListInput,
        answer=page_output(events.EventOutput, "the list of events", link=Url, total=Total),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List events, newest first, from the database and from segment files."""
        data = self.read_query()
        cursor = Cursor.read(data["cursor"]) if "cursor" in data else None
        query, counted = queries.list_query_of(data), data.get("count", False)
        page = selectors.event_list(self.access, query, cursor=cursor, count=counted)
        return self.answer_page(page, [events.event_json(record) for record in page.rows])

    @operation(
        "events_record",
        body=events.EventInput,
        answer={201: events.RecordOutput, 200: events.RecordOutput},
        headers=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Record something that happened. The same event in the same scope is stored once, as first recorded."""
        draft = events.draft_of(self.read_body())
        result = services.event_record(access=self.access, draft=draft)
        body = events.record_json(result)
        if result.action is services.RecordAction.RECORDED:
            return created(body, "event", result.record.uuid)
        return Response(body)


class EventView(HubView):
    """One event."""

    @operation("events_retrieve", answer=events.EventOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show an event, from the database or from a segment file."""
        return Response(events.event_json(selectors.event_get(self.access, uuid)))

    @operation("events_delete", answer={204: None})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Remove an event for good, also from its segment file. Its memories are treated as when it is pruned."""
        services.event_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EventBatchView(HubView):
    """Record many events."""

    body_limit = staticmethod(batch_limit)
    is_heavy = True

    @operation("events_record_batch", body=events.EventBatchInput, answer=events.EventBatchOutput)
    def post(self, request: Request) -> Response:
        """Record up to 1,000 events in one transaction. One answer per item, in order; a bad item fails alone."""
        items: list[EventDraft | dict[str, Any]] = []
        for item in self.read_body()["events"]:
            try:
                items.append(events.draft_of(validate_item(events.EventInput, item)))
            except ItemRefusedError as refused:
                items.append(refused.answer)
        drafts = [item for item in items if isinstance(item, EventDraft)]
        outcomes = iter(services.events_record(access=self.access, drafts=drafts))
        results: list[Any] = []
        for item in items:
            outcome: Any = next(outcomes) if isinstance(item, EventDraft) else item
            if isinstance(outcome, MemoryHubError):
                outcome = item_error(outcome)
            elif isinstance(outcome, services.RecordResult):
                code = 201 if outcome.action is services.RecordAction.RECORDED else 200
                outcome = {"status": code, **events.record_json(outcome)}
            results.append(outcome)
        return Response({"results": results, "count": len(results)})


class EventImportView(HubView):
    """Record the events of a file."""

    parser_classes = (LinesParser,)
    body_limit = staticmethod(lines_limit)
    is_heavy = True

    @operation("events_import", body={LinesParser.media_type: {"type": "string"}}, answer=events.EventImportOutput)
    def post(self, request: Request) -> Response:
        """Record the events of JSON Lines, one in each line as in recording one, or as an export of events has it.

        Groups of up to 500 lines are written at once; a bad line fails alone. Repeating it records nothing twice.
        """
        stream = request.data if isinstance(request.data, BytesIO) else BytesIO()  # no body: no lines
        report = services.events_import(access=self.access, stream=stream)
        problems = [asdict(problem) for problem in report.problems]
        counts = {name: getattr(report, name) for name in ("lines", "recorded", "duplicates", "failed")}
        return Response({**counts, "errors": problems})


class EventQueryView(HubView):
    """Find events."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @operation("events_query", body=queries.EventQueryInput, answer=queries.EventQueryOutput, errors=(422,))
    def post(self, request: Request) -> Response:
        """Find the events of a window, newest first; with a `query`, the best matches first."""
        query = queries.query_of(self.read_body())
        found = selectors.events_query(self.access, query, is_answer=True)
        return Response(queries.query_json(self.access, found, query.explain))


class TimelineStatusView(HubView):
    """The state of the timeline."""

    @operation("timeline_status", answer={200: timeline.TimelineStatusOutput, 503: timeline.TimelineStatusOutput})
    def get(self, request: Request) -> Response:
        """Say whether the timeline answers queries, what is wrong, and how many events this key can see."""
        return self.respond(selectors.timeline_status(self.access))

    def handle_exception(self, exc: Exception) -> Response:
        """Answer with a status when there is no database, without which not even the key can be checked."""
        if not isinstance(exc, DatabaseError | InterfaceError):
            return super().handle_exception(exc)
        response = self.respond(selectors.unreachable_status(exc))
        response.exception = True
        return response

    def respond(self, report: selectors.TimelineStatus) -> Response:
        """Return 200 when the timeline is ready, else 503."""
        body = timeline.status_json(report)
        return Response(body) if report.problem is None else Response(body, 503, headers={"Retry-After": RETRY_SECONDS})


class SegmentsView(HubView):
    """The segments of the timeline."""

    @operation(
        "segments_list",
        query=timeline.SegmentListInput,
        answer=page_output(timeline.SegmentOutput, "segments", link=Url),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List segments, newest first; only for keys without a bound, because segments hold the events of all users."""
        data = self.read_query()
        state, cursor = data.get("state"), data.get("cursor")
        page = selectors.segment_list(
            self.access,
            state=SegmentState(state) if state else None,
            cursor=Cursor.read(cursor) if cursor else None,
            limit=data.get("limit", DEFAULT_PAGE),
        )
        return self.answer_page(page, [timeline.segment_json(*row) for row in page.rows])
