"""Servers of a mail address and of a webhook, which keep what they are sent."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Webhook(BaseHTTPRequestHandler):
    """Keeps the bodies it is sent, and answers with the status of its server."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class MailServer(socketserver.StreamRequestHandler):
    """Takes mail of anybody."""

    def handle(self) -> None:
        def say(text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        say("220 here")
        while line := self.rfile.readline().decode().strip():
            if line.upper() == "DATA":
                say("354 go on")
                lines = []
                while (part := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                    lines.append(part)
                self.server.bodies.append("\n".join(lines))  # type: ignore[attr-defined]
            say("221 bye" if line.upper() == "QUIT" else "250 ok")


@contextmanager
def served(server: Any, status: int = 200) -> Iterator[Any]:
    """Run a server in a thread."""
    server.bodies, server.status = [], status
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def webhook() -> Any:
    """Return a server of webhooks."""
    return HTTPServer(("127.0.0.1", 0), Webhook)


def mail_server() -> Any:
    """Return a mail server."""
    return socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailServer)
