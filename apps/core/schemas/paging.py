"""Pages of rows with a scope, the newest first, that stay stable while more arrive."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Generic, NamedTuple, NotRequired, Protocol, TypedDict, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.db.models.expressions import Combinable
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.cursors import (
    CURSOR_PATTERN,
    NEWER,
    OLDER,
    Cursor,
    CursorPage,
    cursor_gone,
    read_value,
    write_value,
)
from apps.core.domain.errors import ContradictionError
from apps.core.domain.scope import Access
from apps.core.pages.addresses import asked_address
from apps.core.schemas.fields import IdentifierField
from apps.core.schemas.serializers import StrictSerializer

DEFAULT_PAGE = 50
MAX_PAGE = 200
# The type of `total`, where an operation describes it.
Total = Annotated[int, "The total number of rows, with `count=true`."]


Row = TypeVar("Row", bound=Model)


class Order(NamedTuple):
    """The order of a list: by a column, or what computes it, and among equal ones by their arrival.

    column: None for the order of arrival alone. It must not be NULL.
    """

    column: str | Combinable | None = None
    ascending: bool = False


NEWEST_FIRST = Order()
OLDEST_FIRST = Order(ascending=True)


def limit_field() -> serializers.IntegerField:
    """Return the field of the length of a page, the same for every list."""
    return serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_PAGE, help_text=f"Default {DEFAULT_PAGE}."
    )


def cursor_field() -> serializers.RegexField:
    """Return the field of where a page begins, the same for every list."""
    return serializers.RegexField(CURSOR_PATTERN, required=False, help_text="From `next` or `previous`.")


class PageInput(StrictSerializer):
    """The query string of a list: identifiers of a scope, and which page."""

    user_id = IdentifierField(required=False)
    household_id = IdentifierField(required=False)
    persona_id = IdentifierField(required=False)
    limit = limit_field()
    cursor = cursor_field()
    count = serializers.BooleanField(
        required=False, default=serializers.empty, help_text="Add the total number of rows, as `total`."
    )


def chosen_limit(data: Mapping[str, Any], default: int) -> int:
    """Return how many results validated input asks for, as `limit` or by its name in the specification, `top_k`.

    Raises ContradictionError where both are given and differ.
    """
    limit, top_k = data.get("limit"), data.get("top_k")
    if limit is not None and top_k is not None and limit != top_k:
        raise ContradictionError(
            "Send either limit or top_k (they mean the same), or the same number for both.", attr="top_k"
        )
    return next((given for given in (limit, top_k) if given is not None), default)


def page_filters(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the validated query string of a list says besides scope and page."""
    return {name: value for name, value in data.items() if name not in PageInput._declared_fields}


class Page(Generic[Row]):
    """One page: `rows`, and the cursors of the pages beside it, None at the ends.

    A cursor names a row by its `uuid`, a direction, and in an order of values that of the row when it was listed: the
    next page begins there, wherever the row has gone since. It says nothing that the list itself does not say: row
    numbers would say how much others write.
    """

    def __init__(
        self,
        listed: QuerySet[Row],
        access: Access,
        cursor: str | None,
        limit: int | None,
        *,
        order: Order = NEWEST_FIRST,
        count: bool = False,
        include: Collection[str] = (),
        within: QuerySet[Row] | None = None,
    ) -> None:
        """Read one page of `listed`. cursor: matches CURSOR_PATTERN. count: find out `total` as well.

        include: owners whose rows are listed besides the caller's, as far as they were granted. within: rows that a
        cursor may name; by default those with a scope that the caller may see.

        Raises NotFoundError for a cursor that names no row of the caller's, InvalidInputError for one of another order.
        """
        self.total = listed.count() if count else None
        if order.column is not None:
            listed = listed.annotate(page_place=F(order.column) if isinstance(order.column, str) else order.column)
        limit = limit or DEFAULT_PAGE
        direction, start = OLDER, None
        if cursor is not None:
            direction, name, listed_at = Cursor.read(cursor)
            if within is None:
                all_rows: ScopedQuerySet[Row] = listed.model._default_manager.all()
                within = all_rows.visible_to(access, include=include)
            start = place_of(within.filter(uuid=name), order)
            if start is None:
                raise cursor_gone()
            if listed_at and len(start) > 1:
                start = read_value(listed_at, start[0]), start[1]
        backwards = direction == NEWER
        # The older ones of the newest first are below; everything turns with the direction and with the order.
        upwards = backwards is not order.ascending
        if start is not None:
            listed = listed.filter(beyond(start, upwards))
        names = ["id"] if order.column is None else ["page_place", "id"]
        rows = list(listed.order_by(*(name if upwards else f"-{name}" for name in names))[: limit + 1])
        page = CursorPage.cut(rows, limit, _cursor, is_first=start is None, is_backwards=backwards)
        self.rows, self.older, self.newer = list(page.rows), page.older, page.newer


def place_of(row: QuerySet[Any], order: Order) -> tuple[Any, ...] | None:
    """Return where a row is in an order: its value and its number; None without a row."""
    found: tuple[Any, ...] | None
    if order.column is None:
        found = row.values_list("pk").first()
    else:
        place = F(order.column) if isinstance(order.column, str) else order.column
        found = row.annotate(page_place=place).values_list("page_place", "pk").first()
    return found


def beyond(place: tuple[Any, ...], upwards: bool) -> Q:
    """Return the condition of the rows that come after a place, going up or down."""
    sign = "gt" if upwards else "lt"
    if len(place) == 1:
        return Q(**{f"pk__{sign}": place[0]})
    value, number = place
    return Q(**{f"page_place__{sign}": value}) | Q(**{"page_place": value, f"pk__{sign}": number})


def page_output(
    item: Any,
    things: str,
    order: str = ", the newest first",
    *,
    name: str = "",
    link: Any = str,
    total: Any = None,
    results_first: bool = False,
) -> Any:
    """Return the TypedDict of a page of items, for the OpenAPI document. things, order: for its description.

    name: by default that of the item, as in EventOutput and EventPageOutput. link: the type of `next` and `previous`.
    total: that of `total`, where it is described.
    """
    make_type: Any = TypedDict
    ends = {"next": link | None, "previous": link | None, **({"total": NotRequired[total]} if total else {})}
    results = {"results": list[item]}
    page = make_type(
        name or item.__name__.removesuffix("Output") + "PageOutput",
        results | ends if results_first else ends | results,
    )
    page.__doc__ = f"A page of {things}{order}."
    return page


class PageEnds(Protocol):
    """A page that knows the cursors of the pages beside it."""

    @property
    def older(self) -> str | None: ...
    @property
    def newer(self) -> str | None: ...
    @property
    def total(self) -> int | None: ...


def page_links(page: PageEnds, request: Request) -> dict[str, Any]:
    """Return the addresses of the pages beside this one: `next` is the older one."""
    address = asked_address(request) + request.get_full_path()
    links = {
        name: cursor and replace_query_param(address, "cursor", cursor)
        for name, cursor in (("next", page.older), ("previous", page.newer))
    }
    return links if page.total is None else {**links, "total": page.total}


def _cursor(direction: str, row: Any) -> Cursor:
    return Cursor(direction, row.uuid, write_value(row.page_place) if hasattr(row, "page_place") else "")
