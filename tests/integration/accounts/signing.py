"""Signing in as a browser does, and the codes of an authenticator app."""

import base64
import hashlib
import hmac
import re
import struct
import time
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

PASSWORD = "a long enough password"


def sign_in(client: Client, name: str = "ana", password: str = PASSWORD, **extra: Any) -> Any:
    """Send the form to sign in."""
    return client.post(reverse("account_login"), {"username": name, "password": password}, **extra)


def signed_in(name: str = "ana", **fields: Any) -> Client:
    """A browser in which a new account has signed in with its password, and confirmed it."""
    User.objects.create_user(name, password=PASSWORD, is_staff=True, **fields)
    client = Client()
    assert sign_in(client, name).status_code == 302
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def is_signed_in(client: Client) -> bool:
    """Whether the session of a browser is that of an account."""
    return "_auth_user_id" in client.session


def code_of(secret: str, later: int = 0) -> str:
    """The code that an authenticator app shows now (RFC 6238). later: by so many half minutes."""
    counter = struct.pack(">Q", int(time.time()) // 30 + later)
    digest = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    place = digest[-1] & 15
    number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def set_up_app(client: Client) -> str:
    """Set up an authenticator app, and return its secret."""
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    found = re.search(r'id="authenticator_secret"[^>]*value="([A-Z2-7]+)"', page)
    assert found is not None, page
    answer = client.post(reverse("mfa_activate_totp"), {"code": code_of(found[1])})
    assert answer.status_code == 302, answer.content.decode()
    return found[1]
