"""Which applications got a memory as an answer."""

from typing import ClassVar

from django.db import models

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.semantic.models.memory import Memory


class MemoryUse(models.Model):
    """How often a key got a memory as an answer to a search, and when the last time was. Written by `uses.record`.

    One row a memory and key, which is deleted when it was not used for long. memory: without a constraint, so that a
    memory is removed without waiting for a statistic. app: the name of the key.
    """

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="uses", db_constraint=False)
    app = models.CharField(max_length=200)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        verbose_name = "use of a memory"
        verbose_name_plural = "uses of memories"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="semantic_memoryuse_once", fields=["memory", "app"]),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Those of one person, for exports and forgetting.
            models.Index(name="semantic_memoryuse_user", fields=["user_id"]),
            # Those that are old.
            models.Index(name="semantic_memoryuse_last", fields=["last_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.count} times"
