"""An app signs in: what it is told, what the person sees, and which tokens open what."""

import logging
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey, Membership
from apps.core.services import key_stop, membership_create
from tests.api import MEMORIES, Api, api_for
from tests.integration.oauth.app import BACK, CHALLENGE, HUB, MCP, App, browser_again, register
from tests.mcp import call, message

pytestmark = pytest.mark.django_db


def status(tokens, path="/mcp") -> int:
    return message(Api(tokens["access_token"]), "tools/list", path=path).status_code


def test_hub_says_where_apps_sign_in() -> None:
    refused = message(Api("mh_wrong"), "tools/list", path="/mcp/p/a b")
    assert refused.status_code == 401
    assert f'resource_metadata="{HUB}/.well-known/oauth-protected-resource/mcp/p/a%20b"' in refused["WWW-Authenticate"]
    for path, resource in (("/mcp", MCP), ("", MCP), ("/mcp/p/a%20b", f"{MCP}/p/a%20b")):
        said = Api().get(f"/.well-known/oauth-protected-resource{path}").json()
        assert (said["resource"], said["authorization_servers"]) == (resource, [HUB])
    said = Api().get("/.well-known/oauth-authorization-server").json()
    assert said["issuer"] == HUB
    assert said["code_challenge_methods_supported"] == ["S256"]
    for name in ("authorization", "token", "revocation", "registration"):
        assert said[f"{name}_endpoint"].startswith(f"{HUB}/")


def test_person_sees_what_an_app_asks_for_and_its_token_is_a_key_of_theirs() -> None:
    app = App()
    page = app.ask(scope="read write offline_access openid")
    shown = page.content.decode()
    for words in (
        "Agent",
        "agent.example",
        "save, change and delete",
        "With all that the hub knows about you",
        "Until",
    ):
        assert words in shown
    assert "form-action 'self' https://agent.example" in page["Content-Security-Policy"]
    told = app.answer(page)
    assert (told["state"], told["iss"]) == ("s 1", HUB)
    tokens = app.fetch(told["code"]).json()
    assert (tokens["token_type"], tokens["scope"], tokens["expires_in"]) == ("Bearer", "read write", 3_600)
    key = ApiKey.objects.get(resource=MCP)
    assert (key.name, key.user_id, key.permission, key.is_connected) == ("Agent", "ana", Permission.WRITE, True)
    saved = call(Api(tokens["access_token"]), "save", {"content": "Ana likes green tea."})
    assert saved["structuredContent"]["changed"]
    assert "Agent" in app.browser.get("/apps/").content.decode()


def test_person_gives_less_or_nothing() -> None:
    app = App()
    tokens = app.sign_in("read")
    assert tokens["scope"] == "read"
    assert call(Api(tokens["access_token"]), "save", {"content": "Ana likes tea."})["isError"]
    assert app.refresh(tokens, scope="read write").json()["scope"] == "read"
    page = app.ask(scope="read")
    assert 'value="write"' not in page.content.decode()
    assert app.answer(page, "write")["code"]  # of a form that was made up: it reads all the same
    assert app.answer(app.ask(), "refuse") == {"error": "access_denied", "state": "s 1", "iss": HUB}
    assert ApiKey.objects.filter(resource=MCP, permission=Permission.WRITE).count() == 0


def test_person_lets_an_app_in_with_a_part_of_their_data() -> None:
    app = App()
    assert "<select" not in app.ask().content.decode()
    for household in ("home", "away"):
        membership_create(access=system_access("test", makes_ties=True), scope=Scope("ana", household))
    others = api_for(Scope())
    others.save("The number of the home is 12.", user_id="ana", household_id="home")
    others.save("The number of the office is 4711.", user_id="ana")
    page = app.ask()
    assert "Only what is yours in home" in page.content.decode()
    made_up = app.browser.post("/apps/sign-in/answer/", {
        "token": page.content.decode().split('name="token" value="')[1].split('"')[0], "answer": "write",
        "part": "household_id:hotel"})  # fmt: skip
    assert (made_up["Location"], Grant.objects.count()) == ("/apps/", 0)
    tokens = app.fetch(app.answer(page, part="household_id:home")["code"]).json()
    assert ApiKey.objects.get(resource=MCP).scope == Scope("ana", "home")
    found = str(call(Api(tokens["access_token"]), "query", {"query": "number", "limit": 100}))
    assert ("is 12" in found, "4711" in found) == (True, False)
    assert "Reads and writes your data in home" in app.browser.get("/apps/").content.decode()
    code = app.answer(app.ask(), part="household_id:away")["code"]
    Membership.objects.filter(household_id="away").update(state="foreign")
    assert app.fetch(code).json()["error"] == "invalid_grant"


def test_token_opens_its_resource_alone() -> None:
    app = App()
    everywhere, atlas = app.sign_in(), app.sign_in(resource=f"{MCP}/p/atlas")
    assert [status(everywhere, path) for path in ("/mcp", "/mcp/p/atlas", "/mcp/p/other")] == [200, 200, 200]
    assert [status(atlas, path) for path in ("/mcp", "/mcp/p/atlas", "/mcp/p/other", "/mcp/p/atlas2")] == [
        401, 200, 401, 401]  # fmt: skip
    for tokens in (everywhere, atlas):
        assert Api(tokens["access_token"]).get(MEMORIES).status_code == 401
        assert Api(tokens["access_token"]).get("/api/keys").status_code == 401
        assert message(Api(tokens["access_token"]), "ping", Host="localhost").status_code == 401
    for foreign in ("https://other.example/mcp", f"{HUB}/api", "http://testserver.evil.example/mcp", "nonsense"):
        back = dict(parse_qsl(urlsplit(app.ask(resource=foreign)["Location"]).query))
        assert back["error"] == "invalid_target"
        assert back["iss"] == HUB
    assert app.ask(resource=[MCP, f"{MCP}/p/atlas"]).status_code == 302
    told = app.answer(app.ask(resource=f"{MCP}/p/atlas"))
    assert app.fetch(told["code"]).json()["error"] == "invalid_target"  # a wider one than was allowed
    assert app.refresh(atlas, resource=MCP).json()["error"] == "invalid_target"
    assert app.sign_in(resource=f"{MCP}/")["access_token"]
    assert app.answer(app.ask(resource=None))["code"]


def test_tokens_of_one_person_reach_nobody_else() -> None:
    api_for(Scope("ben")).save("Ben's number is 4711.")
    api = Api(App().sign_in()["access_token"])
    found = call(api, "query", {"query": "number 4711", "limit": 100})
    assert "4711" not in str(found)
    for extra in ({"user_id": "ben"}, {"scope": {"user_id": "ben"}}, {"include": ["ben"]}):
        assert call(api, "query", {"query": "number", **extra})["isError"]


def test_code_works_once_for_its_app_with_its_verifier() -> None:
    app, other = App(), App()
    code = app.answer(app.ask())["code"]
    for wrong in (
        {"code_verifier": "w" * 64},
        {"code_verifier": None},
        {"redirect_uri": f"{BACK}/"},
        {"client_id": other.client_id},
        {"client_id": "nobody"},
    ):
        assert app.fetch(code, **wrong).status_code in {400, 401}, wrong
    tokens = app.fetch(code).json()
    assert status(tokens) == 200
    assert app.fetch(code).json()["error"] == "invalid_grant"
    # Who brought it again may be a thief, so that nobody has it now.
    assert status(tokens) == 401
    assert app.refresh(tokens).json()["error"] == "invalid_grant"
    late = app.answer(app.ask())["code"]
    Grant.objects.update(expires=Grant.objects.latest("pk").expires - timedelta(minutes=5))
    assert app.fetch(late).json()["error"] == "invalid_grant"


def test_refresh_tokens_are_turned_over_and_one_used_twice_ends_all() -> None:
    app = App()
    first = app.sign_in()
    second = app.refresh(first).json()
    assert (status(first), status(second)) == (401, 200)
    assert ApiKey.objects.filter(resource=MCP).count() == 1
    other = App(browser=app.browser)
    assert other.refresh(second).json()["error"] == "invalid_grant"
    assert app.refresh(first).json()["error"] == "invalid_grant"
    assert status(second) == 401
    assert app.refresh(second).json()["error"] == "invalid_grant"
    assert ApiKey.objects.get(resource=MCP).revoked_at is not None


def test_expired_stopped_and_revoked_tokens_are_refused() -> None:
    app = App()
    expired, stopped, revoked, ended = (app.sign_in() for _ in range(4))
    keys = list(ApiKey.objects.filter(resource=MCP).order_by("pk"))
    assert [key.name for key in keys] == ["Agent", "Agent (2)", "Agent (3)", "Agent (4)"]
    ApiKey.objects.filter(pk=keys[0].pk).update(secret_until=keys[0].created_at)
    assert status(expired) == 401
    assert status(app.refresh(expired).json()) == 200
    app.browser.post(f"/apps/{keys[1].uuid}/stop/")
    assert status(stopped) == 403
    assert app.refresh(stopped).json()["error"] == "invalid_grant"
    app.browser.post(f"/apps/{keys[1].uuid}/let-in/")
    assert (status(stopped), app.refresh(stopped).status_code) == (200, 200)
    key_stop(uuid=keys[1].uuid, user_id="ana")
    assert App(browser=app.browser).revoke(revoked["refresh_token"]).status_code == 200  # of another app: nothing
    assert status(revoked) == 200
    for tokens, name in ((revoked, "refresh_token"), (app.sign_in(), "access_token")):
        assert app.revoke(tokens[name]).status_code == 200
        assert (status(tokens), app.refresh(tokens).status_code) == (401, 400)
    ApiKey.objects.filter(pk=keys[3].pk).update(expires_at=keys[3].created_at)
    assert (status(ended), app.refresh(ended).status_code) == (401, 400)


def test_its_secret_is_renewed_by_the_app_alone() -> None:
    tokens, operator = App().sign_in(), api_for(Scope(), Permission.OPERATOR)
    key = ApiKey.objects.get(resource=MCP)
    refused = operator.post(f"/api/keys/{key.uuid}/rotate", {"overlap_seconds": 60})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "signed_in")
    assert status(tokens) == 200
    assert operator.delete(f"/api/keys/{key.uuid}").status_code == 204
    assert status(tokens) == 401


def test_wrong_requests_lead_nowhere_or_back_with_an_error() -> None:
    app = App()
    for wrong in (
        {"client_id": "nobody"},
        {"client_id": None},
        {"redirect_uri": "https://evil.example/back"},
        {"redirect_uri": f"{BACK}?more=1"},
        {"redirect_uri": f"{BACK}/more"},
        {"client_id": "https://127.0.0.1/app.json"},
    ):
        page = app.ask(**wrong)
        assert (page.status_code, "Nothing was allowed" in page.content.decode()) == (400, True), wrong
    for wrong, error in (
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
    ):
        answer = app.ask(**wrong)
        assert answer.status_code == 302, wrong
        assert answer["Location"].startswith(BACK)
        told = dict(parse_qsl(urlsplit(answer["Location"]).query))
        assert (told["error"], told["state"], told["iss"]) == (error, "s 1", HUB), wrong
    made_up = app.browser.post("/apps/sign-in/answer/", {"token": "made up", "answer": "write"})
    assert made_up["Location"] == "/apps/"
    assert not Grant.objects.exists()


def test_a_token_of_the_page_of_one_person_is_none_of_another() -> None:
    ana, ben = App(), App(browser=browser_again("ben"))
    token = ana.ask().content.decode().split('name="token" value="')[1].split('"')[0]
    answer = ben.browser.post("/apps/sign-in/answer/", {"token": token, "answer": "write"})
    assert answer["Location"] == "/apps/"
    assert not Grant.objects.exists()


def test_program_on_the_same_machine_takes_any_port() -> None:
    app = App(client_id=register(redirect_uris=["http://127.0.0.1/back", "http://localhost:1/b"]).json()["client_id"])
    page = app.ask(redirect_uri="http://127.0.0.1:54321/back")
    assert "form-action 'self' http://127.0.0.1:54321" in page["Content-Security-Policy"]
    assert "a program on this device" in page.content.decode()
    assert app.ask(redirect_uri="http://localhost:4711/b").status_code == 200
    assert app.ask(redirect_uri="http://127.0.0.1:54321/other").status_code == 400
    assert app.ask(redirect_uri="http://localhost:54321/back").status_code == 400


def test_registration_is_checked_limited_and_switched_off(settings) -> None:
    for uris in ([], ["http://agent.example/back"], ["https://a.example/#x"], ["javascript:alert(1)"], "x", [1], None,
                 ["https://u@a.example/"], ["https://a.example/ b"], ["data:text/html,x"], ["//a.example"],
                 ["https://a.example/b"] * 11, ["https://[::"], ["https:///x"]):  # fmt: skip
        answer = register(redirect_uris=uris)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri"), uris
    for said in ({"token_endpoint_auth_method": []}, {"token_endpoint_auth_method": {}}, {"grant_types": [[]]},
                 {"token_endpoint_auth_method": "private_key_jwt"}, {"grant_types": "authorization_code"}):  # fmt: skip
        answer = register(**said)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata"), said
    secret = register(token_endpoint_auth_method="client_secret_post").json()
    app = App(client_id=secret["client_id"])
    code = app.answer(app.ask())["code"]
    assert app.fetch(code).status_code == 401
    assert app.fetch(code, client_secret="wrong").status_code == 401
    assert app.fetch(code, client_secret=secret["client_secret"]).status_code == 200
    assert secret["client_secret"] not in Application.objects.get(client_id=secret["client_id"]).client_secret
    assert 429 in {register().status_code for _ in range(21)}
    hub = settings.MEMORYHUB
    settings.MEMORYHUB = hub.__class__(**{**vars(hub), "app_registration": False})
    assert register().status_code == 404
    assert "registration_endpoint" not in Api().get("/.well-known/oauth-authorization-server").json()


def test_name_of_an_app_is_shown_without_what_misleads() -> None:
    app = App(client_id=register(client_name="Claude\u202e\u200b <b>x</b>\n" + "y" * 300).json()["client_id"])
    shown = app.ask().content.decode()
    assert "Claude &lt;b&gt;x&lt;/b&gt; yyy" in shown
    assert "\u202e" not in shown


def test_neither_tables_nor_logs_hold_a_secret(caplog) -> None:
    app = App()
    with caplog.at_level(logging.DEBUG):
        code = app.answer(app.ask())["code"]
        tokens = app.fetch(code).json()
        again = app.refresh(tokens).json()
    kept = str([list(model.objects.values()) for model in (Application, Grant, AccessToken, RefreshToken, ApiKey)])
    for secret in (code, *(one[name] for one in (tokens, again) for name in ("access_token", "refresh_token"))):
        assert secret not in kept
        assert secret not in caplog.text
    assert CHALLENGE in kept


def test_strangers_sign_in_first_and_accounts_of_nobody_are_refused(client, django_user_model) -> None:
    app = App(browser=client)
    answer = app.ask()
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=/apps/sign-in/%3F")
    client.force_login(django_user_model.objects.create_user("nobody"))
    assert app.ask().status_code == 403
