"""The registry of merge rules, its history and its version."""

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q

from apps.rules.domain.documents.rule import MAX_NAME_CHARS


class RegistryVersion(models.Model):
    """The one row that counts the changes of the registry.

    Every writer locks it first, so changes come one after another. stamp: new with each change; a process that
    caches the rules compares it, because the number of a change that was rolled back is used again.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.BigIntegerField(default=0)
    stamp = models.UUIDField(default=uuid4)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="rules_registry_one_row", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class MergeRule(models.Model):
    """A rule as it was given: missing settings are inherited. Written by `services` only.

    version: that of the registry when the rule last changed.
    """

    name = models.CharField(max_length=MAX_NAME_CHARS, unique=True)
    document = models.JSONField()
    version = models.BigIntegerField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    updated_by = models.CharField(max_length=200)

    class Meta:
        verbose_name = "merge rule"
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class RuleAction(models.TextChoices):
    """The kind of a change."""

    REGISTERED = "registered", "Registered"
    UPDATED = "updated", "Updated"
    DELETED = "deleted", "Deleted"
    RESTORED = "restored", "Restored"


class MergeRuleVersion(models.Model):
    """One change of one rule: who, when, and the documents before and after (null where there was none).

    Append-only, and it outlives the rule, which is why it has the name instead of a foreign key.
    """

    version = models.BigIntegerField(unique=True, help_text="The version that the registry had after the change.")
    rule_name = models.CharField(max_length=MAX_NAME_CHARS)
    action = models.CharField(max_length=12, choices=RuleAction.choices)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "rule version"
        ordering: ClassVar[list[str]] = ["-version"]
        indexes: ClassVar[list[models.Index]] = [
            # The history of one rule, the newest change first.
            models.Index(name="rules_version_of_rule", fields=["rule_name", "-version"]),
        ]

    def __str__(self) -> str:
        return f"{self.rule_name} at version {self.version}"
