"""A front before a hub that adds a key to each request, for programs that cannot send one.

Run as `python -m tests.mcp_front PORT URL KEY`.
"""

import http.client
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP = {"connection", "transfer-encoding", "keep-alive", "date", "server"}


class Front(ThreadingHTTPServer):
    """Passes requests on to a hub, with a key."""

    daemon_threads = True

    def __init__(self, port: int, url: str, key: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.hub, self.key = urlsplit(url), key


class Handler(BaseHTTPRequestHandler):
    """One request: passed on as it is, but for the key."""

    protocol_version = "HTTP/1.1"
    server: Front

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.server.hub.netloc, timeout=30)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP:
                connection.putheader(name, value)
        connection.putheader("Authorization", f"Bearer {self.server.key}")
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP | {"content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        connection.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = pass_on  # noqa: N815

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    Front(int(sys.argv[1]), sys.argv[2], sys.argv[3]).serve_forever()
