"""Sources of knowledge and their items over REST (spec 003)."""

import hashlib
import json
from uuid import UUID

from django.db.models import F, Q
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Scope
from apps.core.rest.openapi import LOCATION
from apps.core.rest.views import HubView, created, refuse_body, validate_query
from apps.core.schemas.bodies import document_limit
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.sync import selectors, services
from apps.sync.rest.pages import OLDEST_FIRST, page_of, with_ids
from apps.sync.schemas import items, sources
from apps.sync.schemas.runs import PauseInput

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of an answer that you already have."
)


class SourcesView(HubView):
    """The sources of knowledge."""

    body_limit = staticmethod(document_limit)
    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_sources_list",
        parameters=[sources.SourceListInput],
        responses={200: sources.SourcePageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List sources, newest first."""
        data = validate_query(sources.SourceListInput, request)
        include, asked = data.get("include", ()), Scope(data.get("user_id"))
        listed, counted = selectors.source_list(self.access, asked, include), data.get("count", False)
        page = Page(listed, self.access, data.get("cursor"), data.get("limit"), count=counted, include=include)
        return Response(
            {**page_links(page, request), "results": [sources.source_json(each, self.access) for each in page.rows]}
        )

    @extend_schema(
        operation_id="sync_sources_create",
        request=sources.SourceInput,
        responses={201: sources.SourceOutput, 409: Problem},
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Create a source; for operators. Nothing is read until someone asks for a sync or a trigger is met."""
        data = validate(sources.SourceInput, request.data)
        source = services.source_create(access=self.access, values=sources.read_values(data))
        return created(sources.source_json(source, self.access), "sync-source", source.uuid)


class SourceView(HubView):
    """One source."""

    body_limit = staticmethod(document_limit)

    @extend_schema(operation_id="sync_sources_retrieve", responses={200: sources.SourceOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a source."""
        return Response(sources.source_json(selectors.source_get(self.access, uuid), self.access))

    @extend_schema(
        operation_id="sync_sources_update",
        request=sources.SourceChanges,
        responses={200: sources.SourceOutput, 409: Problem},
    )
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Change a source; for operators. The next sync applies it, as a full sync if it changes what is read."""
        values = sources.read_values(validate(sources.SourceChanges, request.data))
        source = services.source_update(access=self.access, uuid=uuid, values=values)
        return Response(sources.source_json(source, self.access))

    @extend_schema(operation_id="sync_sources_delete", responses={204: None, 409: Problem})
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Delete a source with its items and runs; for operators. Its memories are soft-deleted."""
        services.source_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PauseView(HubView):
    """Pauses a source."""

    @extend_schema(
        operation_id="sync_sources_pause", request=PauseInput, responses={200: sources.SourceOutput, 409: Problem}
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Keep triggers from starting syncs; for operators."""
        reason = validate(PauseInput, request.data).get("reason", "")
        source = services.source_pause(access=self.access, uuid=uuid, reason=reason)
        return Response(sources.source_json(source, self.access))


class ResumeView(HubView):
    """Resumes a source."""

    @extend_schema(
        operation_id="sync_sources_resume", request=None, responses={200: sources.SourceOutput, 409: Problem}
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Let triggers start syncs again; for operators. After a rollback, they repeat what was rolled back."""
        refuse_body(request)
        source = services.source_resume(access=self.access, uuid=uuid)
        return Response(sources.source_json(source, self.access))


class StateView(HubView):
    """The state of a source."""

    @extend_schema(operation_id="sync_sources_state", responses={200: sources.SyncStateOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show the state after the last complete sync."""
        state = selectors.state_of(self.access, uuid)
        return Response(sources.state_json(selectors.source_get(self.access, uuid), state))


class ManifestView(HubView):
    """The manifest of a source."""

    is_heavy = True

    @extend_schema(operation_id="sync_sources_manifest", responses={200: items.ManifestOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show all items with their hashes and pointers, sorted by id."""
        results = [items.manifest_json(entry) for entry in selectors.manifest(self.access, uuid)]
        return Response({"results": results, "count": len(results)})


class FilesView(HubView):
    """The files of a source."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_sources_files",
        parameters=[items.FileListInput],
        responses={200: items.KnowledgeFilePageOutput},
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the files as last read: what each became, or why it could not be read."""
        data = validate_query(items.FileListInput, request)
        files = selectors.file_list(self.access, uuid)
        chosen = files.refused() if data.get("refused") else files
        listed = with_ids(chosen.annotate(became=F("parsed__item_id")), "path")
        return page_of(
            listed, request, self.access, data, items.file_json, within=with_ids(files, "path"), order=OLDEST_FIRST
        )


class ItemsView(HubView):
    """The items of sources."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_items_list",
        parameters=[items.ItemListInput],
        responses={200: items.ItemPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List items without their texts, newest first."""
        data = validate_query(items.ItemListInput, request)
        listed = selectors.item_list(self.access, data.get("source"), include=data.get("include", ()))
        chosen = listed.filter(**{name: data[name] for name in ("type", "layer", "status") if name in data})
        if "q" in data:
            chosen = chosen.filter(Q(title__icontains=data["q"]) | Q(item_id__icontains=data["q"]))
        return page_of(chosen, request, self.access, data, items.item_json, within=listed)


class ItemView(HubView):
    """One item."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="sync_items_retrieve",
        parameters=[items.ItemInput, IF_NONE_MATCH],
        responses={200: items.ItemDetailOutput, 304: None},
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show an item with its full text, at the last sync or at another commit of its source."""
        data = validate_query(items.ItemInput, request)
        item = selectors.item_get(self.access, uuid)
        answer = items.item_detail_json(item, selectors.item_text(self.access, uuid, data.get("commit")))
        tag = '"' + hashlib.sha256(json.dumps(answer).encode()).hexdigest()[:32] + '"'
        headers = {"ETag": tag}
        if {tag, "*"} & set(parse_etags(request.headers.get("If-None-Match", ""))):
            return Response(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(answer, headers=headers)


class DiffView(HubView):
    """How an item changed."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(operation_id="sync_items_diff", parameters=[items.DiffInput], responses={200: items.ItemDiffOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show what changed in the text of an item between two commits."""
        item = selectors.item_get(self.access, uuid)
        data = validate_query(items.DiffInput, request)
        new = data.get("to") or item.commit
        return Response(items.diff_json(selectors.item_diff(self.access, uuid, data["from"], new)))


class HistoryView(HubView):
    """The commits of an item."""

    @extend_schema(operation_id="sync_items_history", responses={200: items.ItemHistoryOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the commits that changed the file of an item, newest first."""
        commits = [items.commit_json(each) for each in selectors.item_history(self.access, uuid)]
        return Response({"results": commits, "count": len(commits)})
