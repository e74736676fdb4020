"""Inputs and outputs of the store."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from rest_framework import serializers

from apps.core.schemas.bodies import BodyLimit, make_limit
from apps.core.schemas.fields import (
    BoundedListField,
    JSONObjectField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
)
from apps.core.schemas.outputs import JSONObject, Moment, iso
from apps.core.schemas.serializers import ScopeInput, StrictSerializer
from apps.store.domain.filters import read_filter
from apps.store.domain.operations import (
    ANY_LABEL,
    MAX_KEY_CHARS,
    MAX_LABEL_CHARS,
    MAX_LABELS,
    MAX_OFFSET,
    MAX_OPERATIONS,
    MAX_RESULTS,
    MAX_TEXT_CHARS,
    MAX_TEXTS,
    MAX_TTL_MINUTES,
    Condition,
    Get,
    ListNamespaces,
    Operation,
    Put,
    Search,
)
from apps.store.models import StoreItem

MAX_VALUE_CHARS = 100_000
# What each operation takes; what it needs is first.
TAKEN = {
    "put": (("namespace", "key", "value"), ("texts", "ttl")),
    "delete": (("namespace", "key"), ()),
    "get": (("namespace", "key"), ("refresh",)),
    "search": (("namespace",), ("filter", "query", "limit", "offset", "refresh")),
    "list": ((), ("conditions", "max_depth", "limit", "offset")),
}


def store_limit() -> BodyLimit:
    """Return the limit of a request: ten values as large as they may be, however many they are."""
    return BodyLimit(make_limit(chars=10 * MAX_VALUE_CHARS).size, 10 * MAX_VALUE_CHARS)


def labels_field(text: str, **kwargs: Any) -> BoundedListField:
    """Return the field of a namespace."""
    label = StrictCharField(max_length=MAX_LABEL_CHARS, trim_whitespace=False)
    return BoundedListField(child=label, max_length=MAX_LABELS, help_text=text, **kwargs)


class ConditionInput(StrictSerializer):
    """What namespaces begin with, or end with."""

    match = StrictChoiceField(choices=["prefix", "suffix"])
    path = labels_field(f"Labels; {ANY_LABEL} is any one.")


class OperationInput(StrictSerializer):
    """An operation of the store: `put`, `delete`, `get`, `search`, or `list` for namespaces."""

    op = StrictChoiceField(choices=list(TAKEN))
    namespace = labels_field("Where the item is; for search, what its namespace begins with.", required=False)
    key = StrictCharField(required=False, max_length=MAX_KEY_CHARS, trim_whitespace=False)
    value = JSONObjectField(required=False, max_chars=MAX_VALUE_CHARS)
    texts = BoundedListField(
        child=StrictCharField(max_length=MAX_TEXT_CHARS, trim_whitespace=False),
        required=False,
        max_length=MAX_TEXTS,
        help_text="For put: by which a search by meaning finds it. None: by namespace and filter alone.",
    )
    ttl = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TTL_MINUTES,
        help_text="For put: in how many minutes it expires. Each read that refreshes it begins them again.",
    )
    refresh = StrictBooleanField(required=False, help_text="For get and search; default true.")
    filter = JSONObjectField(
        required=False,
        help_text='Members of the value: {"color": "red", "score": {"$gte": 3}}; with $eq, $ne, $gt, $gte, $lt, $lte.',
    )
    query = StrictCharField(required=False, allow_blank=True, allow_null=True, max_length=MAX_TEXT_CHARS)
    limit = StrictIntegerField(required=False, min_value=0, max_value=MAX_RESULTS, help_text="Default 10; of list 100.")
    offset = StrictIntegerField(required=False, min_value=0, max_value=MAX_OFFSET)
    conditions = ConditionInput(many=True, required=False)
    max_depth = StrictIntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_LABELS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require what the operation needs, and refuse what it does not take."""
        needed, further = TAKEN[attrs["op"]]
        wrong = {name: ["It is required."] for name in needed if name not in attrs}
        wrong |= {name: [f"{attrs['op']} does not take it."] for name in attrs if name not in (*needed, *further, "op")}
        if wrong:
            raise serializers.ValidationError(wrong, code="invalid")
        return attrs


class StoreInput(ScopeInput):
    """Operations on the items of one owner."""

    operations = BoundedListField(child=OperationInput(), min_length=1, max_length=MAX_OPERATIONS)


def operation_of(data: Mapping[str, Any]) -> Operation:
    """Return the operation of checked input. Raises FilterError."""
    op, namespace, key = data["op"], tuple(data.get("namespace", ())), data.get("key", "")
    pages = {name: data[name] for name in ("limit", "offset") if name in data}
    if op in {"put", "delete"}:
        return Put(namespace, key, data.get("value"), tuple(data.get("texts", ())), data.get("ttl"))
    if op == "get":
        return Get(namespace, key, data.get("refresh", True))
    if op == "search":
        where, query = read_filter(data.get("filter", {})), data.get("query") or ""
        return Search(namespace, where, query, is_refreshing=data.get("refresh", True), **pages)
    conditions = tuple(Condition(tuple(one["path"]), one["match"] == "prefix") for one in data.get("conditions", ()))
    return ListNamespaces(conditions, data.get("max_depth"), **pages)


class StoreItemOutput(TypedDict):
    """An item of the store."""

    namespace: list[str]
    key: str
    value: JSONObject
    created_at: Moment
    updated_at: Moment
    expires_at: Moment | None


class FoundItemOutput(StoreItemOutput):
    """An item that a search found. score: how near it is to the query, 1 at most; null where it has no texts."""

    score: float | None


class StoreResultOutput(TypedDict):
    """What came of an operation: nothing for put and delete."""

    item: NotRequired[StoreItemOutput | None]
    items: NotRequired[list[FoundItemOutput]]
    namespaces: NotRequired[list[list[str]]]


class StoreResultsOutput(TypedDict):
    """The results of operations, in their order."""

    results: list[StoreResultOutput]


def render_item(item: StoreItem) -> StoreItemOutput:
    """Return an item as the API shows it."""
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": item.value,
        "created_at": iso(item.created_at),
        "updated_at": iso(item.updated_at),
        "expires_at": iso(item.expires_at),
    }


def render_result(operation: Operation, result: Any) -> StoreResultOutput:
    """Return the result of an operation as the API shows it."""
    if isinstance(operation, Get):
        return {"item": None if result is None else render_item(result)}
    if isinstance(operation, Search):
        return {"items": [{**render_item(item), "score": score} for item, score in result]}
    if isinstance(operation, ListNamespaces):
        return {"namespaces": [list(each) for each in result]}
    return {}
