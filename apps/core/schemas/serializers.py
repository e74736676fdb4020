"""Serializers that refuse what they do not know, and that of errors."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers

from apps.core.domain.scope import Scope
from apps.core.schemas.fields import IdentifierField, printable


class StrictSerializer(serializers.Serializer[Any]):
    """Input whose fields are all known; the error names the unknown ones.

    aliases: other names of fields, as a specification or a tool has them; documented is the field's own.
    """

    aliases: ClassVar[Mapping[str, str]] = {}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            data = renamed(data, self.aliases)
            unknown = sorted(set(map(str, data)) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {printable(name): ["Unknown field."] for name in unknown[:10]}, code="unknown_field"
                )
        return super().to_internal_value(data)


def renamed(data: Mapping[str, Any], aliases: Mapping[str, str]) -> Mapping[str, Any]:
    """Return input with the own names of its fields. Raises DRF's ValidationError where two of one field differ."""
    used = [alias for alias in aliases if alias in data]
    if not used:
        return data
    named = {name: value for name, value in data.items() if name not in used}
    for alias in used:
        name = aliases[alias]
        if name in named and named[name] != data[alias]:
            text = f"Send either {name} or {alias} (they mean the same), or the same value for both."
            raise serializers.ValidationError({printable(alias): [text]}, code="contradiction")
        named[name] = data[alias]
    return named


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


class ProblemItem(serializers.Serializer[Any]):
    """One thing that is wrong."""

    code = serializers.CharField()
    detail = serializers.CharField()
    attr = serializers.CharField(allow_null=True)
    current = serializers.CharField(required=False, help_text="For a conflict: the id of what has taken its place.")
    retryable = serializers.BooleanField(required=False, help_text="true if the same call may succeed later.")


class Problem(serializers.Serializer[Any]):
    """Any error answer."""

    type = serializers.CharField(help_text="validation_error, client_error or server_error")
    errors = ProblemItem(many=True)
