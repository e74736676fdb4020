"""A reranker behind an address (docs/decisions/0089)."""

import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from apps.core.http_calls import ClientPool
from apps.core.per_process import PerProcess
from apps.llm.domain.chat import ErrorKind
from apps.llm.domain.rerank import RerankError, RerankFormat, make_request, read_scores, status_error

# Of an answer: fifty scores are 5 KB, but some servers send the texts back.
MAX_ANSWER_BYTES = 2_000_000
UNNAMED = "default"


class Reranker:
    """Asks one server once for each question, and hangs up at the deadline.

    url: the whole address that is posted to. model: empty where the server has only one. name: as breakers, records and
    prices call it. rests_until: before which moment nothing is asked, in milliseconds since the epoch.
    timeout_seconds: of a question, with the connection. max_chars: so much of each text is sent.
    """

    def __init__(
        self,
        *,
        url: str,
        api_key: str | None,
        model: str = "",
        format_: RerankFormat = RerankFormat.DOCUMENTS,
        timeout_seconds: float = 1.0,
        max_chars: int = 1_000,
    ) -> None:
        self.name = f"rerank@{urlsplit(url).netloc}"
        self.model = model or UNNAMED
        self.timeout_seconds = timeout_seconds
        self.max_chars = max_chars
        self.rests_until = 0
        self._url = url
        self._sent_model = model
        self._format = format_
        # Compressed, a small answer may be a huge one.
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._pool = ClientPool(lambda http: http)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers a question, in the order of the texts. Raises RerankError."""
        deadline = time.monotonic() + self.timeout_seconds
        kind = ErrorKind.CONNECTION
        with self._pool.borrow(deadline) as (http, _):
            try:
                return read_scores(
                    self.post(http, make_request(self._format, self._sent_model, question, texts)), len(texts)
                )
            except httpx2.TimeoutException:
                kind = ErrorKind.TIMEOUT
            except (httpx2.HTTPError, httpx2.StreamError, OSError):
                # At the deadline the connection is shut down, which may look like any other failure.
                if time.monotonic() >= deadline:
                    kind = ErrorKind.TIMEOUT
        # Outside of `except`, so that the error does not hang on the client's, which holds the key.
        raise RerankError(kind)

    def post(self, http: httpx2.Client, body: bytes) -> bytes:
        """Return the body of the answer. Raises RerankError for a status or a length that no order has."""
        request = http.stream("POST", self._url, content=body, headers=self._headers, timeout=self.timeout_seconds)
        with request as response:
            refused = status_error(response.status_code)
            if refused is not None:
                raise refused
            content = b""
            for part in response.iter_raw():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    raise RerankError(ErrorKind.BAD_RESPONSE)
            return content

    def close(self) -> None:
        """Close the idle connections of this process; the next question opens new ones."""
        self._pool.close()


def configured_reranker() -> Reranker | None:
    """Return the reranker of the settings, the same for the whole life of a process; None where there is none."""
    return _reranker.get()


def reset_reranker() -> None:
    """Forget the reranker, so that the next use reads the settings again (for tests)."""
    _reranker.forget()


def _build_configured() -> Reranker | None:
    config = settings.MEMORYHUB.rerank
    if config is None:
        return None
    return Reranker(
        url=config.url,
        api_key=config.api_key,
        model=config.model,
        format_=RerankFormat(config.format),
        timeout_seconds=config.timeout_seconds,
        max_chars=config.max_chars,
    )


_reranker = PerProcess(_build_configured)
