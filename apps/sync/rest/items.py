"""Items over REST: what sources have, and the full text of each at any commit."""

import hashlib
import json
from uuid import UUID

from django.db.models import Q
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, validate_query
from apps.core.schemas.serializers import Problem
from apps.sync import selectors
from apps.sync.rest.pages import page_of
from apps.sync.schemas import items

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of an answer that you already have."
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
