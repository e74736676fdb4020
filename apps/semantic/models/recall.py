"""Checks of how many of the nearest memories the graph of a large index finds."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS


class RecallCheck(models.Model):
    """One comparison of graph and exact search for a user. recall: 0 to 1, None where `problem` says why not.

    queries: how many stored vectors were asked. exact_ms, graph_ms: medians of one search for neighbours.
    """

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    at = models.DateTimeField()
    memories = models.PositiveIntegerField()
    queries = models.PositiveSmallIntegerField(default=0)
    recall = models.FloatField(null=True)
    exact_ms = models.FloatField(null=True)
    graph_ms = models.FloatField(null=True)
    problem = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # The last ones of a user, for the page of the index.
            models.Index(fields=["user_id", "-at"], name="semantic_recall_of_user"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="semantic_recall_is_a_share", condition=Q(recall=None) | Q(recall__gte=0, recall__lte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}: {self.recall}"
