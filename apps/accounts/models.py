"""What an account may see besides the permissions of its role, invitations to make one, and failed sign-ins."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, MAX_OWNERS, Access, Permission, Scope
from apps.core.models import foreign_ties

MAX_LANGUAGE_CHARS, MAX_TIME_ZONE_CHARS = 16, 64


class Account(models.Model):
    """The bound of an account, like that of a key, whose own pages it has, and how pages are shown to it.

    An account without a row here is unbound, and has no pages.
    """

    login = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="account")
    user_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only data of this user."
    )
    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only data of this household."
    )
    persona_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only data of this persona."
    )
    reads = ArrayField(
        models.CharField(max_length=MAX_IDENTIFIER_CHARS),
        blank=True,
        default=list,
        help_text="Users and teams whose memories and events the account can also read.",
    )

    person_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="The user whose own pages this account opens at the hub’s address.",
    )
    language = models.CharField(
        max_length=MAX_LANGUAGE_CHARS,
        blank=True,
        default="",
        help_text="The language of pages; leave blank to use the browser’s language.",
    )
    time_zone = models.CharField(
        max_length=MAX_TIME_ZONE_CHARS,
        blank=True,
        default="",
        help_text="The time zone of the person’s own pages, such as Asia/Taipei; leave blank for UTC.",
    )

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="accounts_account_reads_at_most", condition=models.Q(reads__len__lte=MAX_OWNERS)
            ),
        ]

    def __str__(self) -> str:
        named = self.scope.named().items()
        return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in named) or "everything"

    @property
    def scope(self) -> Scope:
        """Return the bound of the account."""
        return Scope(self.user_id or None, self.household_id or None, self.persona_id or None)

    def access(self, actor: str) -> Access:
        """Return what the account may do on the pages of operators, as a key with its bound. actor: for the records."""
        foreign, origin = foreign_ties(self.user_id), WriteOrigin.PERSON
        reads = tuple(self.reads)
        return Access(self.scope, Permission.WRITE, actor, reads, foreign=foreign, makes_ties=True, origin=origin)

    @property
    def is_bound(self) -> bool:
        """Return whether the account sees only a part of the hub."""
        return self.scope != Scope()


class Invitation(models.Model):
    """A link by which a person makes their account: once, until it expires or is revoked.

    Only the digest of its secret is stored. login: the account, from when the link was taken; without a password or a
    passkey the link still leads to it. household_id: to which the person belongs from then on. accepted_at: when the
    person could first sign in.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    username = models.CharField(max_length=150)
    person_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS)
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    language = models.CharField(max_length=16, blank=True, default="")
    invited_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    login = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # A newer link replaces the one before, also of two made at the same time.
            models.UniqueConstraint(
                Lower("username"), condition=Q(accepted_at=None, revoked_at=None), name="accounts_invitation_open_once"
            ),
        ]

    def __str__(self) -> str:
        return self.username


class FailedSignIns(models.Model):
    """How often signing in to one account failed within an hour; without an account, to names that no account has.

    One row an hour, however many attempts there are, so that an attack cannot fill the table. count: all attempts, also
    those that a limit refused. noticed: how many of them the person was shown.
    """

    login = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="failed_sign_ins"
    )
    hour = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)
    noticed = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    last_address = models.GenericIPAddressField(null=True)

    class Meta:
        verbose_name_plural = "failed sign-ins"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["login", "hour"], condition=models.Q(login__isnull=False), name="accounts_failures_of_account"
            ),
            models.UniqueConstraint(
                fields=["hour"], condition=models.Q(login__isnull=True), name="accounts_failures_of_none"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count} at {self.hour:%Y-%m-%d %H:00}"


class CachedValue(models.Model):
    """The table of the cache that all web processes share (settings.CACHES); Django's cache reads and writes it.

    It holds what limits count, and codes of a second factor that were used already; never a password.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
