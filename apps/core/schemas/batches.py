"""Requests that hold many items of one kind: each is checked alone, and a bad one fails alone."""

from typing import Any, cast

from drf_standardized_errors.formatter import ExceptionFormatter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from apps.core.domain.errors import MemoryHubError
from apps.core.schemas.bodies import MAX_BATCH
from apps.core.schemas.errors import problem, status_of
from apps.core.schemas.serializers import StrictSerializer, shared

Answer = dict[str, Any]


def items_schema(component: str) -> Answer:
    """Return the schema of a list of items for the OpenAPI document. component: the name of an item's schema."""
    return {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_BATCH,
        "items": {"anyOf": [{"$ref": f"#/components/schemas/{component}"}, {}]},
        "description": "Each one as if it were sent alone. A refused item gets its own error; the others go through.",
    }


class ItemsField(serializers.Field[list[Any], Any, list[Any], Any]):
    """A list whose items are checked one by one, later. things: what they are, in the plural."""

    things = "items"
    default_error_messages = {
        "not_a_list": "Expected a list of {things}.",
        "length": "Expected 1 to {limit} {things}, got {count}.",
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", things=self.things)
        if not 1 <= len(data) <= MAX_BATCH:
            self.fail("length", limit=MAX_BATCH, count=len(data), things=self.things)
        return data


class ItemRefusedError(Exception):
    """An item of a batch cannot be used. answer: its error, as the sender receives it."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def validate_item(serializer: type[StrictSerializer], item: Any) -> Answer:
    """Return the checked item. Raises ItemRefusedError."""
    try:
        return cast("Answer", shared(serializer).run_validation(item))
    except ValidationError as refused:
        answer = refusal_of(refused)
    # Out of the block: the error is in no other one's context, and so the item not kept with it until it is collected.
    raise ItemRefusedError(answer)


def refusal_of(refused: ValidationError) -> Answer:
    """Return the error of an item that its serializer has refused."""
    # For an item that is no object the serializer names no field; as the body of a request it would.
    is_about_fields = isinstance(refused.detail, dict)
    error = refused if is_about_fields else ValidationError({api_settings.NON_FIELD_ERRORS_KEY: refused.detail})
    body = ExceptionFormatter(error, cast("Any", {}), error).run()
    return {"status": error.status_code, **body}


def item_error(error: MemoryHubError) -> Answer:
    """Return the error of an item that the domain has refused."""
    status = status_of(error)
    kind = "validation_error" if status == 400 else "client_error"
    return {"status": status, **problem(kind, error.code, error.detail, error.attr)}
