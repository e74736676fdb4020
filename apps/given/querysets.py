from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.db.scoped import ScopedQuerySet

if TYPE_CHECKING:
    from apps.given.models import GivenAnswer  # noqa: F401


class GivenAnswerQuerySet(ScopedQuerySet["GivenAnswer"]):
    """Filters over what keys received."""
