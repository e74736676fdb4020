"""The codes of connecting: made, read, and kept as digests alone."""

import secrets

from django.utils.crypto import salted_hmac

# Without vowels, so that no word comes about, and without letters that look like others (RFC 8628, 6.1).
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
USER_CODE_CHARS = 8
_SALT = "memoryhub.people.connecting"


def new_device_code() -> str:
    """Return a code for the app, with 256 random bits."""
    return secrets.token_urlsafe(32)


def new_user_code() -> str:
    """Return a code for the person: 8 letters, of 2.5e10 that there are."""
    return "".join(secrets.choice(LETTERS) for _ in range(USER_CODE_CHARS))


def show_user_code(code: str) -> str:
    """Return a code as people read it: ABCD-EFGH."""
    return f"{code[:4]}-{code[4:]}"


def read_user_code(typed: str) -> str | None:
    """Return the code that a person typed, in whatever case and with whatever between the letters; None for no code."""
    letters = "".join(one for one in typed.upper() if one.isalnum())
    is_code = len(letters) == USER_CODE_CHARS and set(letters) <= set(LETTERS)
    return letters if is_code else None


def digest_of(kind: str, code: str) -> str:
    """Return what is kept of a code or an address: HMAC-SHA256 with a key made of the hub's secret. kind: of it."""
    return salted_hmac(f"{_SALT}.{kind}", code, algorithm="sha256").hexdigest()
