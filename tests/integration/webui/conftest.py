"""People who look at their own pages."""

import pytest
from django.test import Client

from tests.integration.webui.person import ANA, browser_of


@pytest.fixture
def ana(db: None) -> Client:
    return browser_of(ANA)
