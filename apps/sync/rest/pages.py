"""Pages of what is below sources, which has no scope of its own."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db.models import CharField, Model, QuerySet, UUIDField
from django.db.models.functions import MD5, Cast
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.domain.scope import Access
from apps.core.schemas.paging import NEWEST_FIRST, Order, Page, page_links

Row = TypeVar("Row", bound=Model)
OLDEST_FIRST = Order(ascending=True)


def page_of(
    rows: QuerySet[Row],
    request: Request,
    access: Access,
    data: Mapping[str, Any],
    render: Callable[[Row], Any],
    *,
    within: QuerySet[Row] | None = None,
    order: Order = NEWEST_FIRST,
) -> Response:
    """Return the answer with a page of rows. within: which of them a cursor may name, by default all of them.

    data: the validated query string. Raises NotFoundError for a cursor that names no row of `within`.
    """
    within = rows if within is None else within
    counted, cursor = data.get("count", False), data.get("cursor")
    page = Page(rows, access, cursor, data.get("limit"), order=order, count=counted, within=within)
    return Response({**page_links(page, request), "results": [render(row) for row in page.rows]})


def with_ids(rows: QuerySet[Row], column: str) -> QuerySet[Row]:
    """Return rows that a cursor can name though they have no id: it is made of a column that is unique among them."""
    named: QuerySet[Row] = rows.annotate(uuid=Cast(MD5(Cast(column, CharField())), UUIDField()))
    return named
