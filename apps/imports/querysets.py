"""Filters over imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.db.scoped import ScopedQuerySet

if TYPE_CHECKING:
    from apps.imports.models import Import  # noqa: F401


class ImportQuerySet(ScopedQuerySet["Import"]):
    """Imports. Each belongs to a person as a whole."""
