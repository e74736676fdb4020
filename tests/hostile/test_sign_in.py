"""The token of an app that signed in opens MCP for its person, and nothing else of the hub."""

from typing import Any
from urllib.parse import urlencode

import pytest

from apps.core.domain.scope import Scope
from tests.api import Api
from tests.hostile.routes import all_routes
from tests.hostile.support import assert_refused, in_case, same, stored
from tests.hostile.world import NOWHERE, OPERATIONS, World
from tests.integration.oauth.app import App
from tests.mcp import message

pytestmark = pytest.mark.django_db
ANA = Scope("ana")


def test_token_opens_nothing_but_mcp_and_there_only_its_person(world: World) -> None:
    signed = Api(App().sign_in()["access_token"])
    before, opened = stored(), set[str]()
    for operation in OPERATIONS:
        for memory in world.outside(ANA)[:2]:
            with in_case(operation):
                answer = operation.call(signed, memory.uuid)
                assert world.leaked(ANA, answer) == []
                if answer.status_code != 401:
                    opened.add(operation.route)
                else:
                    assert_refused(answer, 401, None)
                    assert same(answer, operation.call(Api("mh_unknown" + "x" * 40), NOWHERE))
    assert opened == {"mcp", "mcp/p/<str:project>"}
    assert stored() == before


def test_no_argument_of_a_tool_reaches_another_scope(world: World) -> None:
    signed = Api(App().sign_in()["access_token"])
    foreign = world.outside(ANA)[0]
    tools = [tool["name"] for tool in message(signed, "tools/list").json()["result"]["tools"]]
    named: list[dict[str, Any]] = [
        {"user_id": "ben"},
        {"scope": {"user_id": "ben"}},
        {"include": ["ben"]},
        {"household_id": "away"},
        {"id": str(foreign.uuid)},
        {"filter": {"user_id": "ben"}},
    ]
    before = stored()
    for tool in tools:
        for extra in named:
            for given in ({}, {"query": "secret word", "limit": 100}, {"action": "forget"}, {"content": "x"}):
                answer = message(signed, "tools/call", {"name": tool, "arguments": {**given, **extra}})
                with in_case(f"{tool} {given} {extra}"):
                    assert answer.status_code == 200
                    assert world.leaked(ANA, answer) == []
                    assert answer.json()["result"]["isError"]
    assert stored() == before


def test_nothing_that_is_sent_to_the_sign_in_is_a_fault_of_the_hub(world: World) -> None:
    app = App()
    odd = (
        "",
        "x" * 5_000,
        "\x00",
        "%00",
        "ä\u202e",
        "https://[::",
        "a b",
        "null",
        "[]",
        "' OR 1=1",
        "https://127.0.0.1/x",
    )
    names = ("client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
             "resource")  # fmt: skip
    for name in names:
        for value in (*odd, ["a", "b"]):
            with in_case(f"{name} {value!r:.30}"):
                answer = app.ask(**{name: value})
                assert answer.status_code in {200, 302, 400}
                if answer.status_code == 302:
                    assert answer["Location"].startswith("https://agent.example/back?")
    fields = ("grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret", "resource",
              "refresh_token", "token", "scope")  # fmt: skip
    for kind in ("authorization_code", "refresh_token", "password", "client_credentials", "implicit",
                 "urn:ietf:params:oauth:grant-type:device_code"):  # fmt: skip
        for field in fields:
            for value in odd:
                sent = {"grant_type": kind, "client_id": app.client_id, "code": "x", "refresh_token": "x", field: value}
                with in_case(f"{kind} {field} {value!r:.30}"):
                    assert app.programs.post("/oauth/token", sent).status_code in {400, 401}
                    assert app.programs.post("/oauth/revoke", sent).status_code in {200, 400, 401}
    for body in ("", "{", "[]", "null", '"x"', "[" * 20_000, '{"client_name": 1, "redirect_uris": {}}', "\xff"):
        assert Api().post("/oauth/register", body).status_code in {400, 413, 429}
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
        assert app.programs.generic("POST", "/oauth/token", "{", content_type=kind).status_code in {400, 401, 415}
    assert app.programs.post(f"/oauth/token?{urlencode({'code': 'x'})}").status_code in {400, 401}


def test_addresses_of_the_sign_in_take_no_other_method() -> None:
    found = [route for route, _ in all_routes() if route.startswith(("oauth/", ".well-known/"))]
    assert len(found) == 7
    for route in found:
        path = "/" + route.replace("<str:project>", "a")
        wrong = ("GET", "PUT", "DELETE") if route.startswith("oauth/") else ("POST", "PUT", "DELETE")
        for method in wrong:
            assert Api().call(method, path).status_code == 405
