"""What can go wrong with a call, one exception for each way to react."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class MemoryHubError(Exception):
    """A call did not do what it should. `str` is the hub's own sentence."""


class Unreachable(MemoryHubError):  # noqa: N818 - named after what happened, like the others
    """The hub did not answer in time, or not at all. What was sent may have been done."""


class Refused(MemoryHubError):  # noqa: N818
    """The hub refused the call.

    status: of HTTP. code: a stable word for programs. attr: the field at fault, if one is. errors: all that the hub
    said. request_id: finds the request in the hub's log. current: what has taken the place of what the call named.
    """

    def __init__(self, status: int, body: Mapping[str, Any], request_id: str | None = None) -> None:
        self.status, self.request_id = status, request_id
        self.errors: list[dict[str, Any]] = [one for one in body.get("errors") or () if isinstance(one, dict)]
        first = self.errors[0] if self.errors else {}
        self.code: str = str(first.get("code") or "error")
        self.attr: str | None = first.get("attr")
        self.current: str | None = first.get("current")
        said = [f"{one['attr']}: {one['detail']}" if one.get("attr") else str(one["detail"]) for one in self.errors]
        super().__init__(" ".join(said) or f"The hub answered {status}.")


class InvalidRequest(Refused):
    """Something in the call is wrong; `attr` names it (400, 413, 422)."""


class NotAuthenticated(Refused):
    """The key is missing, wrong, revoked or expired (401)."""


class NotPermitted(Refused):
    """The key may not do this, or not for this scope (403)."""


class NotFound(Refused):
    """It does not exist, or the key cannot see it (404)."""


class Conflict(Refused):
    """The present state does not allow it: `code` says why (409, 412)."""


class TryLater(Refused):
    """The hub is busy or not ready; nothing was written (429, 503). retry_after: in seconds, if the hub said."""

    retry_after: float | None = None


class HubFault(Refused):
    """A fault of the hub; its log has the cause under `request_id` (500)."""


KINDS: dict[int, type[Refused]] = {
    400: InvalidRequest,
    401: NotAuthenticated,
    403: NotPermitted,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: TryLater,
    503: TryLater,
}


def refusal(status: int, body: Any, headers: Mapping[str, str]) -> Refused:
    """Return the exception for an answer that is no success."""
    kind = KINDS.get(status, HubFault if status >= 500 else Refused)
    error = kind(status, body if isinstance(body, dict) else {}, headers.get("x-request-id"))
    if isinstance(error, TryLater):
        error.retry_after = seconds(headers.get("retry-after"))
    return error


def seconds(text: str | None) -> float | None:
    """Return what `Retry-After` says, None where it says no number of seconds."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
