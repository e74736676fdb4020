"""Secrets of sources: in the environment or in files, never in the database."""

import re
from pathlib import Path

from django.conf import settings

from apps.core.domain.errors import InvalidInputError
from apps.sync.domain.errors import KnowledgeUnavailableError

MAX_SECRET_BYTES = 100_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
# Forges take any user with a token.
TOKEN_USER = "git"  # noqa: S105


def check_secret_name(name: str, attr: str = "credentials") -> None:
    """Raise InvalidInputError unless this can be the name of a secret."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError("The name of a secret has letters, digits, - and _, at most 100.", attr=attr)


def read_secret(name: str) -> str:
    """Return a secret. Raises KnowledgeUnavailableError when there is none."""
    check_secret_name(name)
    variable = name.upper().replace("-", "_")
    if text := settings.MEMORYHUB.sync.secrets.get(variable, "").strip():
        return text
    try:
        with (Path(settings.SYNC_SECRETS_DIR) / name).open("rb") as file:
            text = file.read(MAX_SECRET_BYTES).decode().strip()
    except (OSError, UnicodeError):
        text = ""
    if not text:
        raise KnowledgeUnavailableError(
            f"There is no secret {name}: set MEMORYHUB_SYNC_SECRET_{variable}, or write it to the file "
            f"sync-secrets/{name} of the data directory."
        )
    return text


def fetch_secret(name: str) -> dict[str, str]:
    """Return a secret by its kind, as `fetch_process` takes it; empty without a name.

    A private key for ssh, `user:password`, or a token.
    """
    if not name:
        return {}
    text = read_secret(name)
    if text.startswith("-----BEGIN"):
        return {"kind": "key", "key": f"{text}\n"}
    user, colon, password = text.partition(":")
    return {"kind": "password", "user": user if colon else TOKEN_USER, "password": password if colon else text}
