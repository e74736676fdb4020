"""Codes and tokens of apps that a person let in."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q
from oauth2_provider.models import AccessToken, Grant, IDToken, RefreshToken

from apps.core.models import ApiKey
from apps.core.personal.registry import register_stores
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step


class SignInStore(PersonalStore):
    """Codes and tokens of a person, forgotten before their keys, by whose ids they are found.

    They are not exported, as the keys are not.
    """

    name = "sign_ins"
    order = 96
    models = (Grant, RefreshToken, AccessToken, IDToken)

    def rows_of(self, user_id: str) -> list[Any]:
        """Return the codes, the refresh tokens and the access tokens of a person."""
        own = Q(user__account__person_id=user_id) | Q(user__account__user_id=user_id)
        refresh = RefreshToken.objects.filter(
            own | Q(token_family__in=ApiKey.objects.filter(user_id=user_id).values("uuid"))
        )
        access = AccessToken.objects.filter(own | Q(refresh_token__in=refresh))
        return [Grant.objects.filter(own), access, refresh]

    def count(self, user_id: str) -> int:
        return sum(rows.count() for rows in self.rows_of(user_id))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        step(self.name)
        with transaction.atomic():
            removed = sum(rows.delete()[0] for rows in self.rows_of(user_id))
        if removed:
            yield removed

    def find(self, user_id: str) -> Iterator[str]:
        return (rows.model._meta.db_table for rows in self.rows_of(user_id) if rows.exists())


register_stores((SignInStore(),))
