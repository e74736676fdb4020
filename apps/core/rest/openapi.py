"""What every operation of the OpenAPI document has in common."""

from typing import Any

from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema

from apps.core.rest.serializers import Problem


class AutoSchema(SpectacularAutoSchema):
    """Adds the error answers that each operation may give (DESIGN D12)."""

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for code in self._error_statuses():
            if code not in bodies:
                bodies[code] = self._get_response_for_code(Problem, code, direction=direction)
        return bodies

    def _error_statuses(self) -> list[str]:
        if not self.view.get_authenticators():
            return []
        statuses = ["400", "401", "403", "503"]
        if self.method in {"POST", "PUT", "PATCH"}:
            statuses.append("415")
        if "{" in self.path:
            statuses.append("404")
        return statuses

    def get_tags(self) -> list[str]:
        """The first part of the path after /api/."""
        return [self.path.split("/")[2]]
