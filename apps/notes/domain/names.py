"""Folder names of users: any user id becomes a name that every file system can hold, and no two become the same.

A name has only lower-case letters, digits and hyphens; every other byte of the id is written as `_` and two
hexadecimal digits, so ids that differ in case differ on a disk that does not distinguish it. What would be longer than
MAX_CHARS, or is the name of a device, is marked by two underscores, which no other name has.
"""

import hashlib
import re

MAX_CHARS = 120
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
_ENCODED = re.compile(r"_([0-9a-f]{2})")


def folder_name(user_id: str) -> str:
    """Return the name of a user's folder. Raises ValueError for an empty id, which is no user's."""
    if not user_id:
        raise ValueError("A user id has at least one character.")
    name = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in user_id.encode())
    if len(name) > MAX_CHARS:
        return f"{name[:50]}__{hashlib.sha256(user_id.encode()).hexdigest()[:40]}"
    return f"__{name}" if is_device(name) or name.startswith("-") else name


def user_of(folder: str) -> str | None:
    """Return the user whose folder has a name; None where the name was shortened, or is not one of ours."""
    name = folder.removeprefix("__")
    try:
        user = b"".join(_decode(part) for part in re.split(r"(_[0-9a-f]{2})", name) if part).decode()
    except UnicodeError:
        return None
    return user if user and folder_name(user) == folder else None


def is_device(name: str) -> bool:
    """Return whether Windows keeps a name for a device, with any extension."""
    return bool(_DEVICES.fullmatch(name.split(".", 1)[0].rstrip(" ")))


def _decode(part: str) -> bytes:
    found = _ENCODED.fullmatch(part)
    return bytes([int(found[1], 16)]) if found else part.encode("ascii")
