"""Views of memories, of searches and of the status of the store (DESIGN section 5)."""

from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError, MemoryHubError
from apps.core.domain.filters.expression import EVERYTHING
from apps.core.domain.scope import Permission
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.batches import ItemRefusedError, item_error, validate_item
from apps.core.schemas.bodies import batch_limit, document_limit, item_limit, search_limit
from apps.core.schemas.outputs import Url
from apps.core.schemas.paging import Total, page_filters, page_output
from apps.core.schemas.serializers import scope_of
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

    @operation(
        "memories_list",
        query=ListInput,
        answer=page_output(
            MemoryOutput,
            "a list",
            ", the newest memory first unless `sort` says otherwise",
            link=Url,
            total=Total,
            name="MemoryPage",
        ),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List memories, newest first."""
        data = self.read_query()
        filters = page_filters(data)
        order, where = make_order(filters.pop("sort", None)), filters.pop("where", EVERYTHING)
        include = filters.pop("include", ())
        memories = selectors.memory_list(self.access, scope_of(data), filters, where, include=include)
        now = utcnow(SYSTEM_CLOCK)
        return self.page(memories, data, lambda memory: render_memory(memory, now), order=order, include=include)

    # Answers have the confidence at the moment when the request came: saving takes time, in which nothing decays.
    @operation("memories_save", body=MemoryInput, answer={201: SaveOutput, 200: SaveOutput}, headers=[LOCATION])
    def post(self, request: Request) -> Response:
        """Save a memory. An exact duplicate in the same scope improves the stored one or is skipped."""
        draft, now = make_draft(self.read_body()), utcnow(SYSTEM_CLOCK)
        result = services.memory_save(access=self.access, draft=draft)
        body, headers = render_save(result, now), etag_of(result.memory)
        if result.action == "inserted":
            return created(body, "memory", result.memory.uuid, headers=headers)
        return Response(body, headers=headers)


class BatchView(HubView):
    """Save many memories."""

    body_limit = staticmethod(batch_limit)
    is_heavy = True

    @operation("memories_save_batch", body=BatchInput, answer=BatchOutput)
    def post(self, request: Request) -> Response:
        """Save up to 1,000 memories in one transaction. One answer per item, in order; a bad item fails alone."""
        items: list[MemoryDraft | dict[str, Any]] = []
        for item in self.read_body()["memories"]:
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

    @operation("memories_delete_many", body=SelectionInput, answer=SelectionOutput)
    def post(self, request: Request) -> Response:
        """Soft-delete memories by their ids or by a filter; each can be restored. `dry_run` says how many."""
        data = self.read_body()
        chosen = services.Selection(scope_of(data), tuple(data.get("ids", ())), data.get("where", EVERYTHING))
        result = services.memories_delete(access=self.access, chosen=chosen, dry_run=data["dry_run"])
        return Response({**result._asdict(), "dry_run": data["dry_run"]})


class MemoryView(HubView):
    """One memory."""

    body_limit = staticmethod(item_limit)

    @operation("memories_retrieve", answer=MemoryOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a memory."""
        memory = selectors.memory_get(self.access, uuid)
        return Response(render_memory(memory, utcnow(SYSTEM_CLOCK)), headers=etag_of(memory))

    @operation(
        "memories_update",
        body=UpdateInput,
        answer=SaveOutput,
        errors=(409, 412),
        headers=[
            OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="Change it in these versions.")
        ],
    )
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Change a memory. New content is compared with other memories as if it were saved; its history is kept."""
        fields, now = dict(self.read_body()), utcnow(SYSTEM_CLOCK)
        edit = services.MemoryEdit(fields, fields.pop("embedding", None), wanted_versions(request))
        result = services.memory_update(access=self.access, uuid=uuid, edit=edit)
        return Response(render_save(result, now), headers=etag_of(result.memory))

    @operation("memories_delete", answer={204: None})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Soft-delete a memory; it can be restored."""
        services.memory_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReinforceView(HubView):
    """Reinforce a memory."""

    @operation("memories_reinforce", answer=MemoryOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Restart the decay of a reinforceable memory."""
        self.read_body()
        now = utcnow(SYSTEM_CLOCK)
        memory = services.memory_reinforce(access=self.access, uuid=uuid)
        return Response(render_memory(memory, now))


class RestoreView(HubView):
    """Restore a memory."""

    @operation("memories_restore", answer=MemoryOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Undo a soft delete."""
        self.read_body()
        memory = services.memory_restore(access=self.access, uuid=uuid)
        return Response(render_memory(memory, utcnow(SYSTEM_CLOCK)))


class HistoryView(HubView):
    """The history of a memory."""

    @operation("memories_history", answer=HistoryOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show every change of a memory, deleted or not, oldest first."""
        steps = [render_revision(step) for step in selectors.memory_history(self.access, uuid)]
        return Response({"results": steps, "count": len(steps)})


class SearchView(HubView):
    """Find memories."""

    needed_permission = Permission.READ
    body_limit = staticmethod(search_limit)

    @operation("search", body=SearchInput, answer=SearchOutput, errors=(422,))
    def post(self, request: Request) -> Response:
        """Find memories by meaning and by words, best match first."""
        query = make_query(self.read_body())
        result = services.memory_search(self.access, query)
        return Response(render_search(result, utcnow(SYSTEM_CLOCK), query.explain))


class StoreStatusView(HubView):
    """The state of the store."""

    @operation("status", answer={200: StatusOutput, 503: StatusOutput})
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


def wanted_versions(request: Request) -> tuple[str, ...] | None:
    """Return the versions that a request is about (RFC 9110, `If-Match`), None for any.

    Weak ones are no version of anything. Raises InvalidInputError for a header that has no version.
    """
    header = request.headers.get("If-Match", "").strip()
    if header in {"", "*"}:
        return None
    if not (tags := parse_etags(header)):
        raise InvalidInputError("If-Match takes versions in quotation marks, as in an ETag, or *.", attr="If-Match")
    return tuple(tag.strip('"') for tag in tags if not tag.startswith("W/"))
