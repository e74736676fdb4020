"""API keys, who belongs where, and the processes of the hub."""

import uuid
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.core.db.origins import origin_field
from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, MAX_OWNERS, Access, Permission, Scope

# The actor of a person's own pages begins so; those of keys begin with `key:`.
PERSON_ACTOR = "person:"
# Of what one import of files of other programs wrote: before its id.
IMPORT_ACTOR = "import:"
MAX_RESOURCE_CHARS = 1_000


class PermissionLevel(models.TextChoices):
    """The levels of `apps.core.domain.scope.Permission`, for forms and columns."""

    READ = Permission.READ, "Read"
    WRITE = Permission.WRITE, "Read and write"
    OPERATOR = Permission.OPERATOR, "Operator"


class ApiKey(models.Model):
    """A key with which an application uses the API.

    Only the digest of the secret is stored; the secret is shown once, when the key is created or rotated. After a
    rotation the previous secret works too, until `previous_until`. A key is revoked, never deleted, so that the
    records of what it did keep their author. former_names: under which they keep it as well.

    The key of an app that signed in (`apps.oauth`) opens `resource` alone, with what is below it. Its secret is an
    access token: it ends at `secret_until`, and the app fetches the next.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100, help_text="What uses this key, for example the name of an assistant.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    shown = models.CharField("begins with", max_length=16, editable=False)
    previous_digest = models.CharField(max_length=64, null=True, unique=True, editable=False)
    previous_until = models.DateTimeField("previous secret until", null=True, editable=False)
    rotated_at = models.DateTimeField(null=True, editable=False)
    permission = models.CharField(
        max_length=10,
        choices=PermissionLevel.choices,
        default=PermissionLevel.WRITE,
        help_text="Each level includes the ones before it.",
    )
    user_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only memories of this user."
    )
    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only memories of this household."
    )
    persona_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only memories of this persona."
    )
    origin = origin_field("Whom its writes come from. A less trusted origin never replaces a more trusted one.")
    reads = ArrayField(
        models.CharField(max_length=MAX_IDENTIFIER_CHARS),
        blank=True,
        default=list,
        help_text="Users and teams whose memories and events the key may also read, but not write.",
    )
    stopped_by = ArrayField(
        models.CharField(max_length=MAX_IDENTIFIER_CHARS),
        blank=True,
        default=list,
        editable=False,
        help_text="Users who stopped this key from reaching their data.",
    )
    former_names = ArrayField(models.CharField(max_length=100), blank=True, default=list, editable=False)
    resource = models.CharField(max_length=MAX_RESOURCE_CHARS, blank=True, default="", editable=False)
    secret_until = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(editable=False)
    created_by = models.CharField(max_length=200, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Leave empty for a key that never expires.")
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        verbose_name_plural = "API keys"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="core_apikey_operator_unbound",
                condition=~Q(permission="operator") | Q(user_id="", household_id="", persona_id=""),
                violation_error_message="An operator key is bound to nothing.",
            ),
            models.CheckConstraint(
                name="core_apikey_reads_of_bound_key",
                condition=Q(reads=[]) | ~Q(user_id="", household_id="", persona_id=""),
                violation_error_message="A key without a bound reads everything already.",
            ),
            models.CheckConstraint(name="core_apikey_reads_at_most", condition=Q(reads__len__lte=MAX_OWNERS)),
            models.CheckConstraint(
                name="core_apikey_previous_secret_ends",
                condition=Q(previous_digest=None, previous_until=None)
                | Q(previous_digest__isnull=False, previous_until__isnull=False),
            ),
            # A token has an end and one place, and is of one person.
            models.CheckConstraint(
                name="core_apikey_token_of_person",
                condition=Q(resource="", secret_until=None)
                | (~Q(resource="") & Q(secret_until__isnull=False) & ~Q(user_id="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"

    @property
    def scope(self) -> Scope:
        """Return the bound of the key."""
        return Scope(self.user_id or None, self.household_id or None, self.persona_id or None)

    @cached_property
    def foreign(self) -> tuple[Scope, ...]:
        """Return what `Access.foreign` is for the key; `key_verify` reads it in the statement that reads the key."""
        return foreign_ties(self.user_id)

    @property
    def is_connected(self) -> bool:
        """Return whether a person connected it, so that it stays an application's (`/api/connect`)."""
        return self.created_by.startswith(PERSON_ACTOR)

    @property
    def access(self) -> Access:
        """Return what the holder of the key may do: nothing with those who stopped it."""
        return Access(
            replace(self.scope, without=tuple(sorted(self.stopped_by))),
            Permission(self.permission),
            f"key:{self.name}",
            tuple(self.reads),
            foreign=self.foreign,
            makes_ties=True,
            origin=WriteOrigin(self.origin),
        )


class MembershipState(models.TextChoices):
    """Whether a user belongs to a household or persona, or only has something there that was written in its name."""

    MEMBER = "member", _("Member")
    FOREIGN = "foreign", _("Foreign writes")


class Membership(models.Model):
    """That a user belongs to one household, or to one persona (DESIGN D24).

    `core.db.memberships` alone writes it: an operator makes it, a key without a bound or one that is bound to the
    household, or an invitation; never a key that is bound to a user. made_by: the actor who said so. What is foreign
    (see MembershipState) is left out of every read of the household or persona.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, help_text="The person.")
    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="The household that they belong to; empty for a persona.",
    )
    persona_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS,
        blank=True,
        default="",
        help_text="The persona that speaks with them; empty for a household.",
    )
    state = models.CharField(max_length=10, choices=MembershipState.choices, default=MembershipState.MEMBER)
    made_by = models.CharField(max_length=200, editable=False)
    made_at = models.DateTimeField(editable=False)

    objects: ClassVar[ScopedQuerySet["Membership"]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "membership"
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two writers that say the same at once leave one row; also the index by which a user's ties are found.
            models.UniqueConstraint(fields=["user_id", "household_id", "persona_id"], name="core_membership_once"),
            models.CheckConstraint(
                name="core_membership_of_one",
                condition=Q(household_id="", persona_id__gt="") | Q(household_id__gt="", persona_id=""),
                violation_error_message="Name either a household or a persona.",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Read with every key; there are few.
            models.Index(fields=["user_id"], condition=Q(state="foreign"), name="core_membership_foreign"),
            # The members of a household.
            models.Index(fields=["household_id"], condition=Q(household_id__gt=""), name="core_membership_household"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.household_id or self.persona_id}"

    @property
    def tie(self) -> Scope:
        """Return the user with the one household or persona."""
        return tie_of(self.user_id, self.household_id, self.persona_id)


class DisplayName(models.Model):
    """What pages call a household or a persona, as operators say. No person's data, and nothing is found by it."""

    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="The household; empty for a persona."
    )
    persona_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="The persona; empty for a household."
    )
    name = models.CharField(max_length=80, help_text="What pages call it; its id is shown beside this name.")
    named_by = models.CharField(max_length=200, editable=False)
    named_at = models.DateTimeField(editable=False)

    class Meta:
        verbose_name = "name of a household or persona"
        verbose_name_plural = "names of households and personas"
        ordering: ClassVar[list[str]] = ["household_id", "persona_id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # One name of each, also of two operators who give one at once.
            models.UniqueConstraint(fields=["household_id", "persona_id"], name="core_displayname_once"),
            models.CheckConstraint(
                name="core_displayname_of_one",
                condition=Q(household_id="", persona_id__gt="") | Q(household_id__gt="", persona_id=""),
                violation_error_message="Name either a household or a persona.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


def tie_of(user_id: str, household_id: str, persona_id: str) -> Scope:
    """Return a tie from the values of its columns."""
    return Scope(user_id, household_id or None, persona_id or None)


def foreign_ties(user_id: str = "") -> tuple[Scope, ...]:
    """Return the users with a household or persona where they only have foreign writes; of one user, or of all."""
    rows = Membership.objects.filter(state=MembershipState.FOREIGN)
    if user_id:
        rows = rows.filter(user_id=user_id)
    return tuple(tie_of(*row) for row in rows.values_list("user_id", "household_id", "persona_id"))


class KeyDay(models.Model):
    """How often a key was used and refused on a day (UTC); `key_usage` adds to it every few seconds.

    refused: the key did not permit the request, was throttled, or was not valid any more.
    """

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    used = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "use of a key"
        verbose_name_plural = "uses of keys"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Processes add to one row; also the index of the foreign key.
            models.UniqueConstraint(fields=["key", "day"], name="core_keyday_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key_id} {self.day}: {self.used}"


class LockedUser(models.Model):
    """A user whose data is being removed: until that is done nothing is written for them (`core.db.user_locks`)."""

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, primary_key=True)
    since = models.DateTimeField()

    class Meta:
        verbose_name = "locked user"

    def __str__(self) -> str:
        return f"locked since {self.since:%Y-%m-%d %H:%M}"


class Pause(models.Model):
    """A person for whom applications save nothing (`core.pauses`). Without `until` it lasts until it is ended."""

    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, unique=True)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    by = models.CharField(max_length=MAX_IDENTIFIER_CHARS + len("person:"))

    class Meta:
        verbose_name = "pause of saving"
        verbose_name_plural = "pauses of saving"

    def __str__(self) -> str:
        return f"paused since {self.since:%Y-%m-%d %H:%M}"


class LastUnlock(models.Model):
    """One row: when a user was unlocked the last time. What began earlier may know what was removed since."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"


class StoreIdentity(models.Model):
    """One row: the id that this database and its folders of files have in common (`core.file_roots`)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    store_id = models.CharField("id of the store", max_length=32)

    class Meta:
        verbose_name = "identity of the store"
        verbose_name_plural = "identity of the store"

    def __str__(self) -> str:
        return self.store_id


class ProcessKind(models.TextChoices):
    """What a process does for the hub."""

    WEB = "web", "Web"
    WORKER = "worker", "Worker"


class HubProcess(models.Model):
    """A running process, what it is ready for, and when it was last heard of.

    The table is unlogged: a sign of life costs no write-ahead log, and after a crash of the database none is true.
    """

    kind = models.CharField(max_length=10, choices=ProcessKind.choices)
    run = models.CharField(max_length=200, help_text="Processes of one run belong together.")
    host = models.CharField(max_length=255)
    pid = models.BigIntegerField("process id")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    checks = models.JSONField(default=dict)
    facts = models.JSONField(default=dict)

    class Meta:
        verbose_name = "process"
        verbose_name_plural = "processes"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "kind", "host", "pid"], name="core_hubprocess_unique"),
            models.CheckConstraint(name="core_hubprocess_kind", condition=Q(kind__in=ProcessKind.values)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.host}:{self.pid}"
