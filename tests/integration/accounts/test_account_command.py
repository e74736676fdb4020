"""`manage.py account`: for who runs the hub, and for who is locked out."""

from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts.models import Account
from tests.integration.accounts.signing import PASSWORD, is_signed_in, sign_in

pytestmark = pytest.mark.django_db


def account(*words: str) -> str:
    out = StringIO()
    call_command("account", *words, stdout=out)
    return out.getvalue().strip()


def test_account_is_created_bound_and_its_link_opens() -> None:
    text = account("create", "rita", "Reviewer", "--household", "home", "--reads", "team:platform")
    assert (Account.objects.get().household_id, Account.objects.get().reads) == ("home", ["team:platform"])
    client = Client()
    form = client.get(urlsplit(text.splitlines()[-1]).path)
    client.post(form.headers["Location"], {"password1": PASSWORD, "password2": PASSWORD})
    sign_in(client, "rita")
    assert is_signed_in(client)
    listed = account("list")
    assert "rita: Reviewer, sees household home, no second factor, 1 sessions" in listed
    account("sign-out", "rita")
    assert client.get("/admin/").status_code == 302


def test_role_and_bound_change() -> None:
    account("create", "rita", "Viewer")
    account("role", "rita", "Owner")
    assert account("bind", "rita", "--user", "ana") == "rita sees user ana now."
    assert account("bind", "rita") == "rita sees everything now."
    assert [group.name for group in User.objects.get().groups.all()] == ["Owner"]


def test_what_cannot_be_done_is_said() -> None:
    User.objects.create_superuser("boss")
    for words in (("link", "nobody"), ("create", "boss", "Viewer"), ("bind", "boss", "--user", "ana")):
        with pytest.raises(CommandError):
            account(*words)
