"""The page of keys."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey, KeyDay
from apps.core.services import key_create, key_revoke
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db

ACCESS = "/admin/access/"
OF_ANA = Scope("ana")


def a_key(name: str, scope: Scope = OF_ANA) -> ApiKey:
    return key_create(name=name, scope=scope, permission=Permission.READ, actor="test")[0]


def test_keys_are_shown_with_reach_use_and_expiry(operator: Client) -> None:
    key, ending = a_key("kitchen", Scope()), a_key("cellar")
    KeyDay.objects.create(key=key, day=timezone.now().date(), used=7, refused=1)
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=timezone.now() - timedelta(minutes=5))
    ApiKey.objects.filter(pk=ending.pk).update(expires_at=timezone.now() + timedelta(days=3, hours=1))
    text = text_of(operator, ACCESS)
    for words in ("sees everything", "user ana", "Used 7 times", "Used 5 min ago", "Expires in 3 days", "Never used"):
        assert words in text
    assert "2 active keys, 1 of them without a bound, 1 refused in the last 14 days, 1 expiring soon." in text


def test_revoked_keys_are_only_counted(operator: Client) -> None:
    key_revoke(uuid=a_key("kitchen").uuid)
    text = text_of(operator, reverse("cockpit_access_keys"))
    assert "1 key is revoked" in text
    assert "There are no keys yet" in text


def test_who_may_look_cannot_rotate_and_others_see_nothing(staff: Callable[..., Client]) -> None:
    key = a_key("kitchen")
    client = staff("view_apikey")
    text = text_of(client, ACCESS)
    assert reverse("admin:core_apikey_rotate", args=[key.pk]) not in text
    assert "New key" not in text
    client.logout()
    assert client.get(ACCESS).status_code == 302


def test_who_may_see_no_keys_gets_none(staff: Callable[..., Client]) -> None:
    client = staff("view_memory")
    assert {client.get(reverse(f"cockpit_{name}")).status_code for name in ("access", "access_keys")} == {403}


def test_name_is_never_markup(operator: Client) -> None:
    a_key("<img src=x onerror=alert(1)>")
    assert "<img src=x" not in text_of(operator, ACCESS)


def test_page_takes_as_many_queries_with_many_keys(operator: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            text_of(operator, ACCESS)
        return len(made)

    a_key("first")
    queries()
    few = queries()
    for number in range(6):
        KeyDay.objects.create(key=a_key(f"key {number}"), day=timezone.now().date(), used=1)
    assert queries() <= few
