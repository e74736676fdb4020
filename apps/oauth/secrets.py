"""The tokens of apps. Of each its digest is kept."""

import secrets

from apps.core.domain.keys import generate_secret


def access_token(request: object, refresh_token: bool = False) -> str:
    """Return a new access token: the secret of a key."""
    return generate_secret()


def refresh_token(request: object, refresh_token: bool = False) -> str:
    """Return a new refresh token with 256 random bits."""
    return f"mhr_{secrets.token_urlsafe(32)}"
