"""Erasures: the removal of everything that the hub has of a user, and the certificates of it."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS


class ErasureQuerySet(ScopedQuerySet["Erasure"]):
    """Erasures; for operators only, whose keys have no bound."""


class ErasureState(models.TextChoices):
    """How far an erasure is. refused: it did not begin, and `problems` says why."""

    WAITING = "waiting", "Waiting"
    REMOVING = "removing", "Removing"
    REFUSED = "refused", "Refused"
    FINISHED = "finished", "Finished"


OPEN_STATES = (ErasureState.WAITING, ErasureState.REMOVING)


class Erasure(models.Model):
    """The removal of everything that the hub has of a user.

    Written by `apps.people.erasure` only. user_id: only while it is open; afterwards nothing but `digest` is left of
    it, a keyed hash. found: how much each store held when it began. removed: how much of it is gone. problems: why it
    does not begin or cannot go on, without any content. emptied_at: when the stores were empty, so that processes
    drop what they hold in memory.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=ErasureState.choices, default=ErasureState.WAITING)
    requested_by = models.CharField(max_length=200)
    requested_at = models.DateTimeField()
    began_at = models.DateTimeField(null=True)
    emptied_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    found = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    processes = models.PositiveIntegerField(default=0, help_text="Web processes that dropped what they held in memory.")

    objects = ErasureQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One at a time for each user, also when two operators ask for it at once.
            models.UniqueConstraint(
                name="people_erasure_one_open", fields=["user_id"], condition=Q(state__in=["waiting", "removing"])
            ),
            # The id of a forgotten user must not stay in the record of the forgetting.
            models.CheckConstraint(
                name="people_erasure_forgets_id", condition=Q(state__in=["waiting", "removing"]) | Q(user_id="")
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # The certificates of one user.
            models.Index(name="people_erasure_digest", fields=["digest"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def is_open(self) -> bool:
        """Return whether it goes on."""
        return self.state in OPEN_STATES
