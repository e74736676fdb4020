"""An app that signs in, over the test client: what it sends, and what the person says."""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from tests.api import Api
from tests.integration.webui.person import browser_of

HUB = "http://testserver"
MCP = f"{HUB}/mcp"
BACK = "https://agent.example/back"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def register(**said: Any) -> HttpResponse:
    """Register an app."""
    told = {"client_name": "Agent", "redirect_uris": [BACK], "token_endpoint_auth_method": "none", **said}
    return Api().post("/oauth/register", told)


def browser_again(person: str) -> Client:
    """Return a browser of a person who may have an account already."""
    account = User.objects.filter(username=f"{person}-signs-in").first()
    if account is None:
        return browser_of(person)
    client = Client()
    client.force_login(account)
    return client


@dataclass
class App:
    """An app with its id, and the browser of the person who lets it in."""

    browser: Client = field(default_factory=lambda: browser_again("ana"))
    client_id: str = field(default_factory=lambda: register().json()["client_id"])
    programs: Client = field(default_factory=Client)

    def ask(self, **changed: Any) -> HttpResponse:
        """Send the person to the hub; None leaves a parameter out."""
        asked = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": BACK, "state": "s 1",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256", "resource": MCP, "scope": "read write",
            **changed,
        }  # fmt: skip
        query = urlencode({name: value for name, value in asked.items() if value is not None}, doseq=True)
        return self.browser.get(f"/apps/sign-in/?{query}")

    def answer(self, page: HttpResponse, answer: str = "write", part: str = "") -> dict[str, str]:
        """Say something to what the page asks, and return what the app is told."""
        assert page.status_code == 200, page.headers
        token = re.search(r'name="token" value="([^"]+)"', page.content.decode())
        assert token
        back = self.browser.post("/apps/sign-in/answer/", {"token": token[1], "answer": answer, "part": part})
        assert back.status_code == 302
        assert back["Location"].startswith(BACK), back["Location"]
        return dict(parse_qsl(urlsplit(back["Location"]).query))

    def fetch(self, code: str, **changed: Any) -> HttpResponse:
        """Fetch tokens for a code."""
        sent = {"redirect_uri": BACK, "code_verifier": VERIFIER, "resource": MCP, **changed}
        return self.token(grant_type="authorization_code", code=code, **sent)

    def refresh(self, tokens: dict[str, Any], **changed: Any) -> HttpResponse:
        """Fetch the next tokens."""
        return self.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"], **changed)

    def token(self, **said: Any) -> HttpResponse:
        sent = {"client_id": self.client_id, **said}
        return self.programs.post("/oauth/token", {name: one for name, one in sent.items() if one is not None})

    def revoke(self, token: str) -> HttpResponse:
        return self.programs.post("/oauth/revoke", {"client_id": self.client_id, "token": token})

    def sign_in(self, answer: str = "write", **asked: Any) -> dict[str, Any]:
        """Sign in, and return the tokens."""
        told = self.answer(self.ask(**asked), answer)
        got = self.fetch(told["code"], resource=asked.get("resource", MCP))
        assert got.status_code == 200, got.content
        tokens: dict[str, Any] = got.json()
        return tokens
