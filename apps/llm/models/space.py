"""Embedding spaces: which model's vectors are stored, and which are in use."""

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from apps.llm.domain.embedder import EmbeddingSpaceId


class EmbeddingSpace(models.Model):
    """A model whose vectors are, or were, stored. Every stored vector belongs to one.

    Vectors of different spaces must never be compared. Searches use the active one; `services` change
    which one that is, and only after all memories have a vector in it.
    """

    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    is_active = models.BooleanField("active", default=False)
    created_at = models.DateTimeField()
    activated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-is_active", "-created_at", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Vectors of one model must not be split over two spaces.
            models.UniqueConstraint(fields=["model", "dimension"], name="llm_space_model_dimension"),
            # A search asks in exactly one space.
            models.UniqueConstraint(fields=["is_active"], condition=Q(is_active=True), name="llm_space_one_active"),
            models.CheckConstraint(condition=Q(dimension__gt=0), name="llm_space_dimension_positive"),
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(activated_at__isnull=False), name="llm_space_active_since"
            ),
        ]

    def __str__(self) -> str:
        return str(self.space_id)

    @property
    def space_id(self) -> EmbeddingSpaceId:
        """Return the name of this space, as embedders have it."""
        return EmbeddingSpaceId(self.model, self.dimension)
