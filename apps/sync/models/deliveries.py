"""Deliveries of webhooks that started a sync."""

from typing import ClassVar

from django.db import models

from apps.sync.models.sources import KnowledgeSource


class WebhookDelivery(models.Model):
    """A delivery that started a sync, so that whoever has recorded it starts no other one with it.

    Written by `sync.triggers.webhook`, kept for a month. digest: SHA-256 of what is signed, nothing of which is stored.
    """

    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, related_name="deliveries")
    digest = models.CharField(max_length=64)
    received_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Of the same delivery sent at once, in whatever processes, one starts a sync.
            models.UniqueConstraint(name="sync_delivery_once", fields=["source", "digest"]),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Those that are over.
            models.Index(name="sync_delivery_received", fields=["received_at"]),
        ]

    def __str__(self) -> str:
        return self.digest[:12]
