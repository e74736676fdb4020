"""From which pages a socket may be opened: browsers send cookies with sockets of other sites, and no CSRF token."""

from collections.abc import Sequence
from urllib.parse import urlsplit


def is_own_origin(origin: str, host: str, *, is_secure: bool, trusted: Sequence[str]) -> bool:
    """Return whether an Origin header names the hub, as Django's CSRF protection judges it.

    host: of the request, with its port. trusted: CSRF_TRUSTED_ORIGINS, in which `https://*.example.org` is every host
    below example.org.
    """
    if not origin or not host:
        return False
    if origin == f"{'https' if is_secure else 'http'}://{host}" or origin in trusted:
        return True
    try:
        parsed = urlsplit(origin)
    except ValueError:
        return False
    return any(
        parsed.scheme == scheme and parsed.netloc.endswith(pattern.lstrip("*"))
        for scheme, _, pattern in (one.partition("://") for one in trusted)
        if pattern.startswith("*.")
    )
