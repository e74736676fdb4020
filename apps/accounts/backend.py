"""Who is signed in and what they may do: the bound of an account is decided here, for every page at once."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser

from apps.accounts.domain.roles import model_of
from apps.core.bounds import is_bound


class AccountBackend(AuthenticationBackend):
    """Reads an account together with its bound, and refuses a bound account what has no scope.

    settings.SCOPED_MODELS names the models whose pages show only rows inside the bound. A bound account has no
    permission on any other, whatever its role says, so a page that is new is closed to it until it is named there.
    """

    def get_user(self, user_id: Any) -> AbstractBaseUser | None:
        """Return the account of a session with its bound, in one query."""
        users = get_user_model()._default_manager.select_related("account")
        user = users.filter(pk=user_id).first()
        if user is None or not self.user_can_authenticate(user):
            return None
        if user.is_superuser and is_bound(user):
            # Services refuse this. Where it was made in another way, the bound counts.
            user.is_superuser = False
        return user

    def get_user_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions that were given to the account alone, within its bound."""
        return within_bound(user_obj, super().get_user_permissions(user_obj, obj))

    def get_group_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions of the account's role and groups, within its bound."""
        return within_bound(user_obj, super().get_group_permissions(user_obj, obj))


def within_bound(user: Any, permissions: set[str]) -> set[str]:
    """Return those permissions that the bound of an account leaves it."""
    if not is_bound(user):
        return permissions
    return {permission for permission in permissions if model_of(permission) in settings.SCOPED_MODELS}
