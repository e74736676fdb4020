"""What an account may see, besides the permissions of its roles."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, MAX_OWNERS, Scope


class Account(models.Model):
    """The bound of a person who signs in, like the bound of a key; an account without a row here is unbound."""

    login = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="account")
    user_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only what concerns this user."
    )
    household_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only what concerns this household."
    )
    persona_id = models.CharField(
        max_length=MAX_IDENTIFIER_CHARS, blank=True, default="", help_text="Only what concerns this persona."
    )
    reads = ArrayField(
        models.CharField(max_length=MAX_IDENTIFIER_CHARS),
        blank=True,
        default=list,
        help_text="Users and teams whose memories and events the account may read besides.",
    )

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="accounts_account_reads_at_most", condition=models.Q(reads__len__lte=MAX_OWNERS)
            ),
        ]

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.scope.named().items()) or "everything"

    @property
    def scope(self) -> Scope:
        """Return the bound of the account."""
        return Scope(self.user_id or None, self.household_id or None, self.persona_id or None)

    @property
    def is_bound(self) -> bool:
        """Return whether the account sees only a part of the hub."""
        return self.scope != Scope()
