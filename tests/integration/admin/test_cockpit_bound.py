"""What has no scope is closed to accounts that are bound to a household, whatever permissions they have."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Account

pytestmark = pytest.mark.django_db

PAGES = (
    "work", "work_queue", "work_schedules", "work_failures", "work_deliveries", "work_routes",
    "index", "index_live", "access", "access_keys",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_bound_account_sees_no_work_index_or_keys(client: Client, page: str) -> None:
    user = User.objects.create_user("rita", is_staff=True)
    user.user_permissions.set(Permission.objects.all())
    Account.objects.create(login=user, household_id="home")
    client.force_login(user)
    assert client.get(reverse(f"cockpit_{page}")).status_code == 403
