"""Sources of knowledge over REST (spec 003)."""

from typing import TypeVar
from uuid import UUID

from django.db.models import CharField, F, Model, QuerySet, UUIDField
from django.db.models.functions import MD5, Cast
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Scope
from apps.core.rest.views import LOCATION, HubView, created, operation
from apps.core.schemas.bodies import document_limit
from apps.core.schemas.paging import OLDEST_FIRST, page_output
from apps.sync import selectors, services
from apps.sync.schemas import items, sources
from apps.sync.schemas.runs import PauseInput

Row = TypeVar("Row", bound=Model)


def with_ids(rows: QuerySet[Row], column: str) -> QuerySet[Row]:
    """Return rows that a cursor can name though they have no id: it is made of a column that is unique among them."""
    named: QuerySet[Row] = rows.annotate(uuid=Cast(MD5(Cast(column, CharField())), UUIDField()))
    return named


class SourcesView(HubView):
    """The sources of knowledge."""

    body_limit = staticmethod(document_limit)

    @operation(
        "sync_sources_list",
        query=sources.SourceListInput,
        answer=page_output(sources.SourceOutput, "sources"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List sources, newest first."""
        data = self.read_query()
        include, asked = data.get("include", ()), Scope(data.get("user_id"))
        listed = selectors.source_list(self.access, asked, include)
        return self.page(listed, data, lambda source: sources.source_json(source, self.access), include=include)

    @operation(
        "sync_sources_create",
        body=sources.SourceInput,
        answer={201: sources.SourceOutput},
        errors=(409,),
        headers=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Create a source; for operators. Nothing is read until someone asks for a sync or a trigger is met."""
        data = self.read_body()
        source = services.source_create(access=self.access, values=sources.read_values(data))
        return created(sources.source_json(source, self.access), "sync-source", source.uuid)


class SourceView(HubView):
    """One source."""

    body_limit = staticmethod(document_limit)

    @operation("sync_sources_retrieve", answer=sources.SourceOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a source."""
        return Response(sources.source_json(selectors.source_get(self.access, uuid), self.access))

    @operation("sync_sources_update", body=sources.SourceChanges, answer=sources.SourceOutput, errors=(409,))
    def patch(self, request: Request, uuid: UUID) -> Response:
        """Change a source; for operators. The next sync applies it, as a full sync if it changes what is read."""
        values = sources.read_values(self.read_body())
        source = services.source_update(access=self.access, uuid=uuid, values=values)
        return Response(sources.source_json(source, self.access))

    @operation("sync_sources_delete", answer={204: None}, errors=(409,))
    def delete(self, request: Request, uuid: UUID) -> Response:
        """Delete a source with its items and runs; for operators. Its memories are soft-deleted."""
        services.source_delete(access=self.access, uuid=uuid)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PauseView(HubView):
    """Pauses a source."""

    @operation("sync_sources_pause", body=PauseInput, answer=sources.SourceOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Keep triggers from starting syncs; for operators."""
        reason = self.read_body().get("reason", "")
        source = services.source_pause(access=self.access, uuid=uuid, reason=reason)
        return Response(sources.source_json(source, self.access))


class ResumeView(HubView):
    """Resumes a source."""

    @operation("sync_sources_resume", answer=sources.SourceOutput, errors=(409,))
    def post(self, request: Request, uuid: UUID) -> Response:
        """Let triggers start syncs again; for operators. After a rollback, they repeat what was rolled back."""
        self.read_body()
        source = services.source_resume(access=self.access, uuid=uuid)
        return Response(sources.source_json(source, self.access))


class StateView(HubView):
    """The state of a source."""

    @operation("sync_sources_state", answer=sources.SyncStateOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show the state after the last complete sync."""
        state = selectors.state_of(self.access, uuid)
        return Response(sources.state_json(selectors.source_get(self.access, uuid), state))


class ManifestView(HubView):
    """The manifest of a source."""

    is_heavy = True

    @operation("sync_sources_manifest", answer=items.ManifestOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show all items with their hashes and pointers, sorted by id."""
        results = [items.manifest_json(entry) for entry in selectors.manifest(self.access, uuid)]
        return Response({"results": results, "count": len(results)})


class FilesView(HubView):
    """The files of a source."""

    @operation(
        "sync_sources_files", query=items.FileListInput, answer=page_output(items.KnowledgeFileOutput, "files", "")
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the files as last read: what each became, or why it could not be read."""
        data = self.read_query()
        files = selectors.file_list(self.access, uuid)
        chosen = files.refused() if data.get("refused") else files
        listed = with_ids(chosen.annotate(became=F("parsed__item_id")), "path")
        return self.page(listed, data, items.file_json, within=with_ids(files, "path"), order=OLDEST_FIRST)
