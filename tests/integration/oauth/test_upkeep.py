"""What is forgotten with a person, what is trimmed, and apps that are an address."""

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from oauth2_provider import cimd
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from apps.core.models import ApiKey
from apps.core.personal.registry import personal_stores
from apps.oauth.services import sign_ins_trim
from tests.integration.oauth.app import App, browser_again, register

pytestmark = pytest.mark.django_db


def kept() -> list[int]:
    return [model.objects.count() for model in (Grant, AccessToken, RefreshToken)]


def test_a_person_is_forgotten_with_all_tokens_and_nobody_else_is() -> None:
    ana, ben = App(), App(browser=browser_again("ben"))
    for app in (ana, ben):
        app.refresh(app.sign_in())
        app.answer(app.ask())
    [store] = [one for one in personal_stores() if one.name == "sign_ins"]
    assert store.count("ana") == store.count("ben") == 5
    assert sum(store.forget("ana")) >= 5
    assert (list(store.find("ana")), store.count("ben")) == ([], 5)
    for other in personal_stores():
        if other.name == "keys":
            assert store.order > other.order
            list(other.forget("ben"))
    assert sorted(store.find("ben")) == sorted(model._meta.db_table for model in (Grant, AccessToken, RefreshToken))


def test_what_is_over_is_trimmed_and_what_is_used_stays() -> None:
    used, unused = App(), App()
    ended, going_on = used.sign_in(), used.sign_in()
    first, second = ApiKey.objects.exclude(resource="").order_by("pk")
    ApiKey.objects.filter(pk=first.pk).update(revoked_at=first.created_at)
    Application.objects.update(updated=datetime.now(UTC) - timedelta(days=30))
    assert sign_ins_trim() == 1
    assert list(Application.objects.values_list("client_id", flat=True)) == [used.client_id]
    assert used.refresh(ended).status_code == 400
    assert used.refresh(going_on).status_code == 200
    assert kept()[1:] == [1, 2]
    assert unused.ask().status_code == 400
    Grant.objects.update(expires=datetime.now(UTC) - timedelta(days=1))
    ApiKey.objects.filter(pk=second.pk).update(expires_at=datetime.now(UTC))
    sign_ins_trim()
    assert kept() == [0, 0, 0]


def test_registrations_that_nobody_uses_have_an_end(monkeypatch) -> None:
    monkeypatch.setattr("apps.oauth.clients.MAX_UNUSED", 2)
    apps = [register().json()["client_id"] for _ in range(3)]
    assert set(Application.objects.values_list("client_id", flat=True)) == set(apps[1:])


@pytest.fixture
def place(tmp_path: Path, monkeypatch) -> Iterator[dict[str, Any]]:
    """A host of a client document, with a certificate that is trusted; `said` is what it answers."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))  # fmt: skip
    answer: dict[str, Any] = {"asked": 0, "status": 200, "headers": {"Content-Type": "application/json"}, "said": {}}

    class Place(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer["asked"] += 1
            self.send_response(answer["status"])
            for header, value in answer["headers"].items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(json.dumps(answer["said"]).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Place)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    answer["id"] = f"https://localhost:{server.server_port}/app.json"
    answer["said"] = {
        "client_id": answer["id"],
        "client_name": "Known agent",
        "redirect_uris": ["https://agent.example/back"],
        "token_endpoint_auth_method": "none",
    }
    yield answer
    server.shutdown()
    server.server_close()


def test_an_address_of_this_machine_is_no_app(place) -> None:
    assert App(client_id=place["id"]).ask().status_code == 400
    assert place["asked"] == 0


def test_an_app_that_is_an_address_is_fetched_once_and_shown_by_it(place, monkeypatch, client) -> None:
    monkeypatch.setattr(cimd, "_ip_is_public", lambda ip: True)  # this machine stands for a public host
    app = App(client_id=place["id"])
    # Neither strangers nor programs have the hub fetch anything.
    assert App(client_id=place["id"], browser=client).ask().status_code == 302
    assert app.fetch("x").status_code in {400, 401}
    assert place["asked"] == 0
    page = app.ask()
    assert ("Known agent" in page.content.decode(), place["id"] in page.content.decode()) == (True, True)
    assert app.fetch(app.answer(page)["code"]).status_code == 200
    assert place["asked"] == 1
    assert app.ask(redirect_uri="https://evil.example/").status_code == 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 302, "headers": {"Location": "https://other.example/"}},
        {"headers": {"Content-Type": "text/html"}},
        {"said": {"redirect_uris": ["http://evil.example/"]}},
        {"said": {"client_id": "https://other.example/app.json"}},
        {"said": {"padding": "x" * 20_000}},
        {"said": {"client_secret": "x"}},
    ],
)
def test_a_document_that_will_not_do_makes_no_app(place, monkeypatch, wrong: dict[str, Any]) -> None:
    monkeypatch.setattr(cimd, "_ip_is_public", lambda ip: True)
    place["said"] |= wrong.pop("said", {})
    place |= wrong
    app = App(client_id=place["id"])
    assert app.ask().status_code == 400
    assert app.ask().status_code == 400
    assert place["asked"] == 1  # the second time without asking again
    assert not Application.objects.filter(client_id=place["id"]).exists()
