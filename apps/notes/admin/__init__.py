"""Pages of the admin."""

from apps.notes.admin import versions

__all__ = ["versions"]
