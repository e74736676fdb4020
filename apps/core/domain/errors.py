"""Errors for callers, with one root; `schemas.errors` has the HTTP status of each (DESIGN D12)."""


class MemoryHubError(Exception):
    """Something that the caller asked for cannot be done.

    code: a stable word for programs. attr: the input field at fault, where there is one.
    """

    code = "error"

    def __init__(self, detail: str, *, attr: str | None = None, code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.attr = attr
        self.code = code or self.code


class NotFoundError(MemoryHubError):
    """It does not exist, or the caller may not know that it does."""

    code = "not_found"


class ForbiddenError(MemoryHubError):
    """The caller's key does not allow this."""

    code = "permission_denied"


class InvalidInputError(MemoryHubError):
    """The input cannot be used; `attr` names the field."""

    code = "invalid"


class ContradictionError(MemoryHubError):
    """Each part of the input could be used, but not together; `attr` names one of them."""

    code = "contradiction"


class ConflictError(MemoryHubError):
    """The current state does not allow this.

    current: the id of what has taken the place of what was named, where the caller may know it.
    """

    code = "conflict"

    def __init__(
        self, detail: str, *, attr: str | None = None, code: str | None = None, current: str | None = None
    ) -> None:
        super().__init__(detail, attr=attr, code=code)
        self.current = current


class StaleVersionError(MemoryHubError):
    """It has another version than the one that the caller has read."""

    code = "stale_version"


class UnavailableError(MemoryHubError):
    """Not now: try again after `retry_after` seconds."""

    code = "unavailable"

    def __init__(self, detail: str, *, retry_after: int = 5, code: str | None = None) -> None:
        super().__init__(detail, code=code)
        self.retry_after = retry_after


class ThrottledError(UnavailableError):
    """Too much at once: try again after `retry_after` seconds."""

    code = "throttled"
