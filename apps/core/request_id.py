"""The id of the request that is being answered: in its answer, and in every line of the log that it causes."""

import logging
import re
import uuid
from collections.abc import Iterable
from contextvars import ContextVar

HEADER = "X-Request-ID"
NO_REQUEST = "-"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._:+/=-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


def current_request_id() -> str:
    """Return the id of the current request, `-` outside of any."""
    return _current.get()


def begin_request(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Choose the id of a request that begins here, in this context, and return it.

    The client's own is used when there is exactly one of 1 to 64 letters, digits and ._:+/=-, else a new one.
    """
    given = [value for name, value in headers if name.lower() == b"x-request-id"]
    is_usable = len(given) == 1 and _WELL_FORMED.fullmatch(given[0])
    chosen = given[0].decode() if is_usable else uuid.uuid4().hex
    _current.set(chosen)
    return chosen


class RequestIdFilter(logging.Filter):
    """Adds `request_id` to every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = current_request_id()
        return True
