"""Filters over the items of the store."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db.models import F, Func, Q, TextField

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.store.domain.operations import ANY_LABEL, Condition

if TYPE_CHECKING:
    from apps.store.models import StoreItem  # noqa: F401


class StoreItemQuerySet(ScopedQuerySet["StoreItem"]):
    """Items. Each belongs to one owner: a user, with or without a household and a persona."""

    def of(self, owner: Scope) -> Self:
        """Return the items of exactly this owner, not those of the user with another household or persona."""
        return self.filter(**{name: getattr(owner, name) or "" for name in IDENTIFIERS})

    def lasting(self, now: datetime) -> Self:
        """Return the items that have not expired."""
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))

    def below(self, namespace: tuple[str, ...]) -> Self:
        """Return the items in a namespace, and in those that begin with it."""
        return self.filter(**{f"namespace__0_{len(namespace)}": list(namespace)}) if namespace else self

    def matching(self, condition: Condition) -> Self:
        """Return the items whose namespaces begin or end with some labels, of which ANY_LABEL is any."""
        count, rows = len(condition.path), self.filter(namespace__len__gte=len(condition.path))
        for place, label in enumerate(condition.path):
            if label == ANY_LABEL:
                continue
            if condition.is_prefix:
                rows = rows.filter(**{f"namespace__{place}": label})
            else:
                at = f"(%(expressions)s)[cardinality(%(expressions)s) - {count - 1 - place}]"
                one = Func(F("namespace"), template=at, output_field=TextField())
                rows = rows.alias(**{f"label_{place}": one}).filter(**{f"label_{place}": label})
        return rows
