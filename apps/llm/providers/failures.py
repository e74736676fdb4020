"""Errors of the SDKs, and of the HTTP client below them, as ChatErrors.

The SDKs' errors hold the request with its key, and servers quote what they received. So nothing of an error is kept
but its meaning.
"""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import httpx2

from apps.core.domain.clock import Clock
from apps.llm.domain.chat import (
    ChatAuthError,
    ChatBadRequestError,
    ChatBadResponseError,
    ChatConnectionError,
    ChatCutOffError,
    ChatError,
    ChatOverloadedError,
    ChatRateLimitedError,
    ChatTimeoutError,
    TimeoutPhase,
    Usage,
)
from apps.llm.domain.retry import parse_retry_after
from apps.llm.providers.answers import AnswerBuilder
from apps.llm.providers.endpoint import Endpoint

NO_CREDIT = frozenset({"insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached"})
STATUS_OF_TYPE: Mapping[str, int] = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "invalid_request_error": 400,
    "BadRequestError": 400,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error inside a stream would have been as an HTTP status."""
_PASSING = frozenset({408, 409, 425})
_MILLISECONDS = re.compile(r"[0-9]{1,9}")
_ERROR_STATUS = re.compile(r"[45][0-9]{2}")
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)

UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What the SDKs raise for an answer that is none, depending on how far they got with it."""


class ErrorTranslator:
    """Translates the errors of calls to one endpoint. sdk: the SDK's module; all SDKs name their errors alike."""

    def __init__(self, endpoint: Endpoint, sdk: ModuleType, base: type[Exception], clock: Clock) -> None:
        self._endpoint = endpoint
        self._who = f"The chat provider {endpoint.name}"
        self._sdk: Any = sdk
        self._clock = clock
        self.raised = (base, httpx2.HTTPError, httpx2.StreamError, OSError, *UNREADABLE)
        """Everything that a call through the SDK may raise."""

    def translate(self, error: Exception, *, has_begun: bool, is_late: bool, used: Usage) -> ChatError:
        """Return the ChatError for what a call raised.

        has_begun: whether a part of the answer had come. is_late: whether the call had to be over by then. used: what
        it probably cost if the provider had begun to work on it.
        """
        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            return self._of_answer(error.status_code, error.body, error.response.headers, used if has_begun else None)
        is_of_network = isinstance(error, sdk.APIConnectionError)
        cause = error.__cause__ or error if is_of_network else error
        if is_late:
            # At the deadline the connection is shut down, which may look like any other failure.
            return self._too_late(None if isinstance(cause, _NEVER_SENT) else used)
        if is_of_network or isinstance(error, httpx2.HTTPError | httpx2.StreamError | OSError):
            return self._of_network(cause, has_begun, used)
        if isinstance(error, sdk.APIError) and not isinstance(error, sdk.APIResponseValidationError):
            return self._of_answer(200, error.body, {}, used if has_begun else None)
        if isinstance(error, UnicodeEncodeError):
            return ChatBadRequestError("The conversation contains a lone surrogate, which cannot be encoded.")
        return self._unreadable(used)

    def translate_stream(self, error: Exception | None, answer: AnswerBuilder, *, is_late: bool) -> ChatError:
        """Return the ChatError for a stream without an end, which `error` broke off if there was one."""
        if error is not None:
            return self.translate(error, has_begun=answer.has_begun, is_late=is_late, used=answer.usage)
        if is_late:
            return self._too_late(answer.usage)
        return self._cut_off(answer.usage) if answer.has_begun else self._unreadable(answer.usage)

    def _too_late(self, used: Usage | None) -> ChatTimeoutError:
        text = f"{self._who} took longer than the call may take in all."
        return ChatTimeoutError(text, phase=TimeoutPhase.TOTAL, usage=used)

    def _unreadable(self, used: Usage) -> ChatBadResponseError:
        return ChatBadResponseError(f"{self._who} sent an answer that cannot be read.", usage=used)

    def _cut_off(self, used: Usage) -> ChatCutOffError:
        return ChatCutOffError(f"The answer of {self._endpoint.name} ended before its end.", usage=used)

    def _of_network(self, error: BaseException, has_begun: bool, used: Usage) -> ChatError:
        never_sent = isinstance(error, _NEVER_SENT)
        usage = None if never_sent else used
        if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
            return ChatTimeoutError(
                f"{self._who} could not be reached in time.", phase=TimeoutPhase.CONNECT, usage=usage
            )
        if isinstance(error, httpx2.TimeoutException):
            return ChatTimeoutError(f"{self._who} sent nothing for too long.", phase=TimeoutPhase.IDLE, usage=usage)
        if isinstance(error, httpx2.DecodingError):
            return self._unreadable(used)
        if has_begun:
            return self._cut_off(used)
        happened = "cannot be reached" if never_sent else "hung up before it had answered"
        return ChatConnectionError(f"{self._who} {happened}.", usage=usage)

    def _of_answer(self, status: int, body: object, headers: Mapping[str, str], used: Usage | None) -> ChatError:
        """Return the error that the server itself reported, by HTTP status or inside a stream."""
        types = _error_types(body)
        settings = self._endpoint.settings
        if 200 <= status < 300:
            # An error inside a stream, into which some servers put an HTTP status.
            code = str(body.get("code")) if isinstance(body, Mapping) else ""
            found = int(code) if _ERROR_STATUS.fullmatch(code) else 500
            status = next((STATUS_OF_TYPE[name] for name in types if name in STATUS_OF_TYPE), found)
        if status in {401, 402, 403} or NO_CREDIT.intersection(types):
            return ChatAuthError(
                f"{self._who} refused the key, or its account has no credit left ({status}): "
                f"check {settings}_API_KEY and the account.",
                status=status,
                usage=used,
            )
        if status == 429 or status in _PASSING or status >= 500:
            busy = ChatRateLimitedError if status == 429 else ChatOverloadedError
            # OpenAI and Azure send it in milliseconds as well, which is more exact.
            exact, now = headers.get("retry-after-ms", "").strip(), self._clock.now()
            wait = int(exact) if _MILLISECONDS.fullmatch(exact) else parse_retry_after(headers.get("retry-after"), now)
            return busy(f"{self._who} answered {status}.", status=status, retry_after_ms=wait, usage=used)
        refusal = f"{self._who} refused the request ({status})."
        if status == 404 or status < 400:
            refusal = (
                f"{self._who} has no such address or model ({status}): check {settings}_BASE_URL and {settings}_MODEL."
            )
        return ChatBadRequestError(refusal, status=status, usage=used)


def _error_types(body: object) -> list[str]:
    """Return the words by which the server calls its error, the more exact one first.

    OpenAI has them beside the message, Anthropic a level below.
    """
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return []
    return [value for value in (inner.get("code"), inner.get("type")) if isinstance(value, str)]
