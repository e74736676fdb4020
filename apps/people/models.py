"""What people ask for themselves, erasures and their certificates, and looks of operators at the pages of people."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS
from apps.core.models import PermissionLevel

# Of the name of a key after `key:`.
MAX_ACTOR_CHARS = 220

MAX_REASON_CHARS = 300


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
    drop what they hold in memory. keeps_account: the person signs in as before, and begins again. logins: the accounts
    that are set aside for that, while it is open.
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
    processes = models.PositiveIntegerField(
        default=0, help_text="Web processes that dropped what they had cached in memory."
    )
    keeps_account = models.BooleanField(default=False)
    logins = models.JSONField(default=list, editable=False)

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


class DownloadState(models.TextChoices):
    """How far the ZIP file of a person is. failed: it could not be made, and is not tried again."""

    WAITING = "waiting", "Waiting"
    MAKING = "making", "Making"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


UNFINISHED = (DownloadState.WAITING, DownloadState.MAKING)


class Download(models.Model):
    """A ZIP file of everything that the hub keeps of a person, whom it is made for. Written by `people.downloads`.

    language, time_zone: of the readable part. until: when the file is removed. tries: how often making it has begun.
    lines: how many things are in it. size: of the file in bytes.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, unique=True)
    state = models.CharField(max_length=10, choices=DownloadState.choices, default=DownloadState.WAITING)
    language = models.CharField(max_length=20)
    time_zone = models.CharField(max_length=64)
    requested_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    lines = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.uuid)


class PlannedErasure(models.Model):
    """What a person has asked for themselves: that everything is forgotten at `due_at`. Until then it is taken back.

    uuid: of the erasure that will be, whose receipt the person finds by it. pause_before: the pause of saving that was,
    which comes back with taking it back; null for none.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, unique=True)
    requested_at = models.DateTimeField()
    due_at = models.DateTimeField()
    keeps_account = models.BooleanField()
    pause_before = models.JSONField(null=True)

    def __str__(self) -> str:
        return str(self.uuid)


class Look(models.Model):
    """A while in which an account of the admin sees the pages of a person, for a reason that the person reads.

    Written by `people.looking`. Each page that is shown is an entry of the audit.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    login = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=MAX_REASON_CHARS)
    began_at = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Those at one person, when that person is forgotten.
            models.Index(name="people_look_user", fields=["user_id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


class ForgettingState(models.TextChoices):
    """How far the forgetting of what a key learnt is, or its undoing."""

    WAITING = "waiting", "Waiting"
    FORGETTING = "forgetting", "Forgetting"
    FORGOTTEN = "forgotten", "Forgotten"
    RESTORING = "restoring", "Restoring"
    RESTORED = "restored", "Restored"


class AppForgetting(models.Model):
    """The forgetting of all that a key learnt of a person. Written by `apps.people.learnt` only.

    actors: under which histories have what it wrote. until: what it learnt later is not meant. memories_found: how many
    it will forget. forgotten: memories that are forgotten. events: removed for good. kept: memories that others
    confirmed since, or a source manages. restored, left: memories that the undoing brought back, and those that it
    could not. problem: a word for what went wrong.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    key = models.UUIDField()
    key_name = models.CharField(max_length=100)
    actors = ArrayField(models.CharField(max_length=MAX_ACTOR_CHARS))
    state = models.CharField(max_length=10, choices=ForgettingState.choices, default=ForgettingState.WAITING)
    requested_at = models.DateTimeField()
    until = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    memories_found = models.PositiveIntegerField(default=0)
    forgotten = ArrayField(models.UUIDField(), default=list)
    events = models.PositiveIntegerField(default=0)
    kept = models.PositiveIntegerField(default=0)
    restored = models.PositiveIntegerField(default=0)
    left = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=50, blank=True, default="")

    class Meta:
        verbose_name = "forgetting of what a key learnt"
        verbose_name_plural = "forgettings of what keys learnt"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two clicks are one.
            models.UniqueConstraint(
                name="people_appforgetting_one_open",
                fields=["user_id", "key"],
                condition=Q(state__in=["waiting", "forgetting", "restoring"]),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(name="people_appforgetting_user", fields=["user_id", "-id"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)

    @property
    def is_open(self) -> bool:
        """Return whether it goes on."""
        return self.state in OPEN_FORGETTINGS


OPEN_FORGETTINGS = (ForgettingState.WAITING, ForgettingState.FORGETTING, ForgettingState.RESTORING)


class ConnectionState(models.TextChoices):
    """What a person said to an app that asks for a key, and whether it fetched it."""

    WAITING = "waiting", "Waiting"
    CONFIRMED = "confirmed", "Confirmed"
    REFUSED = "refused", "Refused"
    FETCHED = "fetched", "Fetched"


class ConnectionRequest(models.Model):
    """An app that asks for a key by a code, as in RFC 8628. Written by `apps.people.connecting` only; lasts minutes.

    Codes are kept as digests, and of the address those of its networks (`connecting.flow`). user_id: who confirmed
    it, until the app has fetched its key.
    """

    uuid = models.UUIDField("id", default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100)
    permission = models.CharField(max_length=10, choices=PermissionLevel.choices)
    device_digest = models.CharField(max_length=64, unique=True)
    user_digest = models.CharField(max_length=64, unique=True)
    address_digest = models.CharField(max_length=64)
    block_digest = models.CharField(max_length=64, default="")
    state = models.CharField(max_length=10, choices=ConnectionState.choices, default=ConnectionState.WAITING)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    interval = models.PositiveSmallIntegerField(help_text="Seconds between two requests by the app.")
    asked_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A key is made for whom it was confirmed by, and by nothing else is a person named here.
            models.CheckConstraint(
                name="people_connection_of_person",
                condition=(Q(state="confirmed") & ~Q(user_id="")) | (~Q(state="confirmed") & Q(user_id="")),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # How many one address asked for lately, and which are over.
            models.Index(name="people_connection_address", fields=["address_digest", "created_at"]),
            models.Index(name="people_connection_end", fields=["expires_at"]),
        ]

    def __str__(self) -> str:
        return str(self.uuid)
