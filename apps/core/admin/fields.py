"""Form fields of the admin pages of all apps."""

from typing import Any

from django import forms


class LinesField(forms.CharField):
    """A list of words, one per line."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value)).splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or []) != sorted(self.to_python(data))
