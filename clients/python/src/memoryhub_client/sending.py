"""What both clients share: settings, what to do after a failure, and how an answer is read."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import httpx2

from memoryhub_client.calls import Call
from memoryhub_client.errors import NotFound, Refused, TryLater, Unreachable, refusal

T = TypeVar("T")
DEFAULT_URL = "http://127.0.0.1:8000"
# Nothing had been sent when these were raised.
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0


@dataclass(frozen=True)
class Settings:
    """Where the hub is, and how patient a client is.

    url, key: default to MEMORYHUB_URL and MEMORYHUB_KEY. timeout: seconds for one try. retries: further tries.
    """

    url: str | None = None
    key: str | None = None
    timeout: float = 10.0
    retries: int = 2
    headers: Mapping[str, str] = field(default_factory=dict)

    def for_httpx(self) -> dict[str, Any]:
        """Return the options of an HTTP client. Redirects are not followed: the key is for this hub alone."""
        key = self.key or os.environ.get("MEMORYHUB_KEY")
        url = self.url or os.environ.get("MEMORYHUB_URL") or DEFAULT_URL
        headers = {"User-Agent": "memoryhub-client/0.1.0", **self.headers}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return {"base_url": url, "headers": headers, "timeout": self.timeout, "follow_redirects": False}


def request_of(call: Call[Any]) -> dict[str, Any]:
    """Return the arguments of a request."""
    options: dict[str, Any] = {"method": call.method, "url": call.path, "headers": dict(call.headers)}
    if call.body is not None:
        options["json"] = call.body
    if call.query:
        options["params"] = dict(call.query)
    return options


def read_answer(call: Call[T], answer: httpx2.Response, *, is_repetition: bool) -> T:
    """Return what the hub answered. Raises Refused."""
    if answer.is_success:
        body = answer.json() if answer.content else None
        return cast("T", body if call.member is None else (body or {})[call.member])
    try:
        body = answer.json()
    except ValueError:
        body = {}
    error = refusal(answer.status_code, body, answer.headers)
    if is_repetition and call.gone_is_done and isinstance(error, NotFound):
        return cast("T", None)
    raise error


def failure(error: httpx2.TransportError) -> Unreachable:
    """Return a transport's error as the package raises it, without the address, which may hold a password."""
    what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "could not be reached"
    return Unreachable(f"The hub {what} ({type(error).__name__}).")


def pause_before(call: Call[Any], error: Exception, tries_left: int, tries_done: int) -> float | None:
    """Return how many seconds to wait before the next try, None where there is none.

    A hub that is busy has written nothing and says when to come back; one that asks for more patience than
    LONGEST_PAUSE is not waited for.
    """
    if tries_left <= 0:
        return None
    pause = FIRST_PAUSE * 2**tries_done * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
    if isinstance(error, TryLater):
        wanted = max(pause, error.retry_after or 0.0)
        return wanted if wanted <= LONGEST_PAUSE else None
    if isinstance(error, Refused):
        # A proxy in front of a hub that is restarting.
        return pause if error.status in {502, 504} and call.repeatable else None
    return pause if call.repeatable or isinstance(error, NEVER_SENT) else None
