"""People who sign in and see a part of the hub."""

from django.contrib.auth.models import Permission, User
from django.test import Client

from apps.accounts.models import Account


def bound_client(codenames: tuple[str, ...], reads: tuple[str, ...] = (), **bound: str) -> Client:
    """A browser in which a colleague with these permissions and a bound is signed in."""
    user = User.objects.create_user("bound", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    Account.objects.create(login=user, reads=list(reads), **bound)
    client = Client()
    client.force_login(user)
    return client
