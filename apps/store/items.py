"""The items of one owner: written, read, searched and listed, in the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, FloatField, Func, TextField, Value
from django.db.models.expressions import RawSQL
from pgvector import Vector

from apps.core.db.filters import condition
from apps.core.domain.scope import IDENTIFIERS, Scope
from apps.llm.domain.embedder import Vectors
from apps.llm.selectors import EmbeddingSpace
from apps.store.domain.operations import Get, ListNamespaces, Namespace, Put, Search
from apps.store.models import StoreItem, digest_of
from apps.store.querysets import StoreItemQuerySet

# Any number that no other lock of the database has.
OWNER_LOCK, OWNERS_SHARE = 0x73746F72, 64
REPLACED = ("value", "texts", "updated_at", "ttl_minutes", "expires_at", "space", "vectors")
# Between 0 and 2; none without vectors of the space, and none where there is no direction.
DISTANCE = (
    "CASE WHEN space_id = %s THEN (SELECT NULLIF(min(one <=> %s::vector), 'NaN') FROM unnest(vectors) AS one) END"
)


@dataclass(frozen=True)
class Embedded:
    """The vectors of what operations hold: of texts to be found by, and of queries, in one space."""

    space: EmbeddingSpace | None = None
    texts: Mapping[str, Vectors] = field(default_factory=dict)
    queries: Mapping[str, Vectors] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnItems:
    """The items of an owner at a moment. may_refresh: reads may let items last longer."""

    owner: Scope
    now: datetime
    embedded: Embedded
    may_refresh: bool

    def rows(self) -> StoreItemQuerySet:
        """Return the items that there are, without what only searches by meaning need."""
        return StoreItem.objects.of(self.owner).lasting(self.now).defer("texts", "vectors")

    def put(self, puts: Iterable[Put]) -> None:
        """Keep or remove values; of several for one key the last counts."""
        last = {digest_of(self.owner, one.namespace, one.key): one for one in puts}
        with connection.cursor() as cursor:
            # Two that write the same keys in another order would wait for each other.
            name = " ".join(getattr(self.owner, each) or "" for each in IDENTIFIERS)
            cursor.execute(
                "SELECT pg_advisory_xact_lock(%s, abs(hashtext(%s) %% %s))", [OWNER_LOCK, name, OWNERS_SHARE]
            )
        gone = [digest for digest, one in last.items() if one.value is None]
        StoreItem.objects.filter(digest__in=gone).delete()
        kept = {digest: self.row(digest, one) for digest, one in last.items() if one.value is not None}
        # What has expired is not replaced: it is gone, and the value is a new one.
        StoreItem.objects.filter(digest__in=kept, expires_at__lte=self.now).delete()
        StoreItem.objects.bulk_create(
            kept.values(), update_conflicts=True, unique_fields=["digest"], update_fields=REPLACED
        )

    def row(self, digest: bytes, put: Put) -> StoreItem:
        """Return the row of a value."""
        return StoreItem(
            digest=digest,
            **{name: getattr(self.owner, name) or "" for name in IDENTIFIERS},
            namespace=list(put.namespace),
            key=put.key,
            value=put.value,
            texts=list(put.texts),
            created_at=self.now,
            updated_at=self.now,
            ttl_minutes=put.ttl,
            expires_at=None if put.ttl is None else self.now + timedelta(minutes=put.ttl),
            space=self.embedded.space if put.texts else None,
            vectors=[self.embedded.texts[text] for text in put.texts],
        )

    def get(self, gets: Sequence[Get]) -> list[StoreItem | None]:
        """Return the item of each, None where there is none."""
        digests = [digest_of(self.owner, one.namespace, one.key) for one in gets]
        found = {bytes(row.digest): row for row in self.rows().filter(digest__in=digests)}
        asked = zip(digests, gets, strict=True)
        self.refresh(found[digest] for digest, one in asked if one.is_refreshing and digest in found)
        return [found.get(digest) for digest in digests]

    def search(self, search: Search) -> list[tuple[StoreItem, float | None]]:
        """Return what is found, with how near its nearest text is to the query, 1 at the nearest.

        What is to be found otherwise than by meaning comes last, without such a score.
        """
        rows = self.rows().below(search.namespace).filter(condition(search.where, {"value": "value"}))
        order: tuple[Any, ...] = ("-updated_at", "-pk")
        if search.query:
            assert self.embedded.space is not None
            vector = Vector(self.embedded.queries[search.query]).to_text()
            # The statement is constant, and what it compares are parameters.
            distance = RawSQL(DISTANCE, [self.embedded.space.pk, vector], FloatField())  # noqa: S611
            rows = rows.annotate(distance=distance)
            order = (F("distance").asc(nulls_last=True), *order)
        found = list(rows.order_by(*order)[search.offset : search.offset + search.limit])
        if search.is_refreshing:
            self.refresh(found)
        distances = [getattr(row, "distance", None) for row in found]
        return [(row, None if away is None else 1.0 - away) for row, away in zip(found, distances, strict=True)]

    def namespaces(self, asked: ListNamespaces) -> list[Namespace]:
        """Return the namespaces that are asked for, each once, by the code points of their labels."""
        rows = self.rows()
        for one in asked.conditions:
            rows = rows.matching(one)
        cut = "" if asked.max_depth is None else f"[1:{asked.max_depth}]"
        shown = Func(F("namespace"), template=f'((%(expressions)s){cut} COLLATE "C")', output_field=TextField())
        found = rows.annotate(shown=shown).order_by("shown").values_list("shown", flat=True).distinct()
        return [tuple(each) for each in found[asked.offset : asked.offset + asked.limit]]

    def refresh(self, rows: Iterable[StoreItem]) -> None:
        """Let items last as long again as when they were written. One that is being written now is left to that."""
        keys = [row.pk for row in rows if row.ttl_minutes is not None]
        if not keys or not self.may_refresh:
            return
        free = StoreItem.objects.filter(pk__in=keys).select_for_update(skip_locked=True).values_list("pk", flat=True)
        minutes = ExpressionWrapper(F("ttl_minutes") * timedelta(minutes=1), DurationField())
        until = ExpressionWrapper(Value(self.now) + minutes, DateTimeField())
        StoreItem.objects.filter(pk__in=list(free)).update(expires_at=until)
