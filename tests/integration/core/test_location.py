"""Answers with 201 name the address of what was created."""

from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from tests.api import api_for

pytestmark = pytest.mark.django_db

CREATIONS: dict[str, dict[str, Any]] = {
    "/api/semantic/memories": {"content": "tea", "user_id": "ana"},
    "/api/episodic/events": {
        "content": "tea", "user_id": "ana", "timestamp": "2026-03-04T12:00:00Z", "event_type": "message"
    },
    "/api/keys": {"name": "new", "user_id": "ana"},
    "/api/rules": {"name": "new"},
}  # fmt: skip


@pytest.mark.parametrize(("path", "body"), CREATIONS.items(), ids=CREATIONS.keys())
def test_what_was_created_is_found_at_its_location(path: str, body: dict[str, Any]) -> None:
    api = api_for(Scope(), Permission.OPERATOR)
    created = api.post(path, body)
    assert created.status_code == 201
    shown = created.json().get("memory") or created.json().get("event") or created.json()
    found = api.get(created.headers["Location"])
    assert found.status_code == 200
    assert found.json().get("id") == shown.get("id")
    assert found.json().get("name") == shown.get("name")


def test_what_was_there_before_has_no_location() -> None:
    api = api_for(Scope(user_id="ana"))
    for path in ("/api/semantic/memories", "/api/episodic/events"):
        body = {name: value for name, value in CREATIONS[path].items() if name != "user_id"}
        assert api.post(path, body).has_header("Location")
        again = api.post(path, body)
        assert (again.status_code, again.has_header("Location")) == (200, False)
