"""What becomes of accounts when a person is forgotten."""

import pytest
from django.contrib.auth.models import User

from apps.accounts.personal.stores import AccountStore
from apps.accounts.services import account_create
from apps.core.domain.scope import Scope

pytestmark = pytest.mark.django_db


def test_accounts_of_a_forgotten_person_go_and_grants_of_theirs_end() -> None:
    account_create(username="ana", role="Viewer", scope=Scope("ana"))
    account_create(username="rita", role="Viewer", scope=Scope("ben"), reads=["ana", "team:platform"])
    store = AccountStore()
    assert store.count("ana") == 2
    assert sum(store.forget("ana")) == 2
    assert list(store.find("ana")) == []
    # Without its bound the account would see everything, so it is gone and not unbound.
    assert [user.username for user in User.objects.all()] == ["rita"]
    assert User.objects.get().account.reads == ["team:platform"]
