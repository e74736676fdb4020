"""Texts that the database keeps for the hub alone to read, such as an address that is a secret itself."""

import base64
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


def seal(text: str) -> str:
    """Return a text encrypted with the signing key of the hub."""
    return _cipher().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return what was sealed; nothing where that was done with another signing key."""
    try:
        return _cipher().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return ""


def _cipher() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(sha256(f"sealed {settings.SECRET_KEY}".encode()).digest()))
