"""The access log: a line for each request, by its route, and nothing of what is in it."""

import asyncio
import json
import logging
from typing import Any
from uuid import uuid4

import pytest

from apps.core.domain.scope import Scope
from apps.core.models import ApiKey
from memoryhub.web.access_log import AccessLog
from tests.api import MEMORIES, api_for
from tests.integration.core.asgi import Server, body_of

pytestmark = pytest.mark.django_db(transaction=True)
LOGGER = "memoryhub.access"


def lines(caplog: Any, style: str, *asked: tuple[str, str, bytes]) -> list[str]:
    """The lines of requests to a server with a log."""
    server, key = Server(), api_for(Scope("ana")).key
    handler, server.application = server.application, AccessLog(server.application, style)  # type: ignore[assignment]

    async def ask() -> None:
        for method, path, body in asked:
            await server.ask(method, path, body_of([body]), authorization=f"Bearer {key}")

    with caplog.at_level(logging.INFO, logger=LOGGER):
        asyncio.run(ask())
    handler.close()
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


def test_a_line_has_route_status_bytes_and_key_and_no_contents(caplog: Any) -> None:
    secret = uuid4()
    body = json.dumps({"content": "a confession"}).encode()
    made, missing, wrong = map(
        json.loads,
        lines(
            caplog,
            "json",
            ("POST", MEMORIES, body),
            ("GET", f"{MEMORIES}/{secret}", b""),
            ("GET", f"/api/nothing/{secret}", b""),
        ),
    )
    key = ApiKey.objects.get()
    assert (made["method"], made["route"], made["status"]) == ("POST", "/api/semantic/memories", 201)
    assert made["bytes"] > 100
    assert made["ms"] > 0
    assert made["caller"] == f"key:{key.uuid}"
    assert "request_id" in made
    assert (missing["route"], missing["status"]) == ("/api/semantic/memories/<uuid:uuid>", 404)
    assert (wrong["route"], wrong["caller"]) == ("unknown", "-")
    assert not [word for word in ("confession", str(secret), "ana") if word in caplog.text]


def test_a_line_for_people_says_the_same(caplog: Any) -> None:
    [line] = lines(caplog, "text", ("GET", "/healthz", b""))
    assert line.startswith("GET /healthz 200 ")
    assert line.endswith(" bytes -")
