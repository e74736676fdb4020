"""Inputs and outputs of API keys."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.domain.errors import ContradictionError
from apps.core.domain.keys import DEFAULT_OVERLAP, MAX_NAME_CHARS, MAX_OVERLAP, MISSING_BOUND
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import PERMISSION_ORDER, Permission
from apps.core.models import ApiKey
from apps.core.schemas.fields import (
    AwareDateTimeField,
    OwnersField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from apps.core.schemas.origins import NAMES, OriginField
from apps.core.schemas.serializers import ScopeInput, StrictSerializer, scope_of

READS = "Users and teams whose memories and events the key may also read, but not write."
ORIGIN = (
    "Where its writes come from: person, app, document or derived. A write may name a lower origin, never a higher one."
)
STOPPED = "Users who stopped this key: it neither reads nor writes what is theirs, until they let it in again."

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
    """A key to be created: for whom, or for everyone's memories, which must be said."""

    name = StrictCharField(max_length=MAX_NAME_CHARS)
    permissions = PermissionsField(
        required=False,
        help_text="One level or a list of levels; the highest counts, because each includes the lower ones."
        " Default: write.",
    )
    expires_at = AwareDateTimeField(required=False, allow_null=True)
    unbound = StrictBooleanField(
        required=False,
        help_text="True for a key that reaches everyone's memories; required when no user, household or "
        "persona is named, except for an operator key, which never has a bound.",
    )
    reads = OwnersField(help_text=READS)
    origin = OriginField(default=WriteOrigin.APP, help_text=ORIGIN)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_bound = bool(scope_of(attrs).named())
        is_operator = highest_permission(attrs.get("permissions")) is Permission.OPERATOR
        if not is_bound and not attrs.get("unbound", is_operator):
            raise serializers.ValidationError({"unbound": [MISSING_BOUND]}, code="required")
        if is_bound and attrs.get("unbound"):
            raise ContradictionError(
                "The key has a bound, and `unbound` says that it has none. Send one of the two.", attr="unbound"
            )
        return attrs


class KeyChanges(StrictSerializer):
    """What may change of a key. Its permission and bound stay; for others make another key."""

    name = StrictCharField(required=False, max_length=MAX_NAME_CHARS)
    expires_at = AwareDateTimeField(required=False, allow_null=True, help_text="null: the key does not expire.")
    reads = OwnersField(help_text=f"{READS} The list replaces the one before.")
    origin = OriginField(help_text=f"{ORIGIN} What it wrote before keeps its own.")


class RotationInput(StrictSerializer):
    """How the secret of a key is replaced."""

    overlap_seconds = StrictIntegerField(
        required=False,
        default=int(DEFAULT_OVERLAP.total_seconds()),
        min_value=0,
        max_value=int(MAX_OVERLAP.total_seconds()),
        help_text="How long the current secret keeps working beside the new one; 0: it stops at once.",
    )


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
    reads = serializers.ListField(child=serializers.CharField(), read_only=True, help_text=READS)
    origin = serializers.ChoiceField(choices=NAMES, read_only=True, help_text=ORIGIN)
    stopped_by = serializers.ListField(child=serializers.CharField(), read_only=True, help_text=STOPPED)

    class Meta:
        model = ApiKey
        fields = [
            "id", "name", "shown", "permissions", "user_id", "household_id", "persona_id", "origin", "reads",
            "stopped_by", "created_at", "created_by", "expires_at", "last_used_at", "revoked_at", "rotated_at",
            "previous_until",
        ]  # fmt: skip
        read_only_fields = fields
        extra_kwargs = {
            "previous_until": {"help_text": "Until when the secret before the last rotation works; null: not at all."}
        }

    def get_permissions(self, key: ApiKey) -> list[str]:
        return [p.value for p in PERMISSION_ORDER[: PERMISSION_ORDER.index(Permission(key.permission)) + 1]]


class KeyCreatedOutput(KeyOutput):
    """A key with its new secret."""

    key = serializers.CharField(read_only=True, help_text="The secret. It is shown only once.")

    class Meta(KeyOutput.Meta):
        fields = [*KeyOutput.Meta.fields, "key"]
        read_only_fields = fields


class KeyListOutput(serializers.Serializer[Any]):
    """All keys."""

    results = KeyOutput(many=True)
    count = serializers.IntegerField()
