"""Serializers that refuse what they do not know, and those of `core`'s own resources."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.scope import PERMISSION_ORDER, Permission, Scope
from apps.core.models import ApiKey
from apps.core.schemas.fields import (
    AwareDateTimeField,
    IdentifierField,
    StrictCharField,
    StrictChoiceField,
    printable,
)


class StrictSerializer(serializers.Serializer[Any]):
    """Input whose fields are all known; the error names the unknown ones."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(map(str, data)) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {printable(name): ["Unknown field."] for name in unknown[:10]}, code="unknown_field"
                )
        return super().to_internal_value(data)


_shared: dict[type[serializers.BaseSerializer[Any]], serializers.BaseSerializer[Any]] = {}


def shared(kind: type[serializers.BaseSerializer[Any]]) -> serializers.BaseSerializer[Any]:
    """Return the one serializer of a kind, for `run_validation`, which keeps no state in it.

    A new one copies every field: that takes longer than checking the input of a request.
    """
    return _shared.get(kind) or _shared.setdefault(kind, kind())


def validate(serializer: type[serializers.BaseSerializer[Any]], data: Any) -> Any:
    """Return the checked input. Raises DRF's ValidationError, which names the fields at fault."""
    if data is not None:
        return shared(serializer).run_validation(data)
    instance = serializer(data=data)  # its error for a missing body needs an instance with data
    instance.is_valid(raise_exception=True)
    return instance.validated_data


class NoInput(StrictSerializer):
    """Nothing: where a call takes no fields, a field is a mistake."""


class ScopeInput(StrictSerializer):
    """The identifiers by which a request narrows what it is about."""

    user_id = IdentifierField(required=False, allow_null=True)
    household_id = IdentifierField(required=False, allow_null=True)
    persona_id = IdentifierField(required=False, allow_null=True)


def scope_of(data: Mapping[str, Any]) -> Scope:
    """Return the scope that validated input names."""
    return Scope(data.get("user_id"), data.get("household_id"), data.get("persona_id"))


_LEVELS = [level.value for level in Permission]


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": _LEVELS},
            {"type": "array", "items": {"type": "string", "enum": _LEVELS}, "minItems": 1, "maxItems": len(_LEVELS)},
        ]
    }
)
class PermissionsField(serializers.ListField):
    """Levels of permission: one as a word, or several in a list."""

    def __init__(self, **kwargs: Any) -> None:
        child = StrictChoiceField(choices=_LEVELS)
        super().__init__(child=child, min_length=1, max_length=len(_LEVELS), **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        return super().to_internal_value([data] if isinstance(data, str) else data)


class KeyInput(ScopeInput):
    """A key to be created."""

    name = StrictCharField(max_length=100)
    permissions = PermissionsField(
        required=False,
        help_text="One level or a list; the highest counts, as each includes the ones before it. Default: write.",
    )
    expires_at = AwareDateTimeField(required=False, allow_null=True)


def highest_permission(permissions: list[str] | None) -> Permission:
    """Return the highest of a list of permissions; write when there is none."""
    if not permissions:
        return Permission.WRITE
    return max((Permission(p) for p in permissions), key=PERMISSION_ORDER.index)


class KeyOutput(serializers.ModelSerializer[ApiKey]):
    """A key, without its secret."""

    id = serializers.UUIDField(source="uuid")
    user_id = serializers.CharField(source="scope.user_id", read_only=True, allow_null=True)
    household_id = serializers.CharField(source="scope.household_id", read_only=True, allow_null=True)
    persona_id = serializers.CharField(source="scope.persona_id", read_only=True, allow_null=True)
    permissions = serializers.SerializerMethodField()

    class Meta:
        model = ApiKey
        fields = [
            "id", "name", "shown", "permissions", "user_id", "household_id", "persona_id",
            "created_at", "created_by", "expires_at", "last_used_at", "revoked_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_permissions(self, key: ApiKey) -> list[str]:
        return [p.value for p in PERMISSION_ORDER[: PERMISSION_ORDER.index(Permission(key.permission)) + 1]]


class KeyCreatedOutput(KeyOutput):
    """A new key with its secret."""

    key = serializers.CharField(read_only=True, help_text="The secret. It is shown this once.")

    class Meta(KeyOutput.Meta):
        fields = [*KeyOutput.Meta.fields, "key"]
        read_only_fields = fields


class KeyListOutput(serializers.Serializer[Any]):
    """All keys."""

    results = KeyOutput(many=True)
    count = serializers.IntegerField()


class ProblemItem(serializers.Serializer[Any]):
    """One thing that is wrong."""

    code = serializers.CharField()
    detail = serializers.CharField()
    attr = serializers.CharField(allow_null=True)
    current = serializers.CharField(required=False, help_text="Of a conflict: the id of what took its place.")


class Problem(serializers.Serializer[Any]):
    """Any error answer."""

    type = serializers.CharField(help_text="validation_error, client_error or server_error")
    errors = ProblemItem(many=True)
