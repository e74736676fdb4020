"""What tests of accounts share."""

import pytest
from pytest_django import Settings

from apps.accounts.roles import roles_ensure
from tests.integration.admin.refusals import plain_refusals as plain_refusals


@pytest.fixture(autouse=True)
def quick_passwords(settings: Settings) -> None:
    """Passwords are hashed in no time: their strength is Django's."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def roles(db: None) -> None:
    """The roles are there, also after a test that emptied all tables."""
    roles_ensure()
