"""Exports over REST."""

import threading
from functools import partial
from typing import cast

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from apps.core.domain.errors import UnavailableError
from apps.core.pages.streams import OwnedIterator, ThreadStreamedResponse
from apps.core.personal.export import encode_chunks, export_lines, parse_filters, permitted_export
from apps.core.personal.store import ExportRequest
from apps.core.rest.authentication import Caller
from apps.core.rest.views import HubView, operation
from apps.core.schemas.export import ExportInput
from apps.core.schemas.serializers import scope_of

MEDIA_TYPE = "application/x-ndjson"
HEADERS = {"Content-Disposition": 'attachment; filename="memoryhub-export.jsonl"', "Cache-Control": "no-store"}
# Each keeps a thread, a connection and a snapshot of the database for as long as its client takes.
EXPORTS_AT_ONCE = 2
RETRY_SECONDS = 10


class ExportPlaces:
    """Who exports now. A key has one place, so that none keeps all others waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: set[str] = set()

    def take(self, key: str) -> None:
        """Take a place. Raises UnavailableError when the key has one already, or when there is none."""
        with self._lock:
            if key in self._taken:
                raise UnavailableError("This key already has an export running.", retry_after=RETRY_SECONDS)
            if len(self._taken) >= EXPORTS_AT_ONCE:
                raise UnavailableError("Other exports are running. Try again shortly.", retry_after=RETRY_SECONDS)
            self._taken.add(key)

    def release(self, key: str) -> None:
        """Give a place back."""
        with self._lock:
            self._taken.discard(key)


export_places = ExportPlaces()


class LinesRenderer(JSONRenderer):
    """JSON Lines; an error is one line."""

    media_type = MEDIA_TYPE
    format = "ndjson"


class ExportView(HubView):
    """All that the hub keeps of a scope."""

    is_heavy = True
    renderer_classes = (JSONRenderer, LinesRenderer)

    @operation("export", query=ExportInput, answer={(200, MEDIA_TYPE): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponseBase:
        """Export memories with their history, receipts and events as JSON Lines, as they are at one moment.

        Without an identifier and for an operator key it is the whole hub. The last line has the kind `end`: without it
        the export broke off.
        """
        data = self.read_query()
        written, filters = parse_filters(data["filter"]) if "filter" in data else ({}, {})
        asked = ExportRequest(scope_of(data), filters, written, data["vectors"])
        permitted = permitted_export(self.access, asked)
        key = str(cast("Caller", request.user).key_id)
        export_places.take(key)
        chunks = OwnedIterator(
            encode_chunks(export_lines(asked, permitted)), on_end=partial(export_places.release, key)
        )
        return ThreadStreamedResponse(chunks, content_type=MEDIA_TYPE, headers=HEADERS)

    def head(self, request: Request) -> HttpResponse:
        """Answer with the headers of an export of everything that the key may have."""
        permitted_export(self.access, ExportRequest())
        return HttpResponse(content_type=MEDIA_TYPE, headers=HEADERS)
