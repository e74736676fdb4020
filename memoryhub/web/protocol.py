"""HTTP/1.1 as the hub speaks it."""

import sys

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

# Request line and headers together; more than that is no request of a client of the hub.
MAX_HEAD_BYTES = 64 * 1024
FRAMING = {b"content-length", b"transfer-encoding"}


class HubProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with three differences.

    Trailers are dropped. The parser reports those of a chunked body like headers, and uvicorn would add them to those:
    an `Authorization` there would count, past any proxy that looks at headers. A server may drop them (RFC 9110
    section 6.5.1). The head of a request is bounded. And a request that asks for an upgrade to anything but WebSocket
    is answered as if it did not (RFC 9110 section 7.8): the parser would take its body for the next request.
    """

    _data = b""
    _is_in_head = False
    _is_replaying = False
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read more of a request. Answers 431 when its head is too long."""
        self._data = data
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.transport.write(STATUS_LINE[431] + b"connection: close\r\ncontent-length: 0\r\n\r\n")
                self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        if not self._is_replaying:
            self._is_in_head, self._head_bytes = True, 0
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Read more of the address."""
        if not self._is_replaying:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; a trailer is dropped."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head of a request."""
        self._is_in_head = False
        if not self._is_replaying:
            super().on_headers_complete()

    def _should_upgrade(self) -> bool:
        return self.scope["method"] == "GET" and super()._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Read the body of the request with a new parser, which knows no more of its head than how long the body is."""
        upgrade = sys.exception()
        assert isinstance(upgrade, httptools.HttpParserUpgrade)
        rest = self._data[upgrade.args[0] :]
        framing = b"".join(name + b": " + value + b"\r\n" for name, value in self.headers if name in FRAMING)
        self.parser = httptools.HttpRequestParser(self)
        self.cycle.more_body = bool(framing)
        self._is_replaying = True
        self.parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")
        self._is_replaying = False
        if rest:
            self.data_received(rest)
