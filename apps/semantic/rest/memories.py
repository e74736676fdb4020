"""Views of memories, of searches and of the status of the store (DESIGN section 5)."""

from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, StaleVersionError
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.domain.scope import Permission
from apps.core.rest.openapi import LOCATION
from apps.core.rest.views import HubView, created, refuse_body, validate_query
from apps.core.schemas.batches import ItemRefusedError, item_error, validate_item
from apps.core.schemas.bodies import batch_limit, document_limit, item_limit, search_limit
from apps.core.schemas.paging import Page, page_filters, page_links
from apps.core.schemas.serializers import Problem, scope_of, validate
from apps.semantic import selectors, services
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.schemas.memories import (
    BatchInput,
    BatchOutput,
    HistoryOutput,
    ListInput,
    MemoryInput,
    MemoryOutput,
    MemoryPage,
    SaveOutput,
    SelectionInput,
    SelectionOutput,
    UpdateInput,
    make_draft,
    make_order,
    render_memory,
    render_revision,
    render_save,
)
from apps.semantic.schemas.search import SearchInput, SearchOutput, make_query, render_search
from apps.semantic.schemas.status import StatusOutput, render_status


class MemoriesView(HubView):
    """Save and list memories."""

    body_limit = staticmethod(item_limit)
    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(operation_id="memories_list", parameters=[ListInput], responses={200: MemoryPage, 404: Problem})
    def get(self, request: Request) -> Response:
        """List memories, newest first."""
        data = validate_query(ListInput, request)
        filters = page_filters(data)
        order, where = make_order(filters.pop("sort", None)), filters.pop("where", EVERYTHING)
        include, cursor, counted = filters.pop("include", ()), data.get("cursor"), data.get("count", False)
        memories = selectors.memory_list(self.access, scope_of(data), filters, where, include=include)
        page = Page(memories, self.access, cursor, data.get("limit"), order=order, count=counted, include=include)
        now = utcnow(SYSTEM_CLOCK)
        return Response({**page_links(page, request), "results": [render_memory(memory, now) for memory in page.rows]})

    # Answers have the confidence at the moment when the request came: saving takes time, in which nothing decays.
    @extend_schema(
        operation_id="memories_save",
        request=MemoryInput,
        responses={201: SaveOutput, 200: SaveOutput},
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Save a memory. An exact duplicate in the same scope improves the stored one or is skipped."""
        draft, now = make_draft(validate(MemoryInput, request.data)), utcnow(SYSTEM_CLOCK)
        result = services.memory_save(access=self.access, draft=draft)
        body, headers = render_save(result, now), etag_of(result.memory)
        if result.action == "inserted":
            return created(body, "memory", result.memory.uuid, headers=headers)
        return Response(body, headers=headers)


class BatchView(HubView):
    """Save many memories."""

    body_limit = staticmethod(batch_limit)
    is_heavy = True

    @extend_schema(operation_id="memories_save_batch", request=BatchInput, responses={200: BatchOutput})
    def post(self, request: Request) -> Response:
        """Save up to 1,000 memories in one transaction. One answer per item, in order; a bad item fails alone."""
        items: list[MemoryDraft | dict[str, Any]] = []
        for item in validate(BatchInput, request.data)["memories"]:
            try:
                items.append(make_draft(validate_item(MemoryInput, item)))
            except ItemRefusedError as refused:
                items.append(refused.answer)
        drafts = [item for item in items if isinstance(item, MemoryDraft)]
        now, results = utcnow(SYSTEM_CLOCK), []
        saved = iter(services.memory_save_many(access=self.access, drafts=drafts))
        for item in items:
            outcome = next(saved) if isinstance(item, MemoryDraft) else item
            if isinstance(outcome, services.SaveResult):
                results.append({"status": 201 if outcome.action == "inserted" else 200, **render_save(outcome, now)})
            else:
                results.append(item_error(outcome) if isinstance(outcome, MemoryHubError) else outcome)
        return Response({"results": results, "count": len(results)})


class DeletionView(HubView):
    """Delete many memories."""

    body_limit = staticmethod(document_limit)
    is_heavy = True

    @extend_schema(operation_id="memories_delete_many", request=SelectionInput, responses={200: SelectionOutput})
    def post(self, request: Request) -> Response:
        """Soft-delete memories by their ids or by a filter; each can be restored. `dry_run` says how many."""
        data = validate(SelectionInput, request.data)
        chosen = services.Selection(scope_of(data), tuple(data.get("ids", ())), data.get("where", EVERYTHING))
        result = services.memories_delete(access=self.access, chosen=chosen, dry_run=data["dry_run"])
        return Response({**result._asdict(), "dry_run": data["dry_run"]})


class MemoryView(HubView):
    """One memory."""

    body_limit = staticmethod(item_limit)

    @extend_schema(operation_id="memories_retrieve", responses={200: MemoryOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a memory."""
        memory = selectors.memory_get(self.access, uuid)
        return Response(render_memory(memory, utcnow(SYSTEM_CLOCK)), headers=etag_of(memory))

    @extend_schema(
        operation_id="memories_update",
        request=UpdateInput,
        parameters=[OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="The version to change.")],
        responses={200: SaveOutput, 409: Problem, 412: Problem},
    )
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Change a memory. New content is compared with other memories as if it were saved; its history is kept."""
        fields, now = dict(validate(UpdateInput, request.data)), utcnow(SYSTEM_CLOCK)
        edit = services.MemoryEdit(fields, fields.pop("embedding", None), wanted_version(request))
        result = services.memory_update(access=self.access, uuid=uuid, edit=edit)
        return Response(render_save(result, now), headers=etag_of(result.memory))

    @extend_schema(operation_id="memories_delete", responses={204: None})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Soft-delete a memory; it can be restored."""
        services.memory_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReinforceView(HubView):
    """Reinforce a memory."""

    @extend_schema(operation_id="memories_reinforce", request=None, responses={200: MemoryOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restart the decay of a reinforceable memory."""
        refuse_body(request)
        now = utcnow(SYSTEM_CLOCK)
        memory = services.memory_reinforce(access=self.access, uuid=uuid)
        return Response(render_memory(memory, now))


class RestoreView(HubView):
    """Restore a memory."""

    @extend_schema(operation_id="memories_restore", request=None, responses={200: MemoryOutput, 409: Problem})
    def post(self, request: Request, uuid: UUID) -> Response:
        """Undo a soft delete."""
        refuse_body(request)
        memory = services.memory_restore(access=self.access, uuid=uuid)
        return Response(render_memory(memory, utcnow(SYSTEM_CLOCK)))


class HistoryView(HubView):
    """The history of a memory."""

    @extend_schema(operation_id="memories_history", responses={200: HistoryOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show every change of a memory, deleted or not, oldest first."""
        steps = [render_revision(step) for step in selectors.memory_history(self.access, uuid)]
        return Response({"results": steps, "count": len(steps)})


class SearchView(HubView):
    """Find memories."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @extend_schema(operation_id="search", request=SearchInput, responses={200: SearchOutput, 422: Problem})
    def post(self, request: Request) -> Response:
        """Find memories by meaning and by words, best match first."""
        query = make_query(validate(SearchInput, request.data))
        result = services.memory_search(self.access, query)
        return Response(render_search(result, utcnow(SYSTEM_CLOCK), query.explain))


class StoreStatusView(HubView):
    """The state of the store."""

    @extend_schema(operation_id="status", responses={200: StatusOutput, 503: StatusOutput})
    def get(self, request: Request) -> Response:
        """Say whether the store answers, and how many memories this key can see."""
        report, has_bound = services.store_status(self.access), not self.access.bound.is_everything
        is_for_all = report.healthy and not has_bound
        bridge = services.bridge_status().as_json() if is_for_all else None
        judge = services.judge_status() if is_for_all else None
        answer = render_status(report, has_bound=has_bound, bridge=bridge, judge=judge)
        return Response(answer, status=200 if report.healthy else 503)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer 503 without a database, in which not even the key can be checked."""
        if isinstance(exc, DatabaseError | InterfaceError):
            answer = render_status(services.unhealthy_status(exc), has_bound=True)
            response = Response(answer, status=503, headers={"Retry-After": "2"})
            response.exception = True
            return response
        return super().handle_exception(exc)


def etag_of(memory: Memory) -> dict[str, str]:
    """Return the header that names the version of a memory."""
    return {"ETag": f'"{memory.version_tag}"'}


def wanted_version(request: Request) -> str | None:
    """Return the version that a request is about, None for any. Raises StaleVersionError for several or an odd one."""
    header = request.headers.get("If-Match", "").strip()
    if header in {"", "*"}:
        return None
    if not (len(header) > 2 and header[0] == header[-1] == '"' and '"' not in header[1:-1]):
        raise StaleVersionError("If-Match takes one version in quotation marks, as in an ETag, or *.")
    return header[1:-1]
