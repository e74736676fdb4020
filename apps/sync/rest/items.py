"""Items over REST: what sources have, and the full text of each at any commit."""

import hashlib
import json
from uuid import UUID

from django.db.models import Q
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import page_output
from apps.sync import selectors
from apps.sync.schemas import items

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of an answer that you already have."
)


class ItemsView(HubView):
    """The items of sources."""

    @operation(
        "sync_items_list", query=items.ItemListInput, answer=page_output(items.ItemOutput, "items"), errors=(404,)
    )
    def get(self, request: Request) -> Response:
        """List items without their texts, newest first."""
        data = self.read_query()
        listed = selectors.item_list(self.access, data.get("source"), include=data.get("include", ()))
        chosen = listed.filter(**{name: data[name] for name in ("type", "layer", "status") if name in data})
        if "q" in data:
            chosen = chosen.filter(Q(title__icontains=data["q"]) | Q(item_id__icontains=data["q"]))
        return self.page(chosen, data, items.item_json, within=listed)


class ItemView(HubView):
    """One item."""

    @operation(
        "sync_items_retrieve",
        query=items.ItemInput,
        answer={200: items.ItemDetailOutput, 304: None},
        headers=[IF_NONE_MATCH],
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show an item with its full text, at the last sync or at another commit of its source."""
        data = self.read_query()
        item = selectors.item_get(self.access, uuid)
        answer = items.item_detail_json(item, selectors.item_text(self.access, uuid, data.get("commit")))
        tag = '"' + hashlib.sha256(json.dumps(answer).encode()).hexdigest()[:32] + '"'
        headers = {"ETag": tag}
        if {tag, "*"} & set(parse_etags(request.headers.get("If-None-Match", ""))):
            return Response(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(answer, headers=headers)


class DiffView(HubView):
    """How an item changed."""

    @operation("sync_items_diff", query=items.DiffInput, answer=items.ItemDiffOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show what changed in the text of an item between two commits."""
        item = selectors.item_get(self.access, uuid)
        data = self.read_query()
        new = data.get("to") or item.commit
        return Response(items.diff_json(selectors.item_diff(self.access, uuid, data["from"], new)))


class HistoryView(HubView):
    """The commits of an item."""

    @operation("sync_items_history", answer=items.ItemHistoryOutput)
    def get(self, request: Request, uuid: UUID) -> Response:
        """List the commits that changed the file of an item, newest first."""
        commits = [items.commit_json(each) for each in selectors.item_history(self.access, uuid)]
        return Response({"results": commits, "count": len(commits)})
