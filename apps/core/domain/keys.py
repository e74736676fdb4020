"""API keys as secrets: creation, format and digest."""

import hashlib
import secrets
from datetime import timedelta

PREFIX = "mh_"
SHOWN_CHARS = 8
MAX_NAME_CHARS = 100
MIN_CHARS, MAX_CHARS = 32, 200
# For how long a replaced secret works beside the new one: a day, in which every application can be given the new one.
DEFAULT_OVERLAP, MAX_OVERLAP = timedelta(days=1), timedelta(days=30)
MISSING_BOUND = (
    "A key without a bound can reach everyone's memories. Choose a user, a household or a persona, or confirm that "
    "the key has no bound."
)


def generate_secret() -> str:
    """Return a new key with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return what is stored of a key: the hex SHA-256 of its UTF-8 bytes.

    A key is random and long, so a plain digest cannot be reversed by guessing.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def shown_part(secret: str) -> str:
    """Return the first characters, by which people distinguish keys."""
    return secret[:SHOWN_CHARS]


def is_well_formed(secret: str) -> bool:
    """Return whether a text has 32 to 200 printable ASCII characters without spaces."""
    return MIN_CHARS <= len(secret) <= MAX_CHARS and all("!" <= c <= "~" for c in secret)


def opens(resource: str, asked: str) -> bool:
    """Return whether a key of a resource opens an address: that one, or one below it. resource: "" for all."""
    return not resource or asked == resource or asked.startswith(f"{resource}/")
