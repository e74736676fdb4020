"""Who looks at what in the cockpit, so that two people do not work on the same, and the first steps of a hub."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class Presence(models.Model):
    """The decision that an account looks at. It is true for some seconds only.

    The table is unlogged: a glance costs no write-ahead log, and after a crash of the database none is true. receipt:
    the key of the decision, which may be gone by now.
    """

    login = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    receipt = models.BigIntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "presence"
        verbose_name_plural = "presences"

    def __str__(self) -> str:
        return f"{self.login} at {self.receipt}"


class FirstSteps(models.Model):
    """How far the owner of a hub has come with it: one row, made when the first page is first seen without a memory.

    A hub without the row was in use before there were first steps. dismissed_at: from then on they are not shown.
    sample_run: the run that brings in or removes the sample household (`core.jobs`), and is_removal which of the two.
    """

    searched_at = models.DateTimeField(null=True)
    dismissed_at = models.DateTimeField(null=True)
    sample_run = models.UUIDField(null=True)
    is_removal = models.BooleanField(default=False)

    class Meta:
        verbose_name = "first steps"
        verbose_name_plural = "first steps"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="cockpit_firststeps_one", condition=models.Q(pk=1)),
        ]

    def __str__(self) -> str:
        return "over" if self.dismissed_at else "open"
