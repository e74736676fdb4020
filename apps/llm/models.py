"""Embedding spaces: which model made the stored vectors."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class EmbeddingSpace(models.Model):
    """A model and a dimension: vectors of one space can be compared with each other, and with no others.

    One space is active: searches use its vectors, and writers make vectors for it. It changes only when
    `manage.py reembed` has made a vector in the new space for every memory.
    """

    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    is_active = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    activated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(name="llm_space_model_dimension", fields=["model", "dimension"]),
            # Two processes that prepare a new hub at once agree on one space.
            models.UniqueConstraint(name="llm_space_one_active", fields=["is_active"], condition=Q(is_active=True)),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension})"
