"""Calling the API in tests as an application does: with a key, in JSON."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.test import Client

from apps.core.db.memberships import ties_make
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.core.services import key_create

MEMORIES = "/api/semantic/memories"
SEARCH = "/api/semantic/search"


class Lines(list[Any]):
    """A body of JSON Lines: its items, each on a line of its own."""


@dataclass
class Api:
    """A caller with a key, or without one."""

    key: str | None = None
    client: Client = field(default_factory=Client)

    def call(self, method: str, path: str, body: Any = None, **further: str) -> HttpResponse:
        """Call with a JSON body, or with Lines; text and bytes are sent as they are, as JSON. further: headers."""
        kind = "application/json"
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        if isinstance(body, Lines):
            kind, data = "application/x-ndjson", "".join(f"{json.dumps(line)}\n" for line in body)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= further
        payload = "" if body is None else data
        answer = self.client.generic(method, path, payload, content_type=kind, headers=headers)
        return whole(answer) if answer.streaming else answer

    def get(self, path: str) -> HttpResponse:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> HttpResponse:
        return self.call("POST", path, body)

    def patch(self, path: str, body: Any = None) -> HttpResponse:
        return self.call("PATCH", path, body)

    def delete(self, path: str) -> HttpResponse:
        return self.call("DELETE", path)

    def save(self, content: str, **fields: Any) -> dict[str, Any]:
        """Save a memory and give it back as the API shows it."""
        response = self.post(MEMORIES, {"content": content, **fields})
        assert response.status_code in {200, 201}, response.content
        memory: dict[str, Any] = response.json()["memory"]
        return memory

    def search(self, query: str | None = None, **fields: Any) -> dict[str, Any]:
        """Search and give the answer back."""
        response = self.post(SEARCH, fields if query is None else {"query": query, **fields})
        assert response.status_code == 200, response.content
        answer: dict[str, Any] = response.json()
        return answer


def whole(answer: Any) -> HttpResponse:
    """Return an answer that is made while it is sent, to its end."""
    content = b"".join(answer.streaming_content)
    return HttpResponse(content, status=answer.status_code, headers=dict(answer.headers))


def api_for(scope: Scope, permission: Permission = Permission.WRITE, **options: Any) -> Api:
    """A caller with a new key of this bound, which the users whom it leaves out have stopped."""
    options = {"name": "test", "actor": "test", "stopped_by": scope.without, **options}
    _, secret = key_create(scope=scope, permission=permission, **options)
    return Api(secret)


def belong(*scopes: Scope) -> None:
    """Let the users of scopes belong to the households and personas that these name."""
    ties = {tie for scope in scopes for tie in scope.ties()}
    ties_make(ties, made_by="test", made_at=utcnow(SYSTEM_CLOCK))


def contents(answer: dict[str, Any]) -> list[str]:
    """The contents of a search's results, in order."""
    return [item["memory"]["content"] for item in answer["results"]]


def error_attrs(response: HttpResponse) -> list[str]:
    """The fields that an error answer names."""
    return [item["attr"] for item in response.json()["errors"]]
