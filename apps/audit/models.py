"""Who did what to which object. Rows are only added, and removed when they are older than a year."""

from typing import ClassVar

from django.db import models

from apps.core.db.scoped import ScopedQuerySet
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS


class ActorKind(models.TextChoices):
    """Who acted."""

    PERSON = "person", "Person"
    KEY = "key", "API key"
    COMMAND = "command", "Command"
    HUB = "hub", "The hub"


class AuditEntry(models.Model):
    """One act. The actor is text, so that an entry outlives the account or the key; nothing here refers to a row.

    A trigger of the table refuses changes and deletion (migration 0002): retention deletes what is old, and the
    forgetting of a person empties who it was about. Both set `memoryhub.audit` in their transaction.
    detail: what changed, as JSON; never the content of a memory, an event or a note, and no secret.
    """

    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=10, choices=ActorKind.choices)
    actor = models.CharField(max_length=200)
    action = models.CharField(max_length=100, help_text="For example memory.delete or login.failed.")
    object_type = models.CharField(max_length=100, blank=True, default="")
    object_id = models.CharField(max_length=200, blank=True, default="")
    user_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    household_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    persona_id = models.CharField(max_length=MAX_IDENTIFIER_CHARS, blank=True, default="")
    outcome = models.CharField(max_length=20, default="done", help_text="done, refused or failed.")
    address = models.GenericIPAddressField(null=True, blank=True)
    request_id = models.CharField(max_length=100, blank=True, default="")
    detail = models.JSONField(default=dict)

    objects: ClassVar[ScopedQuerySet["AuditEntry"]] = ScopedQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit entries"
        ordering: ClassVar[list[str]] = ["-at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-at", "-id"], name="audit_entry_newest"),
            models.Index(fields=["actor", "-at"], name="audit_entry_actor"),
            models.Index(fields=["action", "-at"], name="audit_entry_action"),
            models.Index(fields=["object_id", "-at"], condition=~models.Q(object_id=""), name="audit_entry_object"),
            # What was done to the data of one person, which that person may read.
            models.Index(fields=["user_id", "-at"], condition=~models.Q(user_id=""), name="audit_entry_user"),
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}"
