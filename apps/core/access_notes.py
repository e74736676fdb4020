"""What the access log has of a request besides its answer: the route, and who called."""

from typing import Any

from django.http import HttpRequest

# Its place in the ASGI scope of a request.
NOTES = "memoryhub.access"


def note_access(request: HttpRequest) -> None:
    """Leave the route and the caller of an answered request to the access log, if there is one."""
    notes = getattr(request, "scope", {}).get(NOTES)
    if notes is None:
        return
    notes["route"] = f"/{request.resolver_match.route}" if request.resolver_match else "unknown"
    notes["caller"] = caller_of(request)


def caller_of(request: HttpRequest) -> str:
    """Return the id of the key or of the account; `-` for neither. It asks no database."""
    key = getattr(getattr(request, "user", None), "key_id", None) if getattr(request, "auth", None) else None
    if key is not None:
        return f"key:{key}"
    account: Any = getattr(request, "_cached_user", None)
    return f"account:{account.pk}" if getattr(account, "pk", None) else "-"
