"""A hub with a real HTTP server, for the packages and programs that call one."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from tests.api import api_for
from tests.integration.memoryhub.web import WebServer, serving


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebServer]:
    with django_db_blocker.unblock(), serving() as server:
        yield server


@pytest.fixture
def url(server: WebServer) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def key(transactional_db: None) -> str:
    """A key of Ana's alone."""
    return str(api_for(Scope("ana")).key)
