"""What tests of the cockpit build from, as those of the admin's pages do."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from apps.accounts.models import Account
from tests.integration.admin.conftest import operator as operator
from tests.integration.admin.conftest import remember as remember
from tests.integration.admin.conftest import staff as staff


@pytest.fixture
def bound(client: Client) -> Callable[..., Client]:
    """A browser of a person with all permissions to view, bound to a household or a user."""

    def log_in(**scope: str) -> Client:
        user = User.objects.create_user("reviewer", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
        Account.objects.create(login=user, **scope)
        client.force_login(user)
        return client

    return log_in
