"""A code and a refresh token that come several times at once: one is answered, and what they led to ends."""

from functools import partial

import pytest
from django.test import Client

from apps.core.models import ApiKey
from tests.api import Api
from tests.integration.oauth.app import MCP, App
from tests.mcp import message
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def of_app(app: App) -> App:
    """The same app in a client of its own."""
    return App(browser=app.browser, client_id=app.client_id, programs=Client(raise_request_exception=False))


def test_of_the_same_code_at_once_one_is_taken() -> None:
    app = App()
    for _ in range(5):
        code = app.answer(app.ask())["code"]
        answers = at_once(*(partial(of_app(app).fetch, code) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
        [tokens] = [answer.json() for answer in answers if answer.status_code == 200]
        assert message(Api(tokens["access_token"]), "ping").status_code == 401
    assert ApiKey.objects.filter(resource=MCP, revoked_at=None).count() == 0


def test_of_the_same_refresh_token_at_once_one_is_taken() -> None:
    app = App()
    for _ in range(5):
        tokens = app.sign_in()
        answers = at_once(*(partial(of_app(app).refresh, tokens) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
        [after] = [answer.json() for answer in answers if answer.status_code == 200]
        assert message(Api(after["access_token"]), "ping").status_code == 401
        assert app.refresh(after).status_code == 400


def test_refreshing_and_stopping_at_once_end_without_a_fault() -> None:
    app = App()
    for _ in range(5):
        tokens = app.sign_in()
        key = ApiKey.objects.filter(resource=MCP).latest("pk")
        answers = at_once(
            partial(of_app(app).refresh, tokens),
            partial(of_app(app).revoke, tokens["refresh_token"]),
            partial(app.browser.post, f"/apps/{key.uuid}/stop/"),
        )
        assert [answer.status_code < 500 for answer in answers] == [True, True, True]
        after = answers[0].json().get("access_token", tokens["access_token"])
        assert message(Api(after), "ping").status_code in {401, 403}
