"""What an app says of itself: where it may be sent back to, and how it is called."""

import unicodedata
from urllib.parse import urlsplit

MAX_REDIRECT_URIS, MAX_URI_CHARS = 10, 500
# Of an app on the person's own machine, where TLS has nothing to protect (RFC 8252, 7.3).
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Besides the web: of programs that take no loopback address.
PRIVATE_SCHEMES = ("cursor",)
SCHEMES = ("https", "http", *PRIVATE_SCHEMES)


def redirect_problem(uri: str) -> str | None:
    """Return what is wrong with an address to which an app wants to be sent back; None where it will do."""
    if len(uri) > MAX_URI_CHARS or not uri.isascii() or not uri.isprintable() or " " in uri:
        return f"A redirect URI has at most {MAX_URI_CHARS} ASCII characters, and no spaces."
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return "A redirect URI must be an absolute address."
    if "#" in uri or "@" in parts.netloc:
        return "A redirect URI has no fragment and names no user."
    if not parts.hostname:
        return "A redirect URI must be an absolute address."
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return "A redirect URI begins with https://, or is on the same machine."
    if parts.scheme not in SCHEMES:
        return f"A redirect URI begins with one of: {', '.join(SCHEMES)}."
    return None


def redirects_problem(uris: object) -> str | None:
    """Return what is wrong with a list of such addresses; None where it will do."""
    if not isinstance(uris, list) or not 0 < len(uris) <= MAX_REDIRECT_URIS:
        return f"redirect_uris must be a list of 1 to {MAX_REDIRECT_URIS} addresses."
    if not all(isinstance(uri, str) for uri in uris):
        return "Each redirect URI must be a text."
    return next((problem for uri in uris if (problem := redirect_problem(uri))), None)


def shown_client_name(said: object, instead: str, most: int) -> str:
    """Return an app's name as people may be shown it, in at most so many characters.

    Without what is invisible or turns the direction of a line. instead: where nothing is left.
    """
    text = said if isinstance(said, str) else ""
    spaced = (" " if one.isspace() else one for one in text)
    visible = "".join(one for one in spaced if unicodedata.category(one)[0] != "C")
    return " ".join(visible.split())[:most].strip() or instead[:most]


def place_of(uri: str) -> str:
    """Return the host to which an app is sent back, "" for one on the person's own machine."""
    parts = urlsplit(uri)
    return "" if parts.scheme != "https" else (parts.hostname or "")


def form_target(uri: str) -> str:
    """Return the source of a content policy that lets a form lead to an address."""
    parts = urlsplit(uri)
    return f"{parts.scheme}:" if parts.scheme in PRIVATE_SCHEMES else f"{parts.scheme}://{parts.netloc}"
