"""What every operation of the OpenAPI document has in common."""

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema
from rest_framework import serializers

from apps.core.schemas.fields import VISIBLE, StrictCharField, VisibleTextField
from apps.core.schemas.serializers import Problem, StrictSerializer

NO_NUL = r"[^\u0000]"


class AutoSchema(SpectacularAutoSchema):
    """Adds the error answers that each operation may give (DESIGN D12), and how strict its input is."""

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        is_strict = isinstance(serializer, StrictSerializer) or (
            isinstance(serializer, type) and issubclass(serializer, StrictSerializer)
        )
        return {**schema, "additionalProperties": False} if is_strict else schema

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        return {**schema, "pattern": text_pattern(field)} if isinstance(field, StrictCharField) else schema

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for code in self._error_statuses():
            if code not in bodies:
                bodies[code] = self._get_response_for_code(Problem, code, direction=direction)  # type: ignore[no-untyped-call]
        return bodies

    def _error_statuses(self) -> list[str]:
        if not self.view.get_authenticators():
            return []
        statuses = ["400", "401", "403", "503"]
        if self.method in {"POST", "PUT", "PATCH"}:
            statuses += ["413", "415"]
        if "{" in self.path:
            statuses.append("404")
        return statuses

    def get_tags(self) -> list[str]:
        """The first part of the path after /api/."""
        return [self.path.split("/")[2]]


def text_pattern(field: serializers.CharField) -> str:
    """What a text must look like, as a regular expression of JSON Schema."""
    if field.allow_blank:
        return f"^{NO_NUL}*$"
    seen = VISIBLE if isinstance(field, VisibleTextField) else r"[^\s\u0000]"
    return f"^{NO_NUL}*{seen}{NO_NUL}*$"
