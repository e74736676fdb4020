"""Semantic memory over REST (DESIGN section 5)."""

from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Permission
from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.batches import ItemRefusedError, item_error, validate_item
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, scope_of, validate
from apps.semantic import selectors, services
from apps.semantic.bridge.status import bridge_status
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.schemas import memories as schemas
from apps.semantic.schemas.memories import BatchInput, ListInput, MemoryInput, SearchInput, make_draft, make_query
from apps.semantic.search.search import memory_search

NOT_FILTERS = {"user_id", "household_id", "persona_id", "limit", "cursor"}


class MemoriesView(HubView):
    """Save and list memories."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="memories_list", parameters=[ListInput], responses={200: schemas.MemoryPage, 404: Problem}
    )
    def get(self, request: Request) -> Response:
        """List memories, the newest first."""
        data = validate_query(ListInput, request)
        filters = {name: value for name, value in data.items() if name not in NOT_FILTERS}
        memories = selectors.memory_list(self.access, scope_of(data), filters)
        page = Page(memories, self.access, data.get("cursor"), data.get("limit"))
        now = utcnow(SYSTEM_CLOCK)
        return Response(
            {**page_links(page, request), "results": [schemas.render_memory(row, now) for row in page.rows]}
        )

    @extend_schema(
        operation_id="memories_save",
        request=MemoryInput,
        responses={201: schemas.SaveOutput, 200: schemas.SaveOutput},
    )
    def post(self, request: Request) -> Response:
        """Save a memory. An exact duplicate in the same scope improves the stored one or is skipped."""
        draft = make_draft(validate(MemoryInput, request.data))
        result = services.memory_save(access=self.access, draft=draft)
        return Response(schemas.render_save(result, utcnow(SYSTEM_CLOCK)), status=_save_status(result))


class BatchView(HubView):
    """Save many memories."""

    @extend_schema(operation_id="memories_save_batch", request=BatchInput, responses={200: schemas.BatchOutput})
    def post(self, request: Request) -> Response:
        """Save up to 1,000 memories in one transaction. One answer per item, in order; a bad item fails alone."""
        items = [_checked(item) for item in validate(BatchInput, request.data)["memories"]]
        drafts = [item for item in items if isinstance(item, MemoryDraft)]
        saved = iter(services.memory_save_many(access=self.access, drafts=drafts))
        now = utcnow(SYSTEM_CLOCK)
        results = [_batch_answer(next(saved), now) if isinstance(item, MemoryDraft) else item for item in items]
        return Response({"results": results, "count": len(results)})


class MemoryView(HubView):
    """One memory."""

    @extend_schema(operation_id="memories_retrieve", responses={200: schemas.MemoryOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a memory."""
        memory = selectors.memory_get(self.access, uuid)
        return Response(schemas.render_memory(memory, utcnow(SYSTEM_CLOCK)))

    @extend_schema(operation_id="memories_delete", responses={204: None})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Soft-delete a memory; it can be restored."""
        services.memory_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReinforceView(HubView):
    """Reinforce a memory."""

    @extend_schema(operation_id="memories_reinforce", request=None, responses={200: schemas.MemoryOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Start the decay of a reinforceable memory anew."""
        refuse_body(request)
        memory = services.memory_reinforce(access=self.access, uuid=uuid)
        return Response(schemas.render_memory(memory, utcnow(SYSTEM_CLOCK)))


class RestoreView(HubView):
    """Restore a memory."""

    @extend_schema(operation_id="memories_restore", request=None, responses={200: schemas.MemoryOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Undo a soft delete."""
        refuse_body(request)
        memory = services.memory_restore(access=self.access, uuid=uuid)
        return Response(schemas.render_memory(memory, utcnow(SYSTEM_CLOCK)))


class HistoryView(HubView):
    """What happened to a memory."""

    @extend_schema(operation_id="memories_history", responses={200: schemas.HistoryOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show every change of a memory, deleted or not, the first one first."""
        steps = [schemas.render_revision(step) for step in selectors.memory_history(self.access, uuid)]
        return Response({"results": steps, "count": len(steps)})


class SearchView(HubView):
    """Find memories."""

    needed_permission = Permission.READ

    @extend_schema(operation_id="search", request=SearchInput, responses={200: schemas.SearchOutput})
    def post(self, request: Request) -> Response:
        """Find memories by meaning and by words, the best first."""
        query = make_query(validate(SearchInput, request.data))
        result = memory_search(self.access, query)
        return Response(schemas.render_search(result, utcnow(SYSTEM_CLOCK), query.explain))


class StatusView(HubView):
    """The state of the store."""

    @extend_schema(operation_id="status", responses={200: schemas.StatusOutput, 503: schemas.StatusOutput})
    def get(self, request: Request) -> Response:
        """Say whether the store answers, and how many memories this key can see."""
        report = services.store_status(self.access)
        if self.access.bound.named():
            report = schemas.without_cache(report)
        answer = report.as_json()
        if report.healthy and not self.access.bound.named():
            answer["bridge"] = bridge_status().as_json()
        return Response(answer, status=200 if report.healthy else 503)

    def handle_exception(self, exc: Exception) -> Response:
        """Without a database not even the key can be checked; that is an answer here."""
        if isinstance(exc, DatabaseError | InterfaceError):
            response = Response(services.unhealthy_status(exc).as_json(), status=503, headers={"Retry-After": "2"})
            response.exception = True
            return response
        return super().handle_exception(exc)


def _save_status(result: services.SaveResult) -> int:
    return status.HTTP_201_CREATED if result.action == "inserted" else status.HTTP_200_OK


def _checked(item: Any) -> MemoryDraft | dict[str, Any]:
    try:
        return make_draft(validate_item(MemoryInput, item))
    except ItemRefusedError as refused:
        return refused.answer


def _batch_answer(outcome: services.SaveOutcome, now: Any) -> dict[str, Any]:
    if isinstance(outcome, MemoryHubError):
        return item_error(outcome)
    return {"status": _save_status(outcome), **schemas.render_save(outcome, now)}
