"""What tests of the admin build from."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import Settings

from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.integration.accounts.conftest import quick_passwords as quick_passwords
from tests.integration.admin.refusals import plain_refusals as plain_refusals
from tests.integration.events import support
from tests.integration.semantic.undecided import chat_model as chat_model
from tests.integration.semantic.undecided import chat_server as chat_server


@pytest.fixture
def operator(client: Client) -> Client:
    """A browser in which a superuser is logged in."""
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def staff(client: Client) -> Callable[..., Client]:
    """A browser in which somebody with just these permissions is logged in."""

    def log_in(*codenames: str) -> Client:
        user = User.objects.create_user("colleague", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        assert user.user_permissions.count() == len(codenames)
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def remember() -> Callable[..., Memory]:
    """Save a memory of the user ana, or of the user given."""

    def save(content: str, user: str = "ana", **fields: Any) -> Memory:
        draft = MemoryDraft(content, scope=Scope(user_id=user), **fields)
        return memory_save(access=system_access("test"), draft=draft).memory

    return save


@pytest.fixture
def subscriber(settings: Settings) -> Iterator[None]:
    """Somebody who hears every event, so that there are deliveries."""
    settings.EVENT_SUBSCRIPTIONS = support.TABLE_PATH
    support.TABLE["*"] = (support.RECORD,)
    yield
    support.TABLE.clear()
