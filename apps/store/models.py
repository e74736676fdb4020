"""Values that applications keep by namespace and key."""

import hashlib
import json
import re
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import VectorField

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.llm.selectors import EmbeddingSpace
from apps.store.domain.operations import MAX_KEY_CHARS, MAX_LABEL_CHARS
from apps.store.querysets import StoreItemQuerySet


def digest_of(owner: Scope, namespace: tuple[str, ...], key: str) -> bytes:
    """Return what is the same for the same owner, namespace and key alone. owner: with blanks or None for no value."""
    names = [owner.user_id, owner.household_id or "", owner.persona_id or ""]
    return hashlib.sha256(json.dumps([names, list(namespace), key]).encode()).digest()


class VectorsField(ArrayField):
    """Vectors. A connection that knows the type of one does not know that of several, and reads them as a text."""

    def _from_db_value(self, value: Any, expression: Any, connection: Any) -> list[list[float]]:
        found = re.findall(r"\[[^]]*]", value) if isinstance(value, str) else value
        vectors: list[list[float]] = super()._from_db_value(found, expression, connection)  # type: ignore[misc]
        return vectors


class StoreItem(models.Model):
    """A value, which the next one of its owner, namespace and key replaces: no rule compares it with others.

    Written by `services` only. One that has expired counts as gone; the next clearing removes the row.
    """

    # Namespaces and keys are too long for an index.
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    namespace = ArrayField(models.CharField(max_length=MAX_LABEL_CHARS))
    key = models.CharField("key of the item", max_length=MAX_KEY_CHARS)
    value = models.JSONField()
    texts = ArrayField(models.TextField(), default=list, help_text="By which a search by meaning finds it.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ttl_minutes = models.FloatField(null=True, help_text="How long it lasts after a write or a refreshing read.")
    expires_at = models.DateTimeField(null=True)
    space = models.ForeignKey(EmbeddingSpace, null=True, on_delete=models.SET_NULL)
    vectors = VectorsField(VectorField(), default=list, help_text="Of the texts, in the embedding space.")

    objects = StoreItemQuerySet.as_manager()

    class Meta:
        verbose_name = "store item"
        indexes: ClassVar[list[models.Index]] = [
            # A search without a query answers the latest of an owner.
            models.Index(fields=["user_id", "household_id", "persona_id", "-updated_at"], name="store_item_latest"),
            models.Index(fields=["expires_at"], name="store_item_expiry", condition=models.Q(expires_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.pk} of {self.user_id}"
